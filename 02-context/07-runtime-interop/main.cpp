// Shares memory, streams and a kernel between the driver API and the runtime API, and records which driver calls the
// runtime makes.
#include "listen.hpp"

#include "common/cu.hpp"
#include "common/image.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <utility>

constexpr int kNumbers = 1024;
constexpr std::size_t kBytes = kNumbers * sizeof(unsigned);
constexpr unsigned kBlock = 256;

// The functions of the runtime library that this program calls. They are looked up when the program runs, so that it
// also starts on a machine without the library.
struct Runtime {
  void* library;
  explicit Runtime(const std::string& path) : library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

  decltype(&cudaMalloc) malloc = find<decltype(&cudaMalloc)>("cudaMalloc");
  decltype(&cudaFree) free = find<decltype(&cudaFree)>("cudaFree");
  decltype(&cudaMemsetAsync) memset = find<decltype(&cudaMemsetAsync)>("cudaMemsetAsync");
  decltype(&cudaMemcpy) memcpy = find<decltype(&cudaMemcpy)>("cudaMemcpy");
  decltype(&cudaLaunchKernel) launch = find<decltype(&cudaLaunchKernel)>("cudaLaunchKernel");
  decltype(&cudaStreamCreate) stream_create = find<decltype(&cudaStreamCreate)>("cudaStreamCreate");
  decltype(&cudaStreamSynchronize) stream_wait = find<decltype(&cudaStreamSynchronize)>("cudaStreamSynchronize");
  decltype(&cudaStreamDestroy) stream_destroy = find<decltype(&cudaStreamDestroy)>("cudaStreamDestroy");
  decltype(&cudaGetErrorName) error_name = find<decltype(&cudaGetErrorName)>("cudaGetErrorName");

  // Whether the library was found and works with this driver. The call frees nothing, but initializes the runtime.
  bool works = library != nullptr && free(nullptr) == cudaSuccess;

  // NVIDIA's library, or else the course's own (common/runtime), which also works on the simulated GPU.
  static Runtime that_works() {
    const std::string name = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
    Runtime runtime(name);
    for (const char* folder : {"$ORIGIN/../../runtime/", "$ORIGIN/../../../../runtime/"}) {
      if (!runtime.works) runtime = Runtime(folder + name);
    }
    return runtime;
  }

 private:
  template <class Function>
  Function find(const char* function) const {
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, function));
  }
};

void row(const char* call, const std::string& result) { std::printf("  %-38s| %s\n", call, result.c_str()); }

