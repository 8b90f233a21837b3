// A block reverses a row of integers in shared memory.

// 256 integers and 256 threads: the size of the array is fixed when the kernel is compiled.
extern "C" __global__ void reverse_static(const int* in, int* out) {
  __shared__ int row[256];
  row[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // no thread reads before all threads have written
  out[threadIdx.x] = row[255 - threadIdx.x];
}

// Any number of integers: the launch determines the size of the array.
extern "C" __global__ void reverse_dynamic(const int* in, int* out, int n) {
  extern __shared__ int dynamic_row[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic_row[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = dynamic_row[n - 1 - i];
}
