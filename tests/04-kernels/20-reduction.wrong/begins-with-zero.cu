// Rejected with: "one warp: the maximum is found at any position"
// 0 is the identity of addition, not of the maximum: all elements may be negative.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  int most = 0;
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    most = max(most, in[i]);
  }
  atomicMax(largest, most);
}
