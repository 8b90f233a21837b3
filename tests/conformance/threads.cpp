// Many threads at once, each with memory, streams and copies of its own, in one context.
#include "tests/conformance/scenario.hpp"

#include <sys/resource.h>

#include <atomic>
#include <thread>

namespace {

// Counts what goes wrong; Catch2's checks are for one thread.
void work(CUcontext context, unsigned number, int rounds, std::atomic<int>& wrong) {
  const auto must = [&](CUresult result) { wrong += result != CUDA_SUCCESS; };
  must(cuCtxSetCurrent(context));
  constexpr std::size_t n = 1 << 14;
  CUstream s = nullptr;
  void* pinned = nullptr;
  must(cuStreamCreate(&s, number % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
  must(cuMemAllocHost(&pinned, n));
  unsigned* const words = static_cast<unsigned*>(pinned);
  std::vector<unsigned> pageable(n / 4);
  for (int round = 0; round < rounds; ++round) {
    const unsigned value = number * 1000 + static_cast<unsigned>(round);
    CUdeviceptr a = 0, b = 0;
    must(cuMemAlloc(&a, n));
    must(cuMemAllocAsync(&b, n, s));
    must(cuMemsetD32Async(a, value, n / 4, s));
    must(cuMemcpyDtoDAsync(b, a, n, s));
    must(cuMemcpyDtoHAsync(words, b, n, s));
    must(cuStreamSynchronize(s));
    wrong += words[0] != value || words[n / 4 - 1] != value;
    words[5] = value + 1;
    must(cuMemcpyHtoDAsync(b, words, n, s));
    must(cuMemcpyDtoHAsync(pageable.data(), b, n, s));
    wrong += pageable[5] != value + 1;
    must(cuMemFreeAsync(b, s));
    must(cuMemFree(a));
  }
  must(cuStreamDestroy(s));
  must(cuMemFreeHost(pinned));
}

}  // namespace

FRESH_CASE("Sixteen threads allocate, copy and free at the same time", "[threads][alone]") {
  const conformance::Context made = conformance::context();
  std::size_t before = 0, after = 0, total = 0;
  CU_CHECK(cuMemGetInfo(&before, &total));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 16; ++i) threads.emplace_back([&, i] { work(made.ctx, i, 100, wrong); });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CU_CHECK(cuMemGetInfo(&after, &total));
  if (conformance::on_simulator()) CHECK(before == after);
}

// A GPU's driver crashes in the waiting thread, so only a simulated device is asked.
FRESH_CASE("A thread that waits for a stream returns even if another thread destroys the context", "[threads]") {
  const auto F = conformance::module();
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver (580) crashes here");
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  long long nanoseconds = 300'000'000;
  void* arguments[] = {&nanoseconds};
  CU_CHECK(cuLaunchKernel(F("spin"), 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr));
  CUresult waited = CUDA_ERROR_UNKNOWN;
  std::thread waiter([&] {
    cuCtxSetCurrent(F.ctx);
    waited = cuStreamSynchronize(s);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ANSWERS(cuCtxDestroy(F.ctx), CUDA_SUCCESS);
  waiter.join();
  ANSWERS(waited, CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

// No manual promises that a GPU's driver can do without threads of its own, so only the simulator is tested.
FRESH_CASE("Where the system gives no more threads, those that there are do the work", "[threads]",
           {"CUDASIM_THREADS", "8"}) {
  const conformance::Module loaded = conformance::module();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) SKIP_TEST("root may have as many as it likes");
  const rlimit one{1, 1};
  REQUIRE(setrlimit(RLIMIT_NPROC, &one) == 0);
  CUfunction inc = nullptr;
  CUdeviceptr counter = 0;
  CUstream stream = nullptr;
  ANSWERS(cuModuleGetFunction(&inc, loaded.mod, "inc"), CUDA_SUCCESS);
  ANSWERS(cuModuleGetGlobal(&counter, nullptr, loaded.mod, "counter"), CUDA_SUCCESS);
  ANSWERS(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(inc, 1000, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(stream), CUDA_SUCCESS);
  int counted = 0;
  ANSWERS(cuMemcpyDtoH(&counted, counter, sizeof counted), CUDA_SUCCESS);
  SHOWS("64000", counted);
}
