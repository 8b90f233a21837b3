// Rejected with: "more threads than numbers: what lies past the last one does not count"
// Whole blocks past the end go home. The last one that stays reads on to its own end.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * blockDim.x; first < n;
       first += threads) {
    if (first + threadIdx.x < n + 64) atomicMax(largest, in[first + threadIdx.x]);
  }
}
