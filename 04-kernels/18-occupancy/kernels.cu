// A kernel that counts the resident blocks of each multiprocessor, and a copy that needs many resident blocks to be
// fast.

#include "probe.hpp"

using u64 = unsigned long long;

__device__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Each multiprocessor has a counter of its resident blocks and a record of the highest count.
extern "C" __global__ void count_residents(int* now, int* most) {
  if (threadIdx.x != 0) return;
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  const int here = atomicAdd(&now[multiprocessor], 1) + 1;
  atomicMax(&most[multiprocessor], here);
  const u64 start = nanoseconds();
  while (nanoseconds() - start < 100000) {  // stay resident for 0.1 ms, so that other blocks can start
  }
  atomicSub(&now[multiprocessor], 1);
}

// Each thread has a single load in flight at any time; only other threads can use the waiting time.
extern "C" __global__ void copy(const float* in, float* out, u64 n) {
  const u64 threads = u64(gridDim.x) * blockDim.x;
#pragma unroll 1  // otherwise, the compiler issues four loads at a time
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}

// A control run: one thread follows a chain of `steps` loads, each of which needs the result of the one before it. All
// blocks but the first load vectors until it has finished, one per thread at a time.
extern "C" __global__ void probe(const unsigned* chain, int steps, const uint4* in, u64 n, Probe* result) {
  volatile Probe::State* const state = &result->state;
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    unsigned at = 0;
    for (int i = 0; i < steps / 10; ++i) at = __ldcg(&chain[at]);  // meanwhile, the other blocks start
    *state = Probe::kRunning;
    const u64 start = nanoseconds() + (at & 1);  // `at` is even: the clock is read when the load has arrived
    for (int i = 0; i < steps; ++i) at = __ldcg(&chain[at]);
    result->nanoseconds = nanoseconds() + (at & 1) - start;
    *state = Probe::kFinished;
    return;
  }
  const u64 threads = u64(gridDim.x - 1) * blockDim.x;
  unsigned sum = 0;
  u64 loaded = 0, i = u64(blockIdx.x - 1) * blockDim.x + threadIdx.x;
  for (Probe::State now = *state; now != Probe::kFinished; now = *state) {
#pragma unroll 1  // otherwise, the compiler issues several loads at a time
    for (int k = 0; k < 16; ++k) {
      const uint4 v = __ldcg(&in[i % n]);
      sum += v.x + v.y + v.z + v.w;
      i += threads;
    }
    if (now == Probe::kRunning) loaded += 16 * sizeof(uint4);
  }
  if (sum == 1) loaded = 0;  // all elements are 0, but the compiler cannot know
  for (int distance = 16; distance > 0; distance /= 2) loaded += __shfl_down_sync(0xffffffff, loaded, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(&result->bytes, loaded);
}
