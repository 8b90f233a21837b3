// A kernel that faults and one that does not; one that prints, and one with an assertion that fails.
#include <cassert>
#include <cstdio>

// Takes five milliseconds, like a real kernel might.
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

extern "C" __global__ void print(int number) {
  work();
  printf("    thread %u: the number is %d\n", threadIdx.x, number);
}

extern "C" __global__ void check(int number) { assert(number < 3); }
