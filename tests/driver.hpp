// Driver helpers that several checks share, and the means to intercept the driver calls of a learner's solution.
#pragma once
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <dlfcn.h>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

// A failed check prints a CUresult by its name.
template <>
struct Catch::StringMaker<CUresult> {
  static std::string convert(CUresult answer) { return cu::name(answer); }
};

inline CUcontext current() {
  CUcontext context = nullptr;
  CU_CHECK(cuCtxGetCurrent(&context));
  return context;
}

// Free bytes on the device of the current context.
inline std::size_t free_bytes() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return free;
}

// A function in the program replaces a library function of the same name. A check that defines cuCtxDestroy, for
// example, receives the calls of the learner's solution, counts them, and forwards them to the driver:
//   return DRIVERS(cuCtxDestroy)(context);
// The name passes through a second macro, so that cuda.h replaces it with the exported name, cuCtxDestroy_v2.
#define DRIVERS(call) DRIVERS_NAMED(call)
#define DRIVERS_NAMED(call) reinterpret_cast<decltype(&call)>(dlsym(RTLD_NEXT, #call))

// Simulated driver failures. A check lists the calls that a solution may make, outside its namespaces:
//   MAY_BE_REFUSED(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
// While a Refusal("cuDeviceGet", 2) exists, the second such call fails with kRefused and does not reach the driver.
constexpr CUresult kRefused = CUDA_ERROR_OPERATING_SYSTEM;  // none of these calls returns this code by itself

class Refusal {
 public:
  explicit Refusal(std::string call, int turn = 1) : call_(std::move(call)), turn_(turn) { now_ = this; }
  ~Refusal() { now_ = nullptr; }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  // Whether the call was made, and so failed. A solution that never makes it does not have to check it.
  bool met() const { return made_ >= turn_; }
  // For messages: "cuDeviceGet failed".
  std::string message() const {
    return (turn_ == 1 ? "" : "call number " + std::to_string(turn_) + " of ") + call_ + " failed";
  }
  static bool meets(const char* call) { return now_ != nullptr && now_->call_ == call && ++now_->made_ == now_->turn_; }

 private:
  std::string call_;
  int turn_, made_ = 0;
  inline static Refusal* now_ = nullptr;
};

#define MAY_BE_REFUSED(call, parameters, arguments) \
  CUresult CUDAAPI call parameters { return Refusal::meets(#call) ? kRefused : DRIVERS(call) arguments; }

// Runs the solution once for each of these calls and lets that call fail, then again for its second to fourth
// occurrence. Returns "" if the solution throws cu::Error each time; otherwise says which failure it ignored.
inline std::string ignored_failure(std::initializer_list<const char*> calls, const std::function<void()>& solution) {
  for (const char* call : calls) {
    for (int turn = 1; turn <= 4; ++turn) {
      const Refusal refusal(call, turn);
      try {
        solution();
      } catch (const cu::Error&) {
        continue;
      }
      if (refusal.met()) return refusal.message() + ", and the solution did not throw cu::Error";
    }
  }
  return "";
}
