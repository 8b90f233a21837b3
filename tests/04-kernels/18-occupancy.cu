// Two kernels with which largest_shared() is tested.
extern "C" __global__ void plain(int* out) {
  extern __shared__ int row[];
  row[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
}

// 16 KiB of static shared memory, in addition to any dynamic shared memory.
extern "C" __global__ void with_static(int* out) {
  __shared__ int own[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) own[i] = i;
  __syncthreads();
  out[threadIdx.x] = own[4095 - threadIdx.x];
}
