// The kernels that first_guilty() tries.
extern "C" __global__ void innocent(int* number) { *number = 7; }

// Long enough that a solution that does not wait has launched the next kernel by then.
extern "C" __global__ void guilty(int* nowhere) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < 20000000);
  *nowhere = 1;
}
