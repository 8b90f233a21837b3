// Two kernels: one with a plain name, and one whose name C++ decorates.
extern "C" __global__ void square(int* number) { *number = *number * *number; }

__global__ void cube(int* number) { *number = *number * *number * *number; }
