// Rejected with: "a barrier is reached by all threads of the block, a shuffle by all lanes of its mask"
// The loop ends earlier for the lanes past the last element, so the others shuffle without them in the last iteration.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  const unsigned long long step = 1ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    int most = in[i];
    for (int distance = 16; distance > 0; distance /= 2) {
      const int other = __shfl_xor_sync(0xffffffff, most, distance);
      most = other > most ? other : most;
    }
    atomicMax(largest, most);
  }
}
