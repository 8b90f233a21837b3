// Inside the simulator, a call fails by throwing a Failure. api/guard.hpp turns it into the result.
#pragma once
#include "common/simulator/names.hpp"

#include <string>

namespace cudasim {

struct Failure {
  CUresult code;
  std::string why;  // for CUDASIM_TRACE=api and the driver's log: what the code does not say; a sentence,
                    // and perhaps lines of a text below it
};

[[noreturn]] inline void fail(CUresult code, std::string why = {}) { throw Failure{code, std::move(why)}; }

// The usual first line of a call: what the manual demands of its arguments.
inline void require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) fail(otherwise);
}

// The same where `why()` has more to say than the code: called for what fails only.
template <class Why>
void require(bool condition, CUresult otherwise, Why why) {
  if (!condition) fail(otherwise, why());
}

}  // namespace cudasim
