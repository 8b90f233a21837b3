// The functions that every kernel may call: vprintf, malloc, free, __assertfail, cudaGraphSetConditional; and the one
// behind those of the linked device runtime.
#pragma once
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/memory/address_space.hpp"

namespace cudasim {

void call_builtin(Warp& warp, const CallSite& site, Builtin builtin);

// The name of the last one. It takes a function's number and the bytes of its arguments.
constexpr const char* kDeviceRuntimeCall = "cudasim_device_runtime";

// What malloc and free in a kernel do. heap_allocate: 0 if there is no room.
u64 heap_allocate(const Launch& launch, u64 size);
void heap_free(Warp& warp, u32 lane, u64 address);

// Whether malloc in a kernel made it.
bool from_heap(const Allocation& a);

}  // namespace cudasim
