// Variables in every memory space that a kernel can access.

__device__ int visits = 100;                   // global memory: shared by all launches until the module is unloaded
__constant__ float factors[4] = {1, 2, 3, 4};  // constant memory: written by the host, read by kernels
namespace shop {
__device__ int stock = 7;  // C++ mangles this name
}

extern "C" __global__ void visit() { atomicAdd(&visits, 1); }

extern "C" __global__ void scale(float* values) { values[threadIdx.x] *= factors[threadIdx.x]; }

// Returns a letter for the memory space of an address.
__device__ char space_of(const void* address) {
  if (__isShared(address)) return 's';
  if (__isLocal(address)) return 'l';
  if (__isConstant(address)) return 'c';
  return __isGlobal(address) ? 'g' : '?';
}

// Stores one letter each for memory that was passed as an argument, visits, factors, shop::stock, a shared array, and a
// local array.
extern "C" __global__ void spaces(char* letters) {
  __shared__ int shared_array[32];
  int local_array[8];
  const void* addresses[] = {letters, &visits, factors, &shop::stock, shared_array, local_array};
  for (int i = 0; i < 6; ++i) letters[i] = space_of(addresses[i]);
}
