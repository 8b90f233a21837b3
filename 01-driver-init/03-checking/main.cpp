// Calls the driver before and after cuInit. Then it makes one failing call in four styles of error handling, and shows
// what each style reports.
#include "common/cu.hpp"

// Prints one row of the table. Returns whether the call returned what was expected.
bool row(const char* call, CUresult result, CUresult expected) {
  std::printf("  %-19s| %3d | %-26s | %s\n", call, result, cu::name(result), cu::meaning(result));
  if (result != expected) std::printf("  ^ expected %d\n", expected);
  return result == expected;
}

bool initialize() {
  int version = 0, count = 0;
  const char* text = nullptr;
  void* found = nullptr;
  CUdeviceptr memory = 0;
  std::printf("before cuInit\n");
  bool passed = row("cuDriverGetVersion", cuDriverGetVersion(&version), CUDA_SUCCESS);
  passed &= row("cuGetErrorName", cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
  passed &= row("cuGetErrorString", cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), CUDA_SUCCESS);
  passed &= row("cuGetProcAddress", cuGetProcAddress("cuMemAlloc", &found, 12000, 0, nullptr), CUDA_SUCCESS);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  passed &= row("cuMemAlloc", cuMemAlloc(&memory, 16), CUDA_ERROR_NOT_INITIALIZED);
  passed &= row("cuInit(1)", cuInit(1), CUDA_ERROR_INVALID_VALUE);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);

  std::printf("after it\n");
  passed &= row("cuInit(0)", cuInit(0), CUDA_SUCCESS);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_SUCCESS);
  passed &= row("cuInit(0) again", cuInit(0), CUDA_SUCCESS);
  passed &= row("cuInit(7)", cuInit(7), CUDA_ERROR_INVALID_VALUE);
  passed &= row("cuDeviceGetCount", cuDeviceGetCount(&count), CUDA_SUCCESS);
  return passed;
}

// Style 3, a macro. The preprocessor knows the text of the call and its position.
#define CHECK(call)                                                                                             \
  do {                                                                                                          \
    const CUresult result = (call);                                                                             \
    if (result != CUDA_SUCCESS) std::printf("macro    | %s:%d: %s -> %d\n", __FILE__, __LINE__, #call, result); \
  } while (false)

// Style 4, a function. It describes the error, but it cannot know which call failed.
bool succeeded(CUresult result) {
  if (result == CUDA_SUCCESS) return true;
  std::printf("function | %s: %s\n", cu::name(result), cu::meaning(result));
  return false;
}

int main() {
  const bool passed = initialize();

  std::printf("\none mistake\n");
  // Style 1: ignore the result. The program continues with whatever the variable contains.
  CUdevice gpu = 0;
  char name[100] = "";
  cuDeviceGet(&gpu, 99);
  cuDeviceGetName(name, sizeof name, gpu);
  std::printf("ignored  | device 99 is the %s\n", name);

  // Style 2: an if statement after each call.
  if (cuDeviceGet(&gpu, 99) != CUDA_SUCCESS) {
    std::printf("if       | cuDeviceGet failed\n");
  }

  // Style 3.
  CHECK(cuDeviceGet(&gpu, 99));

  // Style 4.
  const bool found = succeeded(cuDeviceGet(&gpu, 99));

  // A macro that calls a function combines both: the header that all later lessons use.
  try {
    CU_THROW(cuDeviceGet(&gpu, 99));
  } catch (const cu::Error& error) {
    std::printf("cu.hpp   | %s\n", error.what());
    return passed && !found && error.code() == CUDA_ERROR_INVALID_DEVICE ? 0 : 1;
  }
  return 1;
}
