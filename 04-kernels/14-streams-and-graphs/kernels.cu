// Kernels so short that launching them takes longer than they do. The results are right only if the order is.
extern "C" __global__ void add(int* number, int by) { *number += by; }

extern "C" __global__ void multiply(int* number, int by) { *number *= by; }

extern "C" __global__ void sum(int* result, const int* a, const int* b) { *result = *a + *b; }
