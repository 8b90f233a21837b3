// Compiles CUDA C++ that is a string, keeps the result on disk, and lets three processes use it.
#include "cache.hpp"
#include "common/cu.hpp"
#include "nvrtc.hpp"

#include <sys/wait.h>
#include <chrono>
#include <cstring>
#include <filesystem>

const char* const kSource =
    "template <class T>\n"
    "__global__ void scale(T* x) { x[threadIdx.x] *= FACTOR; }\n";
const char* const kMistake = "__global__ void scale(float* x) { *x = y; }\n";

// What was compiled: PTX, and what scale<float> is called in it. No PTX: the log says why.
struct Compiled {
  std::string ptx, name, log;
};

Compiled compile(const Nvrtc& nvrtc, const char* source, const std::vector<const char*>& options) {
  Compiled compiled;
  nvrtcProgram program;
  NVRTC_CHECK(nvrtc, nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr));
  if (source == kSource) NVRTC_CHECK(nvrtc, nvrtcAddNameExpression(program, "scale<float>"));
  const int result = nvrtc.nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());

  std::size_t bytes;
  NVRTC_CHECK(nvrtc, nvrtcGetProgramLogSize(program, &bytes));
  compiled.log.resize(bytes);
  NVRTC_CHECK(nvrtc, nvrtcGetProgramLog(program, compiled.log.data()));
  if (result == 0) {
    NVRTC_CHECK(nvrtc, nvrtcGetPTXSize(program, &bytes));
    compiled.ptx.resize(bytes);
    NVRTC_CHECK(nvrtc, nvrtcGetPTX(program, compiled.ptx.data()));
    const char* name;
    NVRTC_CHECK(nvrtc, nvrtcGetLoweredName(program, "scale<float>", &name));
    compiled.name = name;
  }
  NVRTC_CHECK(nvrtc, nvrtcDestroyProgram(&program));
  return compiled;
}

// From the cache, or else compiled and put there. The name stands in the first line, as a comment.
std::string image_of_scale(const Nvrtc& nvrtc, const Cache& cache, const std::vector<const char*>& options) {
  int major, minor;
  NVRTC_CHECK(nvrtc, nvrtcVersion(&major, &minor));
  const std::string key = key_of(kSource, options, major, minor);
  std::string image = cache.find(key);
  if (image.empty()) {
    const Compiled compiled = compile(nvrtc, kSource, options);
    image = "//" + compiled.name + "\n" + compiled.ptx;
    cache.store(key, image);
  }
  return image;
}

// Runs scale<float> on 5.
float run(const std::string& image) {
  CUmodule module;
  CU_CHECK(cuModuleLoadData(&module, image.c_str()));
  CUfunction scale;
  CU_CHECK(cuModuleGetFunction(&scale, module, image.substr(2, image.find('\n') - 2).c_str()));
  float x = 5;
  cu::Memory memory(sizeof x);
  CU_CHECK(cuMemcpyHtoD(memory.address, &x, sizeof x));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(&x, memory.address, sizeof x));
  CU_CHECK(cuModuleUnload(module));
  return x;
}

// What each process does: 0 if its kernel makes 15 of 5. Prints how long it took to get the image, if `told`.
int work(const Nvrtc& nvrtc, const Cache& cache, bool told) {
  cu::Context context;
  int major, minor;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context.device));
  CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, context.device));
  const int architecture = nvrtc.newest_architecture(10 * major + minor);
  const std::string option = "--gpu-architecture=compute_" + std::to_string(architecture);
  const auto start = std::chrono::steady_clock::now();
  const std::string image = image_of_scale(nvrtc, cache, {option.c_str(), "-DFACTOR=3"});
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  const float result = run(image);
  if (told) std::printf("  this process: %7.2f ms to get it, and 5 becomes %g\n", taken.count(), result);
  return result == 15 ? 0 : 1;
}

// Two processes that know nothing of each other; true if both ended well. Forked before the driver is initialised.
bool two_at_once(const Nvrtc& nvrtc, const Cache& cache) {
  const pid_t first = fork();
  if (first == 0) std::exit(work(nvrtc, cache, false));
  const pid_t second = fork();
  if (second == 0) std::exit(work(nvrtc, cache, false));
  int one, two;
  waitpid(first, &one, 0);
  waitpid(second, &two, 0);
  return one == 0 && two == 0;
}

int main() try {
  Nvrtc nvrtc;
  if (!nvrtc.load()) {
    std::printf("skipped: there is no NVRTC here\n");
    return 77;
  }
  char folder[] = "/tmp/nvrtc-cache-XXXXXX";
  const Cache cache{mkdtemp(folder)};
  // Before anything is compiled here: NVRTC asks the driver, too, and a driver does not survive fork.
  const bool both = two_at_once(nvrtc, cache);

  int major, minor;
  NVRTC_CHECK(nvrtc, nvrtcVersion(&major, &minor));
  const auto start = std::chrono::steady_clock::now();
  const Compiled compiled = compile(nvrtc, kSource, {"-DFACTOR=3"});
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  std::printf("NVRTC %d.%d\n  scale<float> is called %s\n", major, minor, compiled.name.c_str());
  std::printf("  compiling took %7.2f ms\n", taken.count());
  const Compiled mistake = compile(nvrtc, kMistake, {});
  std::printf("  %.*s\n", static_cast<int>(std::strcspn(mistake.log.c_str(), "\n")), mistake.log.c_str());

  std::printf("\nthe cache\n  two processes at once: %s\n", both ? "both made 15 of 5" : "FAILED");
  const bool third = work(nvrtc, cache, true) == 0;
  std::filesystem::remove_all(folder);
  return both && third && !compiled.ptx.empty() && mistake.ptx.empty() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
