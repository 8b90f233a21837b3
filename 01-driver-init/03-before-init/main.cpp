// Calls the driver before cuInit, with a wrong flag, and afterwards, and holds every answer against the expected one.
#include <cuda.h>

#include <cstdio>

// Prints one row of the table. True if the driver answered as expected.
bool row(const char* call, CUresult answer, CUresult expected) {
  const char *name, *meaning;
  if (cuGetErrorName(answer, &name) != CUDA_SUCCESS) name = "a code without a name";
  if (cuGetErrorString(answer, &meaning) != CUDA_SUCCESS) meaning = "";
  std::printf("  %-20s| %3d | %-26s | %s\n", call, answer, name, meaning);
  if (answer != expected) std::printf("  ^ expected %d\n", expected);
  return answer == expected;
}

int main() {
  int version, count;
  const char* text;
  CUdevice device;
  CUcontext context;
  CUdeviceptr memory;
  bool right = true;

  std::printf("before cuInit\n");
  right &= row("cuDriverGetVersion", cuDriverGetVersion(&version), CUDA_SUCCESS);
  right &= row("cuGetErrorName", cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
  right &= row("cuGetErrorString", cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
  right &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  right &= row("cuDeviceGet", cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
  right &= row("cuCtxGetCurrent", cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
  right &= row("cuMemAlloc", cuMemAlloc(&memory, 16), CUDA_ERROR_NOT_INITIALIZED);

  std::printf("a wrong flag\n");
  right &= row("cuInit(1)", cuInit(1), CUDA_ERROR_INVALID_VALUE);
  right &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);

  std::printf("the right one\n");
  right &= row("cuInit(0)", cuInit(0), CUDA_SUCCESS);
  right &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_SUCCESS);
  right &= row("cuInit(0) again", cuInit(0), CUDA_SUCCESS);
  right &= row("cuInit(7)", cuInit(7), CUDA_ERROR_INVALID_VALUE);
  right &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_SUCCESS);

  return right ? 0 : 1;
}
