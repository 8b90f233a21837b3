// How the simulator's inside says that a call fails: by throwing the code. api/guard.hpp turns it into the answer.
#pragma once
#include "common/simulator/names.hpp"

namespace cudasim {

struct Failure {
  CUresult code;
};

[[noreturn]] inline void fail(CUresult code) { throw Failure{code}; }

// The usual first line of a call: what the manual demands of its arguments.
inline void require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) fail(otherwise);
}

}  // namespace cudasim
