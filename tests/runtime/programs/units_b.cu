// The other unit of units_a.cu.
__device__ int offset = 100;
__constant__ int limits[2] = {1, 2};
__device__ int twice(int value) { return 2 * value; }
__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
void launch_fill(int* to, int value) { fill<<<1, 4>>>(to, value); }
