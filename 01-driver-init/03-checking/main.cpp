// Makes the same failing call in four styles of error handling, and shows what each style reports.
#include "common/cu.hpp"

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
  CU_CHECK(cuInit(0));

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
    return !found && error.code() == CUDA_ERROR_INVALID_DEVICE ? 0 : 1;
  }
  return 1;
}
