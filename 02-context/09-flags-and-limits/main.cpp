// Waits for the same work under each scheduling flag, then asks for the limits of a context and changes them.
#include "common/cu.hpp"

#include <chrono>
#include <ctime>
#include <thread>

constexpr auto kWork = std::chrono::milliseconds(50);

double cpu_ms_of_this_thread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

// One row: how long this thread waited in cuCtxSynchronize, and how much of a CPU it kept busy meanwhile.
void wait_with(CUdevice device, const char* flag, unsigned flags) {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, flags, device));
  unsigned told;
  CU_CHECK(cuCtxGetFlags(&told));
  CU_CHECK(cuLaunchHostFunc(
      nullptr, [](void*) { std::this_thread::sleep_for(kWork); }, nullptr));
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_ms_of_this_thread();
  CU_CHECK(cuCtxSynchronize());
  const std::chrono::duration<double, std::milli> waited = std::chrono::steady_clock::now() - start;
  std::printf("%-28s| %5u | %6.1f ms | %6.1f ms\n", flag, told, waited.count(), cpu_ms_of_this_thread() - cpu);
  CU_CHECK(cuCtxDestroy(context));
}

// One row: a limit's value at first, what was asked for, and the value then. False if the answer is not `expected`.
bool set_limit(const char* name, CUlimit limit, std::size_t wanted, CUresult expected = CUDA_SUCCESS) {
  std::size_t before = 0, after = 0;
  const CUresult asked = cuCtxGetLimit(&before, limit);
  const CUresult set = cuCtxSetLimit(limit, wanted);
  if (set == CUDA_SUCCESS) {
    CU_CHECK(cuCtxGetLimit(&after, limit));
    std::printf("%-32s| %9zu | %9zu | %9zu\n", name, before, wanted, after);
  } else {
    std::printf("%-32s| %9s | %9zu | %s\n", name, "-", wanted, cu::name(set));
  }
  return set == expected && asked == expected && after >= (expected == CUDA_SUCCESS ? wanted : 0);
}

double mib_in_use() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return (total - free) / 1048576.0;
}

int main() {
  CUdevice device;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));

  std::printf("to wait for 50 ms of work   | flags | it took   | the CPU worked for\n");
  wait_with(device, "CU_CTX_SCHED_AUTO", CU_CTX_SCHED_AUTO);
  wait_with(device, "CU_CTX_SCHED_SPIN", CU_CTX_SCHED_SPIN);
  wait_with(device, "CU_CTX_SCHED_YIELD", CU_CTX_SCHED_YIELD);
  wait_with(device, "CU_CTX_SCHED_BLOCKING_SYNC", CU_CTX_SCHED_BLOCKING_SYNC);

  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  std::printf("\nlimit                           | at first  | asked for | then\n");
  bool right = set_limit("CU_LIMIT_STACK_SIZE", CU_LIMIT_STACK_SIZE, 5000);
  right &= set_limit("CU_LIMIT_PRINTF_FIFO_SIZE", CU_LIMIT_PRINTF_FIFO_SIZE, 1000);
  right &= set_limit("CU_LIMIT_MALLOC_HEAP_SIZE", CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20);
  right &=
      set_limit("CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH", CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 1, CUDA_ERROR_UNSUPPORTED_LIMIT);

  // A stack for every thread that could run at once: that is what the number is multiplied by.
  int multiprocessors, threads;
  CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  CU_CHECK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device));
  std::printf("\nstack  | for %d threads at once | device memory in use\n", multiprocessors * threads);
  for (std::size_t stack : {1024, 4096, 8192, 16384}) {
    CU_CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, stack));
    std::printf("%6zu | %18.0f MiB | %.0f MiB\n", stack, stack / 1048576.0 * multiprocessors * threads, mib_in_use());
  }
  CU_CHECK(cuCtxDestroy(context));
  return right ? 0 : 1;
}
