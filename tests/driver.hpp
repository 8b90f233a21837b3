// What the checks of several lessons ask the driver, and how a check listens in on an answer's calls.
#pragma once
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <dlfcn.h>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

// A check that fails tells the driver's answer by its name.
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

// A function of the program takes the place of a library's of the same name. A check that defines cuCtxDestroy, say,
// gets the answer's calls, counts them, and hands them on:
//   return DRIVERS(cuCtxDestroy)(context);
// The name passes through a second macro, so that cuda.h turns it into the one that is exported, cuCtxDestroy_v2.
#define DRIVERS(call) DRIVERS_NAMED(call)
#define DRIVERS_NAMED(call) reinterpret_cast<decltype(&call)>(dlsym(RTLD_NEXT, #call))

// What the driver answers on a bad day. A check that lists the calls which an answer may make, outside its namespaces,
//   MAY_BE_REFUSED(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
// can have one of them refused: while there is a Refusal("cuDeviceGet", 2), the second such call is not handed on.
constexpr CUresult kRefused = CUDA_ERROR_OPERATING_SYSTEM;  // none of these calls answers that by itself

class Refusal {
 public:
  explicit Refusal(std::string call, int turn = 1) : call_(std::move(call)), turn_(turn) { now_ = this; }
  ~Refusal() { now_ = nullptr; }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  // Has it come to that? Whoever never makes the call need not look at its answer.
  bool met() const { return made_ >= turn_; }
  // For INFO: "cuDeviceGet was refused".
  std::string told() const {
    return (turn_ == 1 ? "" : "call number " + std::to_string(turn_) + " of ") + call_ + " was refused";
  }
  static bool meets(const char* call) { return now_ != nullptr && now_->call_ == call && ++now_->made_ == now_->turn_; }

 private:
  std::string call_;
  int turn_, made_ = 0;
  inline static Refusal* now_ = nullptr;
};

#define MAY_BE_REFUSED(call, parameters, arguments)                    \
  CUresult CUDAAPI call parameters {                                   \
    return Refusal::meets(#call) ? kRefused : DRIVERS(call) arguments; \
  }

// Has the answer run with each of these calls refused, one after the other, the first four times that it is made. An
// answer that goes on as if nothing had happened is told of in a sentence; "" if it throws cu::Error each time.
inline std::string goes_on(std::initializer_list<const char*> calls, const std::function<void()>& answer) {
  for (const char* call : calls) {
    for (int turn = 1; turn <= 4; ++turn) {
      const Refusal refusal(call, turn);
      try {
        answer();
      } catch (const cu::Error&) {
        continue;
      }
      if (refusal.met()) return refusal.told() + ", and no cu::Error was thrown";
    }
  }
  return "";
}
