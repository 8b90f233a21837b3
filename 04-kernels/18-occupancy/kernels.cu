// A kernel that counts the resident blocks of each multiprocessor, and a copy that needs many resident blocks to be
// fast.

// Each multiprocessor has a counter of its resident blocks and a record of the highest count.
extern "C" __global__ void count_residents(int* now, int* most) {
  if (threadIdx.x != 0) return;
  unsigned multiprocessor;
  unsigned long long start, time;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  const int here = atomicAdd(&now[multiprocessor], 1) + 1;
  atomicMax(&most[multiprocessor], here);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {  // stay resident for 0.1 ms, so that other blocks can start
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  } while (time - start < 100000);
  atomicSub(&now[multiprocessor], 1);
}

// Each thread has a single load in flight at any time; only other threads can use the waiting time.
extern "C" __global__ void copy(const float* in, float* out, unsigned long long n) {
  using u64 = unsigned long long;
  const u64 threads = u64(gridDim.x) * blockDim.x;
#pragma unroll 1  // otherwise, the compiler issues four loads at a time
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}
