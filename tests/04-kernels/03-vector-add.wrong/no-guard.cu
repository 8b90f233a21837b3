// Rejected with: "more threads than numbers: what lies past the last one is left alone"
// 1000 is not a multiple of 256, and the last 24 threads compute all the same.
extern "C" __global__ void saxpy(int, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}
