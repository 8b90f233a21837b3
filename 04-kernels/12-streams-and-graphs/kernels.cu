// Kernels that take less time than their launch. Their results are right only if they run in the right order.
extern "C" __global__ void add(int* number, int by) { *number += by; }

extern "C" __global__ void multiply(int* number, int by) { *number *= by; }

extern "C" __global__ void sum(int* result, const int* a, const int* b) { *result = *a + *b; }
