// Six kernels that add n elements into *sum, which is 0 before. Each kernel changes one thing in the previous one.
// The elements are unsigned, so every order of additions gives the same sum; the last kernel also exists for floats.
#include "shape.hpp"

using u64 = unsigned long long;

__device__ u64 global_index() { return u64(blockIdx.x) * kThreads + threadIdx.x; }

// A block's sum: adds it to the sum of all blocks or, in a control run, stores it as the block's own.
template <bool Store>
__device__ void deliver(unsigned value, unsigned* out) {
  if (Store) {
    out[blockIdx.x] = value;
  } else {
    atomicAdd(out, value);
  }
}

// Rung 1: every thread adds its element to the sum.
extern "C" __global__ void atomic(const unsigned* __restrict__ in, unsigned* sum, u64 n) {
  const u64 i = global_index();
  if (i < n) atomicAdd(sum, in[i]);
}

// Rung 2: the block first adds its 256 elements in shared memory, as a tree. In each step, every second active thread
// adds its neighbor's value. Active threads are spread over all warps. Two control runs leave something out: with
// Store, a block stores its sum instead of adding it atomically, and without Barriers, threads do not wait for each
// other.
template <bool Store, bool Barriers>
__device__ void sum_interleaved(const unsigned* __restrict__ in, unsigned* out, u64 n) {
  __shared__ volatile unsigned values[kThreads];
  const u64 i = global_index();
  values[threadIdx.x] = i < n ? in[i] : 0;
  if (Barriers) __syncthreads();
  for (unsigned stride = 1; stride < kThreads; stride *= 2) {
    if (threadIdx.x % (2 * stride) == 0) values[threadIdx.x] += values[threadIdx.x + stride];
    if (Barriers) __syncthreads();
  }
  if (threadIdx.x == 0) deliver<Store>(values[0], out);
}
extern "C" __global__ void interleaved(const unsigned* in, unsigned* sum, u64 n) {
  sum_interleaved<false, true>(in, sum, n);
}
extern "C" __global__ void interleaved_store(const unsigned* in, unsigned* sums, u64 n) {
  sum_interleaved<true, true>(in, sums, n);
}
extern "C" __global__ void interleaved_free(const unsigned* in, unsigned* sums, u64 n) {
  sum_interleaved<true, false>(in, sums, n);
}

// Returns the sum over the block in thread 0: shuffles within each warp, then one step through shared memory.
template <class T>
__device__ T block_sum(T value) {
  __shared__ T of_warp[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  value = threadIdx.x < kThreads / 32 ? of_warp[threadIdx.x] : 0;
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
  return value;
}

// Rung 3: shuffles replace shared memory, and one barrier replaces nine.
template <bool Store>
__device__ void sum_shuffle(const unsigned* __restrict__ in, unsigned* out, u64 n) {
  const u64 i = global_index();
  const unsigned value = block_sum(i < n ? in[i] : 0);
  if (threadIdx.x == 0) deliver<Store>(value, out);
}
extern "C" __global__ void shuffle(const unsigned* in, unsigned* sum, u64 n) { sum_shuffle<false>(in, sum, n); }
extern "C" __global__ void shuffle_store(const unsigned* in, unsigned* sums, u64 n) { sum_shuffle<true>(in, sums, n); }

// Rung 4: as many blocks as fit on the device, and each thread adds many elements before the block combines anything.
extern "C" __global__ void grid_stride(const unsigned* __restrict__ in, unsigned* sum, u64 n) {
  const u64 threads = u64(gridDim.x) * kThreads;
  unsigned value = 0;
#pragma unroll 1  // otherwise, the compiler issues several loads at a time, which is the idea of the next rung
  for (u64 i = global_index(); i < n; i += threads) value += in[i];
  value = block_sum(value);
  if (threadIdx.x == 0) atomicAdd(sum, value);
}

template <class T>
struct Vector;
template <>
struct Vector<unsigned> {
  using type = uint4;
};
template <>
struct Vector<float> {
  using type = float4;
};

constexpr int kLoads = 4;  // independent 128-bit loads per thread and iteration

// Returns the thread's share of the sum. n is a multiple of 4.
template <class T>
__device__ T vectorized_sum(const T* __restrict__ in, u64 n) {
  using V = typename Vector<T>::type;
  const V* vectors = reinterpret_cast<const V*>(in);
  const u64 count = n / 4, step = u64(gridDim.x) * kThreads * kLoads;
  T sum = 0;
  u64 first = u64(blockIdx.x) * kThreads * kLoads + threadIdx.x;
  for (; first + (kLoads - 1) * kThreads < count; first += step) {
    V loaded[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) loaded[k] = vectors[first + k * kThreads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += (loaded[k].x + loaded[k].y) + (loaded[k].z + loaded[k].w);
  }
  for (; first < count; first += kThreads)
    sum += (vectors[first].x + vectors[first].y) + (vectors[first].z + vectors[first].w);
  return sum;
}

// Rung 5: four 128-bit loads are in flight before the first is needed.
extern "C" __global__ void vectorized(const unsigned* __restrict__ in, unsigned* sum, u64 n) {
  const unsigned value = block_sum(vectorized_sum(in, n));
  if (threadIdx.x == 0) atomicAdd(sum, value);
}

// Rung 6: each block stores its partial sum, and the last block to finish adds them in a fixed order. So the result is
// the same in every run, for floats too. `partial` has gridDim.x elements, and *finished is 0 before and after.
template <class T>
__device__ void sum_last_block(const T* __restrict__ in, T* sum, u64 n, T* partial, unsigned* finished) {
  __shared__ bool last;
  const T value = block_sum(vectorized_sum(in, n));
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = value;
    __threadfence();  // the partial sum is visible before the counter changes
    last = atomicAdd(finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();  // the counter is read before the partial sums
  T rest = 0;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) rest += __ldcg(&partial[block]);
  const T all = block_sum(rest);
  if (threadIdx.x != 0) return;
  *sum = all;
  *finished = 0;
}
extern "C" __global__ void last_block(const unsigned* in, unsigned* sum, u64 n, unsigned* partial, unsigned* finished) {
  sum_last_block(in, sum, n, partial, finished);
}
extern "C" __global__ void last_block_float(const float* in, float* sum, u64 n, float* partial, unsigned* finished) {
  sum_last_block(in, sum, n, partial, finished);
}

// ---- Control runs ---------------------------------------------------------------------------------------------------

// The tree of `interleaved` with contiguous active threads, so whole warps have nothing to add.
extern "C" __global__ void sequential(const unsigned* __restrict__ in, unsigned* sum, u64 n) {
  __shared__ unsigned values[kThreads];
  const u64 i = global_index();
  values[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) deliver<false>(values[0], sum);
}

// Each thread loads an element and waits at nine barriers. The store never happens, but the compiler cannot know.
extern "C" __global__ void barriers_only(const unsigned* in, unsigned* sum, u64 n) {
  const u64 i = global_index();
  const unsigned value = i < n ? in[i] : 0;
  for (int barrier = 0; barrier < 9; ++barrier) __syncthreads();
  if (value == 0xffffffff) *sum = 1;
}

// Each thread only loads an element.
extern "C" __global__ void load_only(const unsigned* in, unsigned* sum, u64 n) {
  const u64 i = global_index();
  if (i < n && in[i] == 0xffffffff) *sum = 1;
}
