// Rejected with: "more threads than elements: memory past the last element is ignored"
// Blocks past the end return. The last active block reads beyond the end of the array.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * blockDim.x; first < n;
       first += threads) {
    if (first + threadIdx.x < n + 64) atomicMax(largest, in[first + threadIdx.x]);
  }
}
