// Squares a number the slow way: one addition at a time, each in device memory. `sum` is volatile so that the
// compiler does not replace the loop with a multiplication.
extern "C" __global__ void square(const int* number, volatile int* sum) {
  *sum = 0;
  for (int i = 0; i < *number; ++i) *sum = *sum + *number;
}
