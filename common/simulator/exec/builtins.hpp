// The functions of the device runtime: vprintf, malloc, free, __assertfail, cudaGraphSetConditional.
#pragma once
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/memory/address_space.hpp"

namespace cudasim {

void call_builtin(Warp& warp, const CallSite& site, Builtin builtin);

// Whether malloc in a kernel made it.
bool from_heap(const Allocation& a);

}  // namespace cudasim
