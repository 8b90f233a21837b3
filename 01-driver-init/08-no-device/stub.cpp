// A libcuda.so.1 as the toolkit's stub is: it has the driver's functions, so that a program links, and answers 34 to
// all. The real one has every function; these are the ones that this lesson's program calls.
#include <cuda.h>

CUresult CUDAAPI cuInit(unsigned) { return CUDA_ERROR_STUB_LIBRARY; }
CUresult CUDAAPI cuDeviceGetCount(int*) { return CUDA_ERROR_STUB_LIBRARY; }
CUresult CUDAAPI cuGetErrorName(CUresult, const char**) { return CUDA_ERROR_STUB_LIBRARY; }
CUresult CUDAAPI cuGetErrorString(CUresult, const char**) { return CUDA_ERROR_STUB_LIBRARY; }
