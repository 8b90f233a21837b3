// Work of adjustable length: every thread does `rounds` steps.
extern "C" __global__ void work(float* result, int rounds) {
  float x = static_cast<float>(threadIdx.x);
  for (int round = 0; round < rounds; ++round) x = fmaf(x, 0.5f, 1.0f);
  if (x < 0) *result = x;  // never, but the compiler does not know that
}

// Writes to address 0, which is not valid.
extern "C" __global__ void fault(int* nowhere) { *nowhere = 1; }
