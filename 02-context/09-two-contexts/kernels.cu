// Stores a number with a single thread.
extern "C" __global__ void store(unsigned* address, unsigned number) { *address = number; }

// Executes a fixed number of dependent operations with a single thread, for the control run. A loop that waits for a
// clock would not do: the clock also advances while the device executes another context.
extern "C" __global__ void work(float* result, long long steps) {
  float value = 1;
  for (long long i = 0; i < steps; ++i) value = fmaf(value, 1.000001f, 0.5f);
  *result = value;
}
