// A library with a kernel and a variable of its own, for loading.cu.
static __device__ int calls = 0;
template <class T>
__global__ void scale(T* to, T factor) {
  to[threadIdx.x] *= factor;
  if (threadIdx.x == 0) ++calls;
}
extern "C" int plugin_scale(float* to, float factor) {
  scale<<<1, 4>>>(to, factor);
  int count = -1;
  return cudaMemcpyFromSymbol(&count, calls, sizeof count) == cudaSuccess ? count : -1;
}
