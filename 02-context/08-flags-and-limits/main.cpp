// Waits for the same work with each scheduling flag, then changes the limits of a context and shows what they cost.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "controls.hpp"

#include <chrono>
#include <ctime>
#include <thread>

constexpr auto kWork = std::chrono::milliseconds(50);

double cpu_ms_of_this_thread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

// Waits for 50 ms of work, and prints how long that took and how much CPU time the waiting thread used.
void wait_with(const char* name, unsigned flag) {
  CU_THROW(cuCtxSetFlags(flag));
  unsigned flags;
  CU_THROW(cuCtxGetFlags(&flags));
  CU_THROW(cuLaunchHostFunc(nullptr, [](void*) { std::this_thread::sleep_for(kWork); }, nullptr));
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_ms_of_this_thread();
  CU_THROW(cuCtxSynchronize());
  const std::chrono::duration<double, std::milli> waited = std::chrono::steady_clock::now() - start;
  flags &= CU_CTX_SCHED_MASK;  // a primary context also has CU_CTX_MAP_HOST
  std::printf("%-28s| %5u | %6.1f ms | %6.1f ms\n", name, flags, waited.count(), cpu_ms_of_this_thread() - cpu);
}

// Requests a new value for a limit, and prints the values before and after. Returns the result of the request.
CUresult request(const char* name, CUlimit limit, std::size_t value) {
  std::size_t before = 0, after = 0;
  const CUresult known = cuCtxGetLimit(&before, limit);
  if (known == CUDA_ERROR_UNSUPPORTED_LIMIT) {
    std::printf("%-32s| not supported\n", name);
    return known;
  }
  CU_THROW(known);
  const CUresult result = cuCtxSetLimit(limit, value);
  CU_THROW(cuCtxGetLimit(&after, limit));
  const std::string shown = result == CUDA_SUCCESS ? std::to_string(after) : cu::name(result);
  std::printf("%-32s| %9zu | %9zu | %s\n", name, before, value, shown.c_str());
  return result;
}

std::size_t bytes_in_use() {
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return total - free;
}

// Launches a kernel with one thread and checks its result.
void run(const cu::Module& module, const char* kernel) {
  const cu::Memory out(sizeof(unsigned));
  CUdeviceptr address = out.address;
  unsigned n = 3, result = 0;
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(module.function(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuMemcpyDtoH(&result, out.address, sizeof result));
  const unsigned expected = std::string(kernel) == "deep" ? 2 * n : n;
  if (result != expected) throw std::runtime_error(std::string(kernel) + " computed a wrong result");
}

int main(int count, char** arguments) try {
  if (count > 1 && arguments[1] == std::string("--controls")) return controls::run();
  cu::Primary context;
  std::printf("waiting for 50 ms of work   | flags | time      | CPU time of the waiting thread\n");
  wait_with("CU_CTX_SCHED_AUTO", CU_CTX_SCHED_AUTO);
  wait_with("CU_CTX_SCHED_SPIN", CU_CTX_SCHED_SPIN);
  wait_with("CU_CTX_SCHED_YIELD", CU_CTX_SCHED_YIELD);
  wait_with("CU_CTX_SCHED_BLOCKING_SYNC", CU_CTX_SCHED_BLOCKING_SYNC);

  const cu::Module module(cu::image("kernels.ptx"));
  std::printf("\nlimit                           | before    | requested | after\n");
  CU_THROW(request("CU_LIMIT_STACK_SIZE", CU_LIMIT_STACK_SIZE, 5000));
  CU_THROW(request("CU_LIMIT_PRINTF_FIFO_SIZE", CU_LIMIT_PRINTF_FIFO_SIZE, 1000));
  CU_THROW(request("CU_LIMIT_MALLOC_HEAP_SIZE", CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20));
  run(module, "use_heap");
  CU_EXPECT(CUDA_ERROR_INVALID_VALUE, request("  after a kernel has used it", CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 27));
  request("CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH", CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4);

  int multiprocessors, threads;
  CU_THROW(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
  CU_THROW(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, context.device));
  const std::size_t stacks = static_cast<std::size_t>(multiprocessors) * threads;

  CU_THROW(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  const std::size_t before = bytes_in_use();
  const auto row = [&](const char* what) {
    std::size_t stack;
    CU_THROW(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
    const auto grown = static_cast<long long>(bytes_in_use()) - static_cast<long long>(before);
    std::printf("%-32s| %11zu | %6zu MiB | %lld MiB\n", what, stack, (stack - 1024) * stacks >> 20, grown >> 20);
    return stack;
  };
  std::printf("\nup to %zu threads run at a time\n", stacks);
  std::printf("%-32s| stack limit | computed   | more memory in use\n", "");
  row("cuCtxSetLimit, 1 KiB");
  for (std::size_t kib : {4, 8, 16}) {
    CU_THROW(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, kib << 10));
    row(("cuCtxSetLimit, " + std::to_string(kib) + " KiB").c_str());
  }
  CU_THROW(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  row("cuCtxSetLimit, 1 KiB");
  run(module, "deep");
  const std::size_t grown = row("a kernel that needs 8 KiB");
  run(module, "shallow");
  row("a kernel that needs none");
  CU_THROW(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  row("cuCtxSetLimit, 1 KiB");
  return grown >= 8192 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
