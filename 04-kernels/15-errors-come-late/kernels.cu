// A kernel that goes wrong and one that does not; one that talks, and one that insists.
#include <cassert>
#include <cstdio>

// As long as a real kernel might take: five milliseconds.
__device__ void work() {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));  // nanoseconds
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < 5000000);
}

extern "C" __global__ void guilty(int* nowhere) {
  work();
  *nowhere = 1;
}

extern "C" __global__ void innocent(int* number) { *number = 7; }

extern "C" __global__ void talk(int number) {
  work();
  printf("    thread %u: the number is %d\n", threadIdx.x, number);
}

extern "C" __global__ void claim(int number) { assert(number < 3); }
