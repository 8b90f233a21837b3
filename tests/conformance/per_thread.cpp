// The names that end in _ptsz and _ptds: what a program compiled for per-thread default streams calls.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "tests/conformance/scenario.hpp"

#include <atomic>
#include <thread>

namespace {

void CUDA_CB wait_for(void* flag) {
  while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

FRESH_CASE("With per-thread default streams, one thread's work does not hold up another's", "[streams]") {
  const conformance::Context made = conformance::context();
  std::atomic<bool> go{false};
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  CU_CHECK(cuLaunchHostFunc(0, wait_for, &go));  // this thread's default stream waits
  ANSWERS(cuStreamQuery(0), CUDA_ERROR_NOT_READY);
  unsigned got = 0;
  std::thread([&] {
    CU_CHECK(cuCtxSetCurrent(made.ctx));
    ANSWERS(cuStreamQuery(0), CUDA_SUCCESS);
    ANSWERS(cuMemsetD32(p, 5, 1024), CUDA_SUCCESS);
    ANSWERS(cuMemcpyDtoH(&got, p, 4), CUDA_SUCCESS);
  }).join();
  CHECK(got == 5);
  ANSWERS(cuStreamQuery(0), CUDA_ERROR_NOT_READY);
  go = true;
  ANSWERS(cuStreamSynchronize(0), CUDA_SUCCESS);
}
