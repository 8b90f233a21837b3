// Uses a stack frame of 8 KiB. The array is volatile, so the compiler cannot keep it in registers or remove it.
extern "C" __global__ void deep(unsigned* out, unsigned n) {
  volatile unsigned frame[2048];
  for (unsigned i = 0; i < 2048; ++i) frame[i] = i + n;
  *out = frame[n];
}

// Needs no stack frame.
extern "C" __global__ void shallow(unsigned* out, unsigned n) { *out = n; }

// Allocates from the heap that CU_LIMIT_MALLOC_HEAP_SIZE limits.
extern "C" __global__ void use_heap(unsigned* out, unsigned n) {
  unsigned* number = static_cast<unsigned*>(malloc(sizeof(unsigned)));
  if (number == nullptr) return;
  *number = n;
  *out = *number;
  free(number);
}

// Runs for this time.
extern "C" __global__ void busy(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}
