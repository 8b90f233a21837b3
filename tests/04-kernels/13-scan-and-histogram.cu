// Leaves data in shared memory, so that no kernel finds zeros there by luck.
extern "C" __global__ void litter(int* out) {
  extern __shared__ int row[];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) row[i] = 1000003;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = row[blockIdx.x];
}
