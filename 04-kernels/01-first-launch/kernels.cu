// The whole program of one thread.
extern "C" __global__ void square(int* number) { *number = *number * *number; }
