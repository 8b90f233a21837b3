// Rejected with: "more numbers than threads"
// The guard is there, the loop is not.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(largest, in[i]);
}
