// Two kernels: one with its plain name, and one whose name C++ mangles.
extern "C" __global__ void square(int* number) { *number = *number * *number; }

__global__ void cube(int* number) { *number = *number * *number * *number; }
