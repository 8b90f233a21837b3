// Makes one wrong call under four habits of checking, and shows what each leaves its reader with.
#include "common/cu.hpp"

// Habit 3. A macro sees what a function cannot: the text of the call, and where it stands.
#define CHECK(call)                                                                                             \
  do {                                                                                                          \
    const CUresult result = (call);                                                                             \
    if (result != CUDA_SUCCESS) std::printf("macro    | %s:%d: %s -> %d\n", __FILE__, __LINE__, #call, result); \
  } while (false)

// Habit 4. A function says once, for every call, what is said about a failure. Which call it was, it cannot know.
bool succeeded(CUresult result) {
  if (result == CUDA_SUCCESS) return true;
  std::printf("function | %s: %s\n", cu::name(result), cu::meaning(result));
  return false;
}

int main() {
  CU_CHECK(cuInit(0));
  CUdevice gpu = 0;
  char name[100] = "";

  // Habit 1. Nobody looks at the answer, and the program goes on with whatever was in the variable.
  cuDeviceGet(&gpu, 99);
  cuDeviceGetName(name, sizeof name, gpu);
  std::printf("ignored  | device 99 is the %s\n", name);

  // Habit 2. Someone looks, and writes three lines for every call.
  if (cuDeviceGet(&gpu, 99) != CUDA_SUCCESS) {
    std::printf("if       | cuDeviceGet failed\n");
  }

  // Habit 3.
  CHECK(cuDeviceGet(&gpu, 99));

  // Habit 4.
  const bool found = succeeded(cuDeviceGet(&gpu, 99));

  // Macro and function together are the header that all later lessons use.
  try {
    CU_THROW(cuDeviceGet(&gpu, 99));
  } catch (const cu::Error& error) {
    std::printf("cu.hpp   | %s\n", error.what());
    return !found && error.code() == CUDA_ERROR_INVALID_DEVICE ? 0 : 1;
  }
  return 1;
}
