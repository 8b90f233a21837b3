// Variables that are nobody's argument, in every space that a kernel can see.

__device__ int visits = 100;                   // global memory: all threads of all launches, until the module goes
__constant__ float factors[4] = {1, 2, 3, 4};  // constant memory: the host writes it, kernels read it
namespace shop {
__device__ int stock = 7;  // C++ makes another name of it
}

extern "C" __global__ void visit() { atomicAdd(&visits, 1); }

extern "C" __global__ void scale(float* values) { values[threadIdx.x] *= factors[threadIdx.x]; }

// The letter of the space that an address lies in.
__device__ char space_of(const void* address) {
  if (__isShared(address)) return 's';
  if (__isLocal(address)) return 'l';
  if (__isConstant(address)) return 'c';
  return __isGlobal(address) ? 'g' : '?';
}

// One letter for each of: an argument's memory, visits, factors, shop::stock, a __shared__ array, an array of the
// thread.
extern "C" __global__ void spaces(char* letters) {
  __shared__ int blackboard[32];
  int notebook[8];
  const void* addresses[] = {letters, &visits, factors, &shop::stock, blackboard, notebook};
  for (int i = 0; i < 6; ++i) letters[i] = space_of(addresses[i]);
}
