// Uses one pointer through the driver API and the runtime API, and listens to what the runtime asks of the driver.
#include "listen.hpp"

#include "common/cu.hpp"

#include <cuda_runtime_api.h>

constexpr int kNumbers = 1024;
constexpr std::size_t kBytes = kNumbers * sizeof(int);

// The runtime library, loaded if it is there: the lesson is to start on machines that have none.
struct Runtime {
  std::string name = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);

  template <class Function>
  Function* find(const char* function, Function*) const {
    return reinterpret_cast<Function*>(dlsym(library, function));
  }
};
#define RUNTIME(function) runtime.find(#function, static_cast<decltype(&function)>(nullptr))

void row(const char* call, const char* answer) { std::printf("  %-38s| %s\n", call, answer); }

int main() {
  cupti::Listener listener;  // CUPTI wants to be asked before the driver starts
  CUdevice device;
  CUcontext primary, owner;
  CUdeviceptr memory;
  int numbers[kNumbers] = {};

  std::printf("the driver's half\n");
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));
  row("cuDevicePrimaryCtxRetain", cu::name(CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&primary, device))));
  row("cuCtxSetCurrent", cu::name(CU_EXPECT(CUDA_SUCCESS, cuCtxSetCurrent(primary))));
  row("cuMemAlloc", cu::name(CU_EXPECT(CUDA_SUCCESS, cuMemAlloc(&memory, kBytes))));
  row("cuMemsetD32", cu::name(CU_EXPECT(CUDA_SUCCESS, cuMemsetD32(memory, 7, kNumbers))));
  CU_CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  row("the memory's owner", owner == primary ? "the primary context" : "another context");

  // Whether there is a runtime to share with, only its own answer tells.
  const Runtime runtime;
  std::string why_not = runtime.library == nullptr ? runtime.name + " is not to be found" : "";
  if (runtime.library != nullptr) {
    const cudaError_t answer = RUNTIME(cudaFree)(nullptr);
    if (answer != cudaSuccess) why_not = runtime.name + " answers " + RUNTIME(cudaGetErrorName)(answer);
  }
  if (!why_not.empty()) {
    std::printf("the runtime's half is skipped: %s\n", why_not.c_str());
    std::printf("  not shown: the same pointer in cudaMemcpy and cudaFree, and what the runtime asks of the driver\n");
    CU_CHECK(cuMemFree(memory));
    CU_CHECK(cuCtxPopCurrent(&primary));
    CU_CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
  }

  const auto runtimes_name = RUNTIME(cudaGetErrorName);
  std::printf("the runtime's half\n");
  void* from_runtime = nullptr;
  bool right = true;
  auto runtime_row = [&](const char* call, cudaError_t answer) {
    row(call, answer == cudaSuccess ? "cudaSuccess" : runtimes_name(answer));
    right &= answer == cudaSuccess;
  };
  runtime_row("cudaMemcpy from the driver's memory",
              RUNTIME(cudaMemcpy)(numbers, reinterpret_cast<void*>(memory), kBytes, cudaMemcpyDeviceToHost));
  runtime_row("cudaMalloc", RUNTIME(cudaMalloc)(&from_runtime, kBytes));
  runtime_row("cudaMemset", RUNTIME(cudaMemset)(from_runtime, 0, kBytes));
  runtime_row("cudaDeviceSynchronize", RUNTIME(cudaDeviceSynchronize)());
  runtime_row("cudaFree of the driver's memory", RUNTIME(cudaFree)(reinterpret_cast<void*>(memory)));
  const auto address = reinterpret_cast<CUdeviceptr>(from_runtime);
  CU_CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  row("the owner of the runtime's memory", owner == primary ? "the primary context" : "another context");
  row("cuMemFree of the runtime's memory", cu::name(CU_EXPECT(CUDA_SUCCESS, cuMemFree(address))));

  std::printf("what the runtime asked of the driver%s%s\n", listener.why_not.empty() ? "" : ": not heard, ",
              listener.why_not.c_str());
  for (const cupti::Heard& heard : listener.heard) {
    std::string calls = heard.driver_calls.empty() ? "nothing" : "";
    for (const std::string& call : heard.driver_calls) calls += (calls.empty() ? "" : ", ") + call;
    if (heard.driver_calls.size() > 4) calls = std::to_string(heard.driver_calls.size()) + " calls";
    row(heard.runtime_call.c_str(), calls.c_str());
  }

  CU_CHECK(cuCtxPopCurrent(&primary));
  CU_CHECK(cuDevicePrimaryCtxRelease(device));
  return right && numbers[0] == 7 && numbers[kNumbers - 1] == 7 ? 0 : 1;
}
