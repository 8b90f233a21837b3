// Loads the same kernels from PTX, from machine code for three architectures and from a fat binary. Then loads images
// that are invalid, each for a different reason.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// Runs the kernel `square` on 7 and returns the result.
int square_of_seven(CUmodule module) {
  CUfunction square;
  CU_CHECK(cuModuleGetFunction(&square, module, "square"));
  int number = 7;
  cu::Memory memory(sizeof number);
  CU_CHECK(cuMemcpyHtoD(memory.address, &number, sizeof number));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(square, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(&number, memory.address, sizeof number));
  return number;
}

// Loads an image from memory, runs its kernel if it loads, and prints a row. Returns the result of the load.
CUresult try_image(const char* what, const std::string& image) {
  CUmodule module;
  const CUresult result = cuModuleLoadData(&module, image.c_str());
  if (result != CUDA_SUCCESS) {
    std::printf("%-28s  %s\n", what, cu::name(result));
    return result;
  }
  std::printf("%-28s  %s, 7 squared is %d\n", what, cu::name(result), square_of_seven(module));
  CU_CHECK(cuModuleUnload(module));
  return result;
}

// Loads machine code for one architecture. Returns whether the result is possible: success is expected only on a device
// with the same major and an equal or higher minor compute capability.
bool try_cubin(int architecture, int capability) {
  const std::string file = "kernels.sm_" + std::to_string(architecture) + ".cubin";
  const CUresult result = try_image(file.c_str(), read(cu::image(file)));
  const bool fits = architecture / 10 == capability / 10 && architecture % 10 <= capability % 10;
  return result == CUDA_ERROR_NO_BINARY_FOR_GPU || (fits && result == CUDA_SUCCESS);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Loads invalid PTX and prints the first line of the error log that the driver's compiler has written.
CUresult explain(const std::string& ptx) {
  char log[2000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};  // the size itself, cast to a pointer
  CUmodule module;
  const CUresult result = cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
  std::printf("  %.*s\n", static_cast<int>(std::strcspn(log, "\n")), log);
  return result;
}

// Looks up a kernel by name and prints a row. Returns the result of the lookup.
CUresult try_name(const cu::Module& module, const char* name) {
  CUfunction function;
  const CUresult result = cuModuleGetFunction(&function, module.handle, name);
  std::printf("%-28s  %s\n", name, cu::name(result));
  return result;
}

int main() try {
  cu::Primary context;
  int major, minor;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context.device));
  CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, context.device));
  std::printf("compute capability %d.%d\n\n", major, minor);

  const std::string ptx = read(cu::image("kernels.ptx"));
  bool as_expected = try_image("kernels.ptx", ptx) == CUDA_SUCCESS;
  for (const int architecture : {75, 80, 90}) as_expected &= try_cubin(architecture, 10 * major + minor);
  const std::string fat = read(cu::image("kernels.fatbin"));
  if (fat.empty()) {
    std::printf("%-28s  not built: this toolkit has no fatbinary\n", "kernels.fatbin");
  } else {
    as_expected &= try_image("kernels.fatbin", fat) == CUDA_SUCCESS;
  }

  as_expected &= try_image("\"hello\"", "hello") == CUDA_ERROR_INVALID_IMAGE;
  const std::string future = replaced(ptx, ".version ", ".version 9");  // 9.0 becomes 99.0
  as_expected &= try_image("kernels.ptx, version 99.0", future) == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  const std::string with_typo = replaced(ptx, "mul.lo.s32", "mull.lo.s32");
  as_expected &= try_image("kernels.ptx, with a typo", with_typo) == CUDA_ERROR_INVALID_PTX;
  as_expected &= explain(with_typo) == CUDA_ERROR_INVALID_PTX;

  cu::Module module(cu::image("kernels.ptx"));
  std::printf("\n");
  as_expected &= try_name(module, "square") == CUDA_SUCCESS;
  as_expected &= try_name(module, "cube") == CUDA_ERROR_NOT_FOUND;
  as_expected &= try_name(module, "_Z4cubePi") == CUDA_SUCCESS;
  return as_expected ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
