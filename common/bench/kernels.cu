// The kernels that the simulator's speed is measured with, as CUDA; kernels.cl has the same for OpenCL.
constexpr int kTile = 16;
constexpr int kBlock = 256;
constexpr int kBins = 256;

extern "C" __global__ void saxpy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.5f * x[i] + y[i];
}

extern "C" __global__ void stencil_2d(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1) return;
  const int i = y * width + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

// One thread for all planes of a column.
extern "C" __global__ void stencil_3d(const float* in, float* out, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= side - 1 || y < 1 || y >= side - 1) return;
  for (int z = 1; z < side - 1; ++z) {
    const int i = (z * side + y) * side + x;
    out[i] = 0.5f * in[i] +
             0.1f * (in[i - 1] + in[i + 1] + in[i - side] + in[i + side] + in[i - side * side] + in[i + side * side]);
  }
}

// One partial sum a block: a grid-stride loop, then a tree in shared memory.
extern "C" __global__ void sum(const float* in, float* partial, int n) {
  __shared__ float part[kBlock];
  const int t = threadIdx.x;
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  part[t] = mine;
  __syncthreads();
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = part[0];
}

// Inclusive, in each block by itself (Hillis and Steele).
extern "C" __global__ void scan_blocks(const float* in, float* out, int n) {
  __shared__ float part[2][kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  int now = 0;
  part[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    part[1 - now][t] = part[now][t] + (t >= step ? part[now][t - step] : 0);
    now = 1 - now;
    __syncthreads();
  }
  if (i < n) out[i] = part[now][t];
}

extern "C" __global__ void bitonic_step(int* values, int stride, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ stride;
  if (other <= i) return;
  const int a = values[i], b = values[other];
  if (((i & size) == 0) == (a > b)) {
    values[i] = b;
    values[other] = a;
  }
}

extern "C" __global__ void histogram(const int* in, int* bins, int n) {
  __shared__ int mine[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

// One thread a row.
extern "C" __global__ void csr_product(const int* begin, const int* column, const float* value, const float* x,
                                       float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}

// c = a * b, all n × n, row by row; one thread an element.
extern "C" __global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    tile_a[y][x] = a[row * n + t + x];
    tile_b[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void matmul_double(const double* a, const double* b, double* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// The formula of Black and Scholes for a call; the normal distribution by Abramowitz and Stegun, 26.2.17.
__device__ float normal(float d) {
  const float k = 1 / (1 + 0.2316419f * fabsf(d));
  const float tail =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}
extern "C" __global__ void option_prices(const float* price, const float* strike, float* call, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float rate = 0.02f, volatility = 0.3f, years = 2;
  const float root = volatility * sqrtf(years);
  const float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years) / root;
  call[i] = price[i] * normal(d1) - strike[i] * expf(-rate * years) * normal(d1 - root);
}

extern "C" __global__ void mandelbrot(int* steps, int side, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float re = 3.0f * x / side - 2.25f, im = 3.0f * y / side - 1.5f;
  float a = 0, b = 0;
  int n = 0;
  while (n < most && a * a + b * b < 4) {
    const float next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
    ++n;
  }
  steps[y * side + x] = n;
}

// The potential of all bodies (x, y, z, mass) at each one's place.
extern "C" __global__ void n_body(const float* bodies, float* potential, int n) {
  __shared__ float tile[4 * kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  const float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
  float sum = 0;
  for (int first = 0; first < n; first += kBlock) {
    for (int part = 0; part < 4; ++part) tile[4 * t + part] = bodies[4 * (first + t) + part];
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) {
      const float dx = tile[4 * k] - x, dy = tile[4 * k + 1] - y, dz = tile[4 * k + 2] - z;
      sum += tile[4 * k + 3] / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    __syncthreads();
  }
  potential[i] = sum;
}

// One warp a row; OpenCL has shared memory instead of shuffles.
extern "C" __global__ void softmax_rows(const float* in, float* out, int width) {
  const float* row = in + blockIdx.x * width;
  float most = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < width; i += 32) most = fmaxf(most, row[i]);
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
  for (int i = threadIdx.x; i < width; i += 32) sum += expf(row[i] - most);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  for (int i = threadIdx.x; i < width; i += 32) out[blockIdx.x * width + i] = expf(row[i] - most) / sum;
}

extern "C" __global__ void transpose(const float* in, float* out, int side) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int row = y; row < 32; row += 8) tile[row][x] = in[(top + row) * side + left + x];
  __syncthreads();
  for (int row = y; row < 32; row += 8) out[(left + row) * side + top + x] = tile[x][row];
}

extern "C" __global__ void small_launches(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}
