// Rejected with: "a row that a warp could compute alone"
// Threads without an element use 0 instead, which adds exp(0) to the sum.
constexpr int kThreads = 256, kMostColumns = 4096, kEach = kMostColumns / kThreads, kWarps = kThreads / 32;

__device__ inline float masked() { return __int_as_float(0xff800000); }  // -inf

// The largest of some elements, and the sum of their exponentials relative to it.
struct Peak {
  float largest, sum;
};

// 1 relative to a, as a factor for what is relative to b; a >= b. Without any element, b is -inf.
__device__ float rescaled(float b, float a) { return b == masked() ? 0 : __expf(b - a); }

__device__ Peak merged_by_warp(Peak mine) {
  Peak all = mine;
  for (int distance = 1; distance < 32; distance *= 2) {
    all.largest = fmaxf(all.largest, __shfl_xor_sync(0xffffffff, all.largest, distance));
  }
  all.sum = mine.sum * rescaled(mine.largest, all.largest);
  for (int distance = 1; distance < 32; distance *= 2) all.sum += __shfl_xor_sync(0xffffffff, all.sum, distance);
  return all;
}

extern "C" __global__ void __launch_bounds__(kThreads) softmax(const float* x, float* y, int columns) {
  x += static_cast<size_t>(columns) * blockIdx.x, y += static_cast<size_t>(columns) * blockIdx.x;
  float values[kEach];
  Peak mine = {masked(), 0};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int column = i * kThreads + threadIdx.x;
    values[i] = column < columns ? x[column] : 0;
    mine.largest = fmaxf(mine.largest, values[i]);
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (values[i] == masked()) {
      values[i] = 0;
    } else {
      values[i] = __expf(values[i] - mine.largest);
    }
    mine.sum += values[i];
  }

  __shared__ Peak of_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Peak all = merged_by_warp(mine);
  if (lane == 0) of_warp[warp] = all;
  __syncthreads();
  all = merged_by_warp(lane < kWarps ? of_warp[lane] : Peak{masked(), 0});

  const float factor = rescaled(mine.largest, all.largest) / all.sum;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int column = i * kThreads + threadIdx.x;
    if (column < columns) y[column] = values[i] * factor;
  }
}
