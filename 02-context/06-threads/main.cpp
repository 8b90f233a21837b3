// Starts other threads while the main thread has a current context, and shows what each of them can do.
#include "common/cu.hpp"

#include <future>
#include <vector>

constexpr int kNumbers = 1 << 20;
constexpr int kWorkers = 4;
constexpr int kShare = kNumbers / kWorkers;

// Prints a call with its result and the current context of the calling thread. Throws if the result is not `expected`.
void row(const char* thread, const char* call, CUresult expected, CUresult result) {
  CUcontext current;
  CU_THROW(cuCtxGetCurrent(&current));
  std::printf("%-8s| %-26s| %-27s| %s\n", thread, call, cu::name(result), current != nullptr ? "ours" : "none");
  if (result != expected) throw cu::Error(result, std::string(call) + " should return " + cu::name(expected));
}

// Runs `work` on a new thread. The future's get() waits for it, and rethrows an exception that `work` has thrown.
template <class Work>
std::future<void> start(Work work) {
  return std::async(std::launch::async, work);
}

int main() try {
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, 0));
  CUcontext context;
  CU_THROW(cuDevicePrimaryCtxRetain(&context, device));
  CU_THROW(cuCtxSetCurrent(context));
  CUdeviceptr memory;

  std::printf("thread  | call                      | result                     | current context\n");
  row("main", "cuMemAlloc", CUDA_SUCCESS, cuMemAlloc(&memory, kNumbers * sizeof(int)));

  CUdeviceptr more;
  start([&] {
    row("worker", "(starts)", CUDA_SUCCESS, CUDA_SUCCESS);
    row("worker", "cuMemAlloc", CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&more, 4));
    row("worker", "cuCtxSetCurrent", CUDA_SUCCESS, cuCtxSetCurrent(context));
    row("worker", "cuMemAlloc", CUDA_SUCCESS, cuMemAlloc(&more, 4));
  }).get();
  row("main", "cuMemFree (worker's)", CUDA_SUCCESS, cuMemFree(more));

  // Four workers use the context at the same time. Each fills its quarter of the memory with its number.
  std::vector<std::future<void>> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.push_back(start([=] {
      CU_THROW(cuCtxSetCurrent(context));
      CU_THROW(cuMemsetD32(memory + w * kShare * sizeof(int), w, kShare));
    }));
  }
  for (std::future<void>& worker : workers) worker.get();
  std::vector<int> numbers(kNumbers);
  row("main", "cuMemcpyDtoH", CUDA_SUCCESS, cuMemcpyDtoH(numbers.data(), memory, kNumbers * sizeof(int)));
  for (int i = 0; i < kNumbers; ++i) {
    if (numbers[i] != i / kShare) return 1;
  }

  // Main hands the context over to another thread, which releases it.
  CUcontext popped;
  row("main", "cuCtxPopCurrent", CUDA_SUCCESS, cuCtxPopCurrent(&popped));
  start([&] {
    row("heir", "cuCtxPushCurrent", CUDA_SUCCESS, cuCtxPushCurrent(popped));
    row("heir", "cuMemFree (main's)", CUDA_SUCCESS, cuMemFree(memory));
    row("heir", "cuCtxPopCurrent", CUDA_SUCCESS, cuCtxPopCurrent(&popped));
    row("heir", "cuDevicePrimaryCtxRelease", CUDA_SUCCESS, cuDevicePrimaryCtxRelease(device));
  }).get();
  row("main", "(end)", CUDA_SUCCESS, CUDA_SUCCESS);
  return 0;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
