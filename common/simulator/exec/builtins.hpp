// The functions of the device runtime: vprintf, malloc, free, __assertfail, cudaGraphSetConditional.
#pragma once
#include "common/simulator/exec/pseudo.hpp"

namespace cudasim {

void call_builtin(Warp& warp, const CallSite& site, Builtin builtin);

}  // namespace cudasim
