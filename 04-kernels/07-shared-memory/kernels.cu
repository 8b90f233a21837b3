// A block turns a row of numbers round, by way of its shared memory.

// 256 numbers, 256 threads: the compiler knows how much the block needs.
extern "C" __global__ void reverse_static(const int* in, int* out) {
  __shared__ int row[256];
  row[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // nobody reads until everybody has written
  out[threadIdx.x] = row[255 - threadIdx.x];
}

// Any number of them: how much the block needs is said at the launch.
extern "C" __global__ void reverse_dynamic(const int* in, int* out, int n) {
  extern __shared__ int row_of_any_length[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) row_of_any_length[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = row_of_any_length[n - 1 - i];
}
