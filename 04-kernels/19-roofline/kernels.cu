// Kernels that read each float once, apply a number of multiply-adds to it, and write it back. They differ only in how
// much arithmetic they do per byte, in their access pattern, or in the number of threads they are launched with.

using u64 = unsigned long long;

// Applies `Steps` dependent multiply-adds to each of four independent values.
template <int Steps>
__device__ float4 multiply_add(float4 v) {
#pragma unroll 64
  for (int step = 0; step < Steps; ++step) {
    v.x = fmaf(v.x, 0.5f, 1.0f);
    v.y = fmaf(v.y, 0.5f, 1.0f);
    v.z = fmaf(v.z, 0.5f, 1.0f);
    v.w = fmaf(v.w, 0.5f, 1.0f);
  }
  return v;
}

// A grid-stride loop over n vectors of four floats. Consecutive threads access consecutive vectors.
template <int Steps>
__device__ void stream(const float4* in, float4* out, u64 n) {
  const u64 threads = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = multiply_add<Steps>(in[i]);
  }
}

extern "C" __global__ void fma_1(const float4* in, float4* out, u64 n) { stream<1>(in, out, n); }
extern "C" __global__ void fma_4(const float4* in, float4* out, u64 n) { stream<4>(in, out, n); }
extern "C" __global__ void fma_16(const float4* in, float4* out, u64 n) { stream<16>(in, out, n); }
extern "C" __global__ void fma_64(const float4* in, float4* out, u64 n) { stream<64>(in, out, n); }
extern "C" __global__ void fma_256(const float4* in, float4* out, u64 n) { stream<256>(in, out, n); }
extern "C" __global__ void fma_1024(const float4* in, float4* out, u64 n) { stream<1024>(in, out, n); }

// The arithmetic of fma_16, but consecutive threads access vectors that are 32 × 16 bytes apart.
extern "C" __global__ void fma_16_strided(const float4* in, float4* out, u64 n) {
  const u64 threads = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    const u64 tile = i / 1024 * 1024, inside = i % 1024;  // n is a multiple of 1024
    const u64 at = tile + inside % 32 * 32 + inside / 32;
    out[at] = multiply_add<16>(in[at]);
  }
}
