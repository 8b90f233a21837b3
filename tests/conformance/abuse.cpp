// What no program should do, and some do: random calls with stale, foreign and inner pointers. Every result is a code
// of the manual's, and afterwards the context works and all memory is back.
#include "tests/conformance/scenario.hpp"

#include <algorithm>
#include <random>

namespace {

class Abuser {
 public:
  explicit Abuser(unsigned seed) : random_(seed), host_(kHost) {}

  void call() {
    const CUdeviceptr a = pointer(), b = pointer();
    const std::size_t n = size();
    CUdeviceptr made = 0;
    std::size_t s = 0;
    unsigned flags = 0;
    switch (below(16)) {
      case 0:
      case 1:
        if (live_.size() < 64 && judge(cuMemAlloc(&made, n)) == CUDA_SUCCESS) keep(made);
        break;
      case 2:
        if (live_.size() < 64 && judge(cuMemAllocAsync(&made, n, 0)) == CUDA_SUCCESS && made != 0) keep(made);
        break;
      case 3:
        cuCtxSynchronize();  // cuMemFree does not wait for the users of pool memory
        forget(a, judge(cuMemFree(a)));
        break;
      case 4:
        forget(a, judge(cuMemFreeAsync(a, 0)));
        forget(a, judge(cuMemFreeAsync(a, 0)));
        cuCtxSynchronize();
        break;
      case 5: judge(cuMemcpyHtoD(a, host_.data(), std::min(n, kHost))); break;
      case 6: judge(cuMemcpyDtoH(host_.data(), a, std::min(n, kHost))); break;
      case 7: judge(cuMemcpyDtoD(a, b, n)); break;
      case 8: judge(cuMemsetD8(a, 1, n)); break;
      case 9: judge(cuMemsetD32Async(a, 1, n, 0)); break;
      case 10: judge(cuMemsetD2D16(a, below(600), 1, below(300), below(20))); break;
      case 11: judge(cuMemGetAddressRange(&made, &s, a)); break;
      case 12: judge(cuPointerGetAttribute(&s, static_cast<CUpointer_attribute>(below(24)), a)); break;
      case 13: judge(cuMemHostGetFlags(&flags, reinterpret_cast<void*>(a))); break;
      case 14: judge(cuMemHostUnregister(reinterpret_cast<void*>(a))); break;
      default: judge(cuMemFreeHost(reinterpret_cast<void*>(a))); break;
    }
  }

  void finish() {
    for (const CUdeviceptr p : live_) CHECK(cuMemFree(p) == CUDA_SUCCESS);
    live_.clear();
  }

 private:
  static constexpr std::size_t kHost = 1 << 16;

  std::size_t below(std::size_t n) { return random_() % n; }
  CUdeviceptr pick(const std::vector<CUdeviceptr>& from) { return from.empty() ? 0 : from[below(from.size())]; }
  CUdeviceptr pointer() {
    switch (below(8)) {
      case 0: return pick(stale_);
      case 1: return pick(live_) + below(100);
      case 2: return below(2) ? 0 : below(1 << 20);
      case 3: return (CUdeviceptr{random_()} << 32) + random_();
      default: return pick(live_);
    }
  }
  std::size_t size() {
    switch (below(6)) {
      case 0: return 0;
      case 1: return std::size_t{1} << below(64);
      default: return below(5000);
    }
  }
  void keep(CUdeviceptr made) { live_.push_back(made); }
  void forget(CUdeviceptr p, CUresult answer) {
    if (answer != CUDA_SUCCESS) return;
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (live_[i] != p) continue;
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
      stale_.push_back(p);
      if (stale_.size() > 64) stale_.erase(stale_.begin());
      return;
    }
  }
  CUresult judge(CUresult answer) {
    const bool expected = answer == CUDA_SUCCESS || answer == CUDA_ERROR_INVALID_VALUE ||
                          answer == CUDA_ERROR_OUT_OF_MEMORY || answer == CUDA_ERROR_NOT_FOUND ||
                          answer == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED || answer == CUDA_ERROR_NOT_SUPPORTED;
    if (!expected) {
      CAPTURE(cu::name(answer));
      CHECK(expected);
    }
    return answer;
  }

  std::mt19937 random_;
  std::vector<unsigned char> host_;
  std::vector<CUdeviceptr> live_, stale_;
};

}  // namespace

FRESH_CASE("Random calls on random pointers return, and leave the context as it was", "[abuse][alone]") {
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver (580) does not come back from some of these calls");
  conformance::context();
  std::size_t before = 0, after = 0, total = 0;
  CU_CHECK(cuMemGetInfo(&before, &total));
  Abuser abuser(12345);
  for (int i = 0; i < 100000; ++i) abuser.call();
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  abuser.finish();
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  CU_CHECK(cuMemGetInfo(&after, &total));
  CHECK(after == before);
  CUdeviceptr p = 0;
  ANSWERS(cuMemAlloc(&p, 1 << 20), CUDA_SUCCESS);
  ANSWERS(cuMemsetD8(p, 1, 1 << 20), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("Host addresses that are not mapped are refused", "[abuse]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver may end the process here");
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  void* const nowhere = reinterpret_cast<void*>(0x10);
  ANSWERS(cuMemcpyHtoD(p, nowhere, 64), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyDtoH(nowhere, p, 64), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpy(p, 0x10, 64), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostRegister(nowhere, 4096, 0), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("Host memory that the machine does not have is refused", "[abuse]") {
  conformance::context();
  void* h = nullptr;
  ANSWERS(cuMemHostAlloc(&h, std::size_t{1} << 46, 0), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuMemAllocHost(&h, std::size_t{1} << 62), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuMemHostAlloc(&h, 1 << 20, 0), CUDA_SUCCESS);
  ANSWERS(cuMemFreeHost(h), CUDA_SUCCESS);
}
