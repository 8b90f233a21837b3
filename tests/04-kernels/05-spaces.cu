// The variables to which write_variable() writes, and a kernel that uses them.
__constant__ float factors[3] = {1, 1, 1};
__device__ int counts[4] = {1, 2, 3, 4};

extern "C" __global__ void use(float* result) {
  result[threadIdx.x] = factors[threadIdx.x % 3];
  atomicAdd(&counts[threadIdx.x % 4], 1);
}
