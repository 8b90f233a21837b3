// Links a kernel with one definition of a function and then with another, and uses the result in two contexts.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <cstring>
#include <string>
#include <vector>

// Applies the kernel to 1 4 9 16 in the current context and returns the last result.
float run(CUfunction apply, const char* with) {
  float values[4] = {1, 4, 9, 16};
  cu::Memory memory(sizeof values);
  CU_CHECK(cuMemcpyHtoD(memory.address, values, sizeof values));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(apply, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(values, memory.address, sizeof values));
  std::printf("%-30s  1 4 9 16 -> %g %g %g %g\n", with, values[0], values[1], values[2], values[3]);
  return values[3];
}

// Links the kernel's image alone, without the function it calls. Prints whether the log names the function.
CUresult link_alone() {
  char log[2000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState linker;
  void* image;
  std::size_t bytes;
  CU_CHECK(cuLinkCreate(2, options, values, &linker));
  CU_CHECK(cuLinkAddFile(linker, CU_JIT_INPUT_PTX, cu::image("kernels.ptx").c_str(), 0, nullptr, nullptr));
  const CUresult result = cuLinkComplete(linker, &image, &bytes);
  std::printf("%-30s  %s\n", "kernels.ptx alone", cu::name(result));
  std::printf("  the log names curve: %s\n", std::strstr(log, "'curve'") != nullptr ? "yes" : "no");
  CU_CHECK(cuLinkDestroy(linker));
  return result;
}

// Links both images and returns a copy of the result, because the linker owns the result.
std::vector<char> link(const char* formula) {
  float milliseconds = 0;
  CUjit_option options[] = {CU_JIT_WALL_TIME, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {nullptr, reinterpret_cast<void*>(4)};
  CUlinkState linker;
  void* image;
  std::size_t bytes;
  CU_CHECK(cuLinkCreate(2, options, values, &linker));
  CU_CHECK(cuLinkAddFile(linker, CU_JIT_INPUT_PTX, cu::image("kernels.ptx").c_str(), 0, nullptr, nullptr));
  CU_CHECK(cuLinkAddFile(linker, CU_JIT_INPUT_PTX, cu::image(formula).c_str(), 0, nullptr, nullptr));
  CU_CHECK(cuLinkComplete(linker, &image, &bytes));
  std::memcpy(&milliseconds, &values[0],
              sizeof milliseconds);  // the linker has replaced the option's value with the time
  std::printf("%-30s  linked in %.2f ms\n", (std::string("kernels.ptx + ") + formula).c_str(), milliseconds);
  const char* first = static_cast<const char*>(image);
  std::vector<char> copy(first, first + bytes);
  CU_CHECK(cuLinkDestroy(linker));
  return copy;
}

int main() try {
  cu::Primary context;
  const CUresult alone = link_alone();

  const std::vector<char> with_square = link("square.ptx"), with_root = link("root.ptx");
  CUmodule module;
  CUfunction apply;
  CU_CHECK(cuModuleLoadData(&module, with_square.data()));
  CU_CHECK(cuModuleGetFunction(&apply, module, "apply"));
  const float square = run(apply, "module, with square.ptx:");
  CU_CHECK(cuModuleUnload(module));

  CUlibrary library;  // not bound to a context
  CUkernel kernel;
  CU_CHECK(cuLibraryLoadData(&library, with_root.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU_CHECK(cuLibraryGetKernel(&kernel, library, "apply"));
  const float here = run(reinterpret_cast<CUfunction>(kernel), "library, with root.ptx:");
  CUcontext other;
  CU_CHECK(cuCtxCreate(&other, nullptr, 0, context.device));
  const float there = run(reinterpret_cast<CUfunction>(kernel), "same library, other context:");
  CU_CHECK(cuCtxDestroy(other));
  CU_CHECK(cuLibraryUnload(library));

  return alone != CUDA_SUCCESS && square == 256 && here == 4 && there == 4 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
