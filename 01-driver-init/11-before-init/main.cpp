// Calls the driver before cuInit, after a cuInit that fails, and after one that succeeds, and compares every result
// with the expected one.
#include <cuda.h>

#include <cstdio>

// Prints one row of the table. Returns true if the call returned what was expected.
bool row(const char* call, CUresult result, CUresult expected) {
  const char* name = nullptr;
  const char* description = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS) name = "(unknown)";
  if (cuGetErrorString(result, &description) != CUDA_SUCCESS) description = "(unknown)";
  std::printf("  %-20s| %3d | %-26s | %s\n", call, result, name, description);
  if (result != expected) std::printf("  ^ expected %d\n", expected);
  return result == expected;
}

int main() {
  int count = 0;
  bool passed = true;

  std::printf("before cuInit\n");
  int version = 0;
  passed &= row("cuDriverGetVersion", cuDriverGetVersion(&version), CUDA_SUCCESS);
  const char* text = nullptr;
  passed &= row("cuGetErrorName", cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
  passed &= row("cuGetErrorString", cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  CUdevice device = 0;
  passed &= row("cuDeviceGet", cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
  CUcontext context = nullptr;
  passed &= row("cuCtxGetCurrent", cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
  CUdeviceptr memory = 0;
  passed &= row("cuMemAlloc", cuMemAlloc(&memory, 16), CUDA_ERROR_NOT_INITIALIZED);

  std::printf("after a wrong argument\n");
  passed &= row("cuInit(1)", cuInit(1), CUDA_ERROR_INVALID_VALUE);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);

  std::printf("after cuInit(0)\n");
  passed &= row("cuInit(0)", cuInit(0), CUDA_SUCCESS);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_SUCCESS);
  passed &= row("cuInit(0) again", cuInit(0), CUDA_SUCCESS);
  passed &= row("cuInit(7)", cuInit(7), CUDA_ERROR_INVALID_VALUE);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_SUCCESS);

  return passed ? 0 : 1;
}
