// Compiles CUDA C++ from a string, keeps the result in a cache on disk, and lets three processes use it.
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

// The result of a compilation: PTX and the lowered name of scale<float>. If it failed, the PTX is empty, and the log
// says why.
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

// Returns the image from the cache, or compiles it and stores it there. Its first line is a comment with the lowered
// name.
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

// Runs scale<float> on 5 and returns the result.
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

// What each process does. Returns 0 if its kernel computes 15 from 5. Prints how long it took to get the image, if
// `print`.
int work(const Nvrtc& nvrtc, const Cache& cache, bool print) {
  cu::Primary context;
  int major, minor;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context.device));
  CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, context.device));
  const int architecture = nvrtc.newest_architecture(10 * major + minor);
  const std::string option = "--gpu-architecture=compute_" + std::to_string(architecture);
  const auto start = std::chrono::steady_clock::now();
  const std::string image = image_of_scale(nvrtc, cache, {option.c_str(), "-DFACTOR=3"});
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  const float result = run(image);
  if (print) std::printf("  a third process: image after %5.2f ms, 3 x 5 = %g\n", taken.count(), result);
  return result == 15 ? 0 : 1;
}

// Runs two independent processes at the same time. Returns whether both succeeded. Forks before cuInit is called.
bool two_processes(const Nvrtc& nvrtc, const Cache& cache) {
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
    std::printf("skipped: NVRTC is not installed\n");
    return 77;
  }
  char folder[] = "/tmp/nvrtc-cache-XXXXXX";
  const Cache cache{mkdtemp(folder)};
  // First, because NVRTC also initializes the driver, and an initialized driver does not survive fork.
  const bool both = two_processes(nvrtc, cache);

  int major, minor;
  NVRTC_CHECK(nvrtc, nvrtcVersion(&major, &minor));
  const auto start = std::chrono::steady_clock::now();
  const Compiled compiled = compile(nvrtc, kSource, {"-DFACTOR=3"});
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  std::printf("NVRTC %d.%d\n  scale<float> has the name %s\n", major, minor, compiled.name.c_str());
  std::printf("  compilation takes %5.2f ms\n", taken.count());
  const Compiled mistake = compile(nvrtc, kMistake, {});
  std::printf("  %.*s\n", static_cast<int>(std::strcspn(mistake.log.c_str(), "\n")), mistake.log.c_str());

  std::printf("\ncache\n  two processes at once: %s\n", both ? "both computed 3 x 5 = 15" : "FAILED");
  const bool third = work(nvrtc, cache, true) == 0;
  std::filesystem::remove_all(folder);
  return both && third && !compiled.ptx.empty() && mistake.ptx.empty() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
