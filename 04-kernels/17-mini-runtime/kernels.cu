// y = a x + y, with a in constant memory.

__constant__ float a;

__global__ void saxpy(const float* x, float* y, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] = a * x[i] + y[i];
}
