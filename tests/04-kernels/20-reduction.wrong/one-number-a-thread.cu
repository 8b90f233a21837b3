// Rejected with: "more elements than threads"
// There is a guard but no loop.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(largest, in[i]);
}
