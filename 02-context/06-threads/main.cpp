// Starts threads beside a thread that has a context, and shows what each of them can do.
#include "common/cu.hpp"

#include <thread>
#include <vector>

constexpr int kNumbers = 1 << 20;

// One row, with the context that is current for the thread that prints it.
void row(const char* thread, const char* call, CUresult answer) {
  CUcontext context;
  CU_CHECK(cuCtxGetCurrent(&context));
  std::printf("%-8s| %-24s| %-27s| %s\n", thread, call, cu::name(answer), context ? "ours" : "none");
}

int main() {
  CUdevice device;
  CUcontext context, popped;
  CUdeviceptr memory, more;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  CU_CHECK(cuMemAlloc(&memory, kNumbers * sizeof(int)));

  std::printf("thread  | call                    | answer                     | current for it\n");
  row("main", "cuMemAlloc", CUDA_SUCCESS);

  // The worker that forgot: it has the handle in scope, and nothing on its stack.
  std::thread([&] {
    row("worker", "(it starts)", CUDA_SUCCESS);
    row("worker", "cuMemAlloc", CU_EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&more, 4)));
    row("worker", "cuCtxSetCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxSetCurrent(context)));
    row("worker", "cuMemAlloc", CU_EXPECT(CUDA_SUCCESS, cuMemAlloc(&more, 4)));
  }).join();
  row("main", "cuMemFree, the worker's", CU_EXPECT(CUDA_SUCCESS, cuMemFree(more)));

  // Many workers in one context, at once: each fills its share of the same memory.
  constexpr int kWorkers = 4, kShare = kNumbers / kWorkers;
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([=] {
      CU_CHECK(cuCtxSetCurrent(context));
      CU_CHECK(cuMemsetD32(memory + w * kShare * sizeof(int), w, kShare));
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::vector<int> numbers(kNumbers);
  row("main", "cuMemcpyDtoH", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoH(numbers.data(), memory, kNumbers * sizeof(int))));
  for (int i = 0; i < kNumbers; ++i) {
    if (numbers[i] != i / kShare) return 1;
  }

  // Handing over: off this thread's stack, onto another's. The context itself does not notice.
  row("main", "cuCtxPopCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxPopCurrent(&popped)));
  std::thread([&] {
    row("heir", "cuCtxPushCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxPushCurrent(popped)));
    row("heir", "cuMemFree, main's", CU_EXPECT(CUDA_SUCCESS, cuMemFree(memory)));
    row("heir", "cuCtxDestroy", CU_EXPECT(CUDA_SUCCESS, cuCtxDestroy(popped)));
  }).join();
  row("main", "(the end)", CUDA_SUCCESS);
  return 0;
}
