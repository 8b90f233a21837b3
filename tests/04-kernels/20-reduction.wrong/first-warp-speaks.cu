// Rejected with: "one block: the maximum is found at any position"
// Every warp computes its maximum, and only the first warp reports it.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  int most = -2147483647 - 1;
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    most = max(most, in[i]);
  }
  for (int distance = 16; distance > 0; distance /= 2) most = max(most, __shfl_down_sync(0xffffffff, most, distance));
  if (threadIdx.x == 0) atomicMax(largest, most);
}
