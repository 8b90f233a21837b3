// The kernels with which run_one_thread() is tested. Each has one argument, the address of an int.

// 64 MiB of device memory, allocated for as long as the module is loaded.
__device__ int large[16 << 20];

// Atomic, so that every thread is counted.
extern "C" __global__ void increment(int* number) { atomicAdd(number, 1); }

extern "C" __global__ void twice(int* number) { *number = 2 * *number; }

// Takes a tenth of a second or more, so that a solution that does not wait is detected.
extern "C" __global__ void count(volatile int* number) {
  for (int i = 1; i <= 20000000; ++i) *number = i;
}

extern "C" __global__ void first_of_large(int* number) { *number = large[0]; }
