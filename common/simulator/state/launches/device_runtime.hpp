// The functions of libcudadevrt with which kernels launch grids, allocate, fill and copy memory, and query devices and
// errors (cuda_device_runtime_api.h; CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). The linker gets a few
// lines of PTX for each, which pass the arguments to the simulator.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <functional>
#include <string>

namespace cudasim {

// The functions that are `wanted`, by name, as a PTX module with what they need; empty if none is. It has to be the
// last one of a link.
std::string device_runtime_module(const std::function<bool(const std::string& name)>& wanted);

// A thread's call of one of them.
u64 call_device_runtime(Warp& warp, u32 lane, u32 function, const std::byte* arguments);

}  // namespace cudasim
