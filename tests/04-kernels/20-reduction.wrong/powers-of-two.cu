// Rejected with: "a block whose size is not a power of two: the maximum is found at any position"
// Halving 96 gives 48, 24, 12, 6, 3 and then 1, so the last of the three values is never compared.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  __shared__ int of_thread[1024];
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  int most = -2147483647 - 1;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    most = max(most, in[i]);
  }
  of_thread[threadIdx.x] = most;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) of_thread[threadIdx.x] = max(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(largest, of_thread[0]);
}
