// Rejected with: "a prime number of elements: all elements are computed"
// Loads four floats at a time. Of 997 elements, the last one is in no group of four.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += threads) {
    const float4 from = reinterpret_cast<const float4*>(x)[i];
    float4 to = reinterpret_cast<float4*>(y)[i];
    to.x += a * from.x;
    to.y += a * from.y;
    to.z += a * from.z;
    to.w += a * from.w;
    reinterpret_cast<float4*>(y)[i] = to;
  }
}
