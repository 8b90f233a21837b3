// Starts other threads while the main thread has a current context, shows what each of them can do, and measures
// whether several threads call the driver faster than one.
#include "common/cu.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
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

// A kernel that does nothing, as PTX.
const char* const kNothing = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";

// Milliseconds for 480 calls of `call`, which `threads` threads share. Each thread has a stream of its own.
double milliseconds(int threads, CUcontext context, const std::function<void(CUstream)>& call) {
  constexpr int kCalls = 480;
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int run = 0; run < 15; ++run) {
    const std::vector<cu::Stream> streams(threads);
    std::vector<Clock::time_point> begin(threads), end(threads);
    std::vector<std::future<void>> workers;
    std::atomic<int> ready{0};
    for (int t = 0; t < threads; ++t) {
      workers.push_back(start([&, t] {
        CU_THROW(cuCtxSetCurrent(context));
        call(streams[t].handle);
        ++ready;
        while (ready < threads) std::this_thread::yield();
        begin[t] = Clock::now();
        for (int i = 0; i < kCalls / threads; ++i) call(streams[t].handle);
        end[t] = Clock::now();
      }));
    }
    for (std::future<void>& worker : workers) worker.get();
    CU_THROW(cuCtxSynchronize());
    const auto all = *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
    times.push_back(std::chrono::duration<double, std::milli>(all).count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void compare_threads(CUcontext context) {
  const auto compare = [context](const char* name, const std::function<void(CUstream)>& call) {
    std::printf("%-32s | %5.2f ms | %5.2f ms\n", name, milliseconds(1, context, call), milliseconds(4, context, call));
  };
  const cu::Memory target(4);
  CUmodule module;
  CUfunction nothing;
  CU_THROW(cuModuleLoadData(&module, kNothing));
  CU_THROW(cuModuleGetFunction(&nothing, module, "nothing"));
  std::printf("\n480 calls of                     | 1 thread | 4 threads\n");
  compare("cuMemAllocAsync + cuMemFreeAsync", [](CUstream stream) {
    CUdeviceptr memory;
    CU_THROW(cuMemAllocAsync(&memory, 1 << 20, stream));
    CU_THROW(cuMemFreeAsync(memory, stream));
  });
  compare("cuMemsetD8Async", [&](CUstream stream) { CU_THROW(cuMemsetD8Async(target.address, 0, 4, stream)); });
  compare("cuLaunchKernel",
          [&](CUstream stream) { CU_THROW(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr)); });
  CU_THROW(cuModuleUnload(module));
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

  compare_threads(context);
  std::printf("\n");

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