void show_owner(CUdeviceptr address, CUcontext primary) {
  CUcontext owner;
  CU_THROW(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  row("  the memory belongs to", owner == primary ? "the primary context" : "the program's own context");
}

void show_calls(const cupti::Listener& listener) {
  std::printf("driver calls inside each runtime call%s%s\n", listener.why_not.empty() ? "" : ": not recorded, ",
              listener.why_not.c_str());
  for (const cupti::Recorded& recorded : listener.recorded) {
    std::string calls = recorded.driver_calls.empty() ? "none" : "";
    for (const std::string& call : recorded.driver_calls) calls += (calls.empty() ? "" : ", ") + call;
    if (recorded.driver_calls.size() > 4) calls = std::to_string(recorded.driver_calls.size()) + " calls";
    row(recorded.runtime_call.c_str(), calls);
  }
}

// A kernel that the driver has loaded. It can be launched through both APIs.
struct Library {
  CUlibrary handle = nullptr;
  CUkernel add = nullptr;

  explicit Library(const std::string& path) {
    CU_THROW(cuLibraryLoadFromFile(&handle, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CU_THROW(cuLibraryGetKernel(&add, handle, "add"));
  }
  ~Library() { CU_REPORT(cuLibraryUnload(handle)); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

int main() try {
  cupti::Listener listener;  // CUPTI must be subscribed to before the driver is initialized
  cu::Primary primary;

  std::printf("allocated with the driver API\n");
  cu::Memory drivers(kBytes);
  row("cuMemAlloc", "CUDA_SUCCESS");
  show_owner(drivers.address, primary.handle);
  CU_THROW(cuMemsetD32(drivers.address, 7, kNumbers));
  row("cuMemsetD32, to 7", "CUDA_SUCCESS");
  const Library library(cu::image("kernels.ptx"));
  row("cuLibraryLoadFromFile", "CUDA_SUCCESS");

  const Runtime runtime = Runtime::that_works();
  if (!runtime.works) {
    std::printf("the rest is skipped: no runtime library works with this driver (`make simulator` builds one)\n");
    std::printf("  not shown: memory, streams and a kernel that both APIs use, and what the runtime calls\n");
    return 0;
  }
  const auto call = [&runtime](const char* what, cudaError_t result) {
    row(what, result == cudaSuccess ? "cudaSuccess" : runtime.error_name(result));
    if (result != cudaSuccess) throw std::runtime_error(std::string(what) + " failed");
  };

  std::printf("allocated with the runtime API\n");
  cu::Memory runtimes;  // an owner that calls cuMemFree on memory from cudaMalloc
  call("cudaMalloc", runtime.malloc(reinterpret_cast<void**>(&runtimes.address), kBytes));
  show_owner(runtimes.address, primary.handle);
  cudaStream_t stream = nullptr;
  call("cudaStreamCreate", runtime.stream_create(&stream));
  const std::unique_ptr<CUstream_st, decltype(runtime.stream_destroy)> owner(stream, runtime.stream_destroy);

  std::printf("the driver launches in the runtime's stream, on the runtime's memory\n");
  int n = kNumbers;
  void* to_runtimes[] = {&runtimes.address, &drivers.address, &n};
  call("cudaMemsetAsync, to 0", runtime.memset(reinterpret_cast<void*>(runtimes.address), 0, kBytes, stream));
  CU_THROW(cuLaunchKernel(reinterpret_cast<CUfunction>(library.add), kNumbers / kBlock, 1, 1, kBlock, 1, 1, 0, stream,
                          to_runtimes, nullptr));
  row("cuLaunchKernel, adds 7", "CUDA_SUCCESS");
  call("cudaStreamSynchronize", runtime.stream_wait(stream));

  std::printf("the runtime launches in the driver's stream, on the driver's memory\n");
  cu::Stream drivers_stream;
  void* to_drivers[] = {&drivers.address, &runtimes.address, &n};
  call("cudaLaunchKernel, adds 7", runtime.launch(library.add, dim3{kNumbers / kBlock, 1, 1}, dim3{kBlock, 1, 1},
                                                  to_drivers, 0, drivers_stream.handle));
  CU_THROW(cuStreamSynchronize(drivers_stream.handle));
  row("cuStreamSynchronize", "CUDA_SUCCESS");

  std::vector<unsigned> numbers(kNumbers);
  call("cudaMemcpy to the host",
       runtime.memcpy(numbers.data(), reinterpret_cast<void*>(drivers.address), kBytes, cudaMemcpyDeviceToHost));
  const auto right = std::count(numbers.begin(), numbers.end(), 14u);
  row("  numbers equal to 14", std::to_string(right) + " of " + std::to_string(kNumbers));

  std::printf("each API frees what the other has allocated\n");
  CU_THROW(cuMemFree(std::exchange(runtimes.address, 0)));
  row("cuMemFree of the runtime's memory", "CUDA_SUCCESS");
  call("cudaFree of the driver's memory", runtime.free(reinterpret_cast<void*>(std::exchange(drivers.address, 0))));

  show_calls(listener);

  std::printf("allocated with the runtime API, while a context from cuCtxCreate is current\n");
  const cu::Context own;
  cu::Memory in_own;
  call("cudaMalloc", runtime.malloc(reinterpret_cast<void**>(&in_own.address), kBytes));
  show_owner(in_own.address, primary.handle);
  return right == kNumbers ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
