// The kernels of lesson 04-20 as they were when an H200 counted them: six ways to add n elements into *sum, which is 0
// before. Blocks have 256 threads.

constexpr int kThreads = 256;

// 1: each thread adds its element to the sum.
extern "C" __global__ void atomics(const unsigned* in, unsigned* sum, unsigned long long n) {
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) atomicAdd(sum, in[i]);
}

// 2: a block adds its own elements first, as a tree in shared memory. Active threads are spread over all warps.
extern "C" __global__ void spread(const unsigned* in, unsigned* sum, unsigned long long n) {
  __shared__ unsigned numbers[kThreads];
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * kThreads + threadIdx.x;
  numbers[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned distance = 1; distance < kThreads; distance *= 2) {
    if (threadIdx.x % (2 * distance) == 0) numbers[threadIdx.x] += numbers[threadIdx.x + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, numbers[0]);
}

// 3: the upper half is added to the lower half, so active threads are contiguous.
extern "C" __global__ void halves(const unsigned* in, unsigned* sum, unsigned long long n) {
  __shared__ unsigned numbers[kThreads];
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * kThreads + threadIdx.x;
  numbers[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) numbers[threadIdx.x] += numbers[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, numbers[0]);
}

// Returns the sum over the block in thread 0: shuffles in each warp, then in the first warp.
__device__ unsigned sum_of_block(unsigned number) {
  __shared__ unsigned of_warp[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) number += __shfl_down_sync(0xffffffff, number, distance);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = number;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  number = threadIdx.x < kThreads / 32 ? of_warp[threadIdx.x] : 0;
  for (int distance = 16; distance > 0; distance /= 2) number += __shfl_down_sync(0xffffffff, number, distance);
  return number;
}

// 4: shuffles replace shared memory.
extern "C" __global__ void shuffles(const unsigned* in, unsigned* sum, unsigned long long n) {
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * kThreads + threadIdx.x;
  const unsigned number = sum_of_block(i < n ? in[i] : 0);
  if (threadIdx.x == 0) atomicAdd(sum, number);
}

// 5: as many blocks as fit, and each thread adds many elements.
extern "C" __global__ void many(const unsigned* in, unsigned* sum, unsigned long long n) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * kThreads;
  unsigned number = 0;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * kThreads + threadIdx.x; i < n;
       i += threads) {
    number += in[i];
  }
  number = sum_of_block(number);
  if (threadIdx.x == 0) atomicAdd(sum, number);
}

// 6: 128-bit loads, four of them in flight. n is a multiple of 4.
extern "C" __global__ void vectors(const unsigned* in, unsigned* sum, unsigned long long n) {
  constexpr int kAtOnce = 4;
  const uint4* fours = reinterpret_cast<const uint4*>(in);
  const unsigned long long count = n / 4, step = static_cast<unsigned long long>(gridDim.x) * kThreads * kAtOnce;
  unsigned number = 0;
  for (unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * kThreads * kAtOnce + threadIdx.x;
       first < count; first += step) {
    uint4 loaded[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const unsigned long long i = first + k * kThreads;
      loaded[k] = i < count ? fours[i] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) number += loaded[k].x + loaded[k].y + loaded[k].z + loaded[k].w;
  }
  number = sum_of_block(number);
  if (threadIdx.x == 0) atomicAdd(sum, number);
}
