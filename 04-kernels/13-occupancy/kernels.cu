// One kernel that counts its blocks where they run, and one that needs many of them at once to be fast.

// Each multiprocessor has a counter of the blocks that are on it now, and the highest that it has been.
extern "C" __global__ void count_residents(int* now, int* most) {
  if (threadIdx.x != 0) return;
  unsigned multiprocessor;
  unsigned long long start, time;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  const int here = atomicAdd(&now[multiprocessor], 1) + 1;
  atomicMax(&most[multiprocessor], here);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {  // stay for a while, so that the others come, too
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  } while (time - start < 100000);
  atomicSub(&now[multiprocessor], 1);
}

// Each thread waits for one number at a time; only other threads can do something meanwhile.
extern "C" __global__ void copy(const float* in, float* out, unsigned long long n) {
  const unsigned long long threads = gridDim.x * blockDim.x;
#pragma unroll 1  // the compiler would ask for four at a time
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}
