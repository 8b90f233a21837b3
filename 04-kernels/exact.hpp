// Kernels that fill matrices of floats, compute an exact product, and compare all elements of a result with it.
#pragma once

namespace exact {
constexpr int kTile = 32;  // elements on a side of the tile of the kernel `reference`

// Returns 32 bits that depend on the seed and the position alone.
__device__ inline unsigned hash(unsigned seed, unsigned position) {
  unsigned bits = position ^ seed * 0x9e3779b9u;
  bits = (bits ^ bits >> 16) * 0x7feb352du;
  bits = (bits ^ bits >> 15) * 0x846ca68bu;
  return bits ^ bits >> 16;
}

}  // namespace exact

// Random integers from -8 to 8.
extern "C" __global__ void fill_with_integers(float* out, unsigned count, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = static_cast<float>(static_cast<int>(exact::hash(seed, i) % 17) - 8);
}

// Normally distributed numbers (Box-Muller transform).
extern "C" __global__ void fill_with_normals(float* out, unsigned count, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float u =
      (static_cast<float>(exact::hash(seed, i) >> 8) + 0.5f) / 16777216;  // between 0 and 1, neither included
  const float v = static_cast<float>(exact::hash(seed + 1, i) >> 8) / 16777216;
  out[i] = sqrtf(-2 * logf(u)) * cospif(2 * v);
}

// Computes each element in double precision, and the sum of the absolute values of its products.
extern "C" __global__ void __launch_bounds__(exact::kTile* exact::kTile)
    reference(const float* __restrict__ a, const float* __restrict__ b, double* __restrict__ c,
              double* __restrict__ magnitude, int n) {
  __shared__ float tile_a[exact::kTile][exact::kTile], tile_b[exact::kTile][exact::kTile];
  const int y = threadIdx.x / exact::kTile, row = blockIdx.y * exact::kTile + y;
  const int x = threadIdx.x % exact::kTile, column = blockIdx.x * exact::kTile + x;
  double sum = 0, absolute = 0;
  for (int first = 0; first < n; first += exact::kTile) {
    tile_a[y][x] = a[row * n + first + x];
    tile_b[y][x] = b[(first + y) * n + column];
    __syncthreads();
    for (int k = 0; k < exact::kTile; ++k) {
      const double product = static_cast<double>(tile_a[y][k]) * tile_b[k][x];  // exact
      sum += product;
      absolute += fabs(product);
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
  magnitude[row * n + column] = absolute;
}

// Adds to *wrong the number of elements that differ from the exact ones by more than `tolerance` times the magnitude.
extern "C" __global__ void count_wrong(const float* c, const double* expected, const double* magnitude,
                                       double tolerance, unsigned count, unsigned* wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && !(fabs(c[i] - expected[i]) <= tolerance * magnitude[i])) atomicAdd(wrong, 1);
}
