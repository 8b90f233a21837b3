// Describes places in a kernel, and faults, to the person who wrote it.
#pragma once
#include "common/simulator/exec/block.hpp"

#include <string>

namespace cudasim {

// Fills in where the instruction that warp.pc has just passed comes from, and which thread ran it.
void locate(Fault& fault, const Warp& warp);
// The same for a fragment that waits.
void locate(Fault& fault, const Warp& warp, const Fragment& fragment);

// "kernels.cu:12", "header.hpp:340 (called from kernels.cu:12)" for an inlined function, or "PTX line 93".
std::string where(const Program& program, const Site& site);
std::string thread_name(const Grid& grid, u64 block, u32 thread);  // "(3,0,0) of block (0,0,0)"
// What is at an address of shared memory: "byte 12 of 'tile', byte 140 of the block's shared memory".
std::string shared_name(const Grid& grid, u64 address);

// Reports an access that only a GPU would let pass, unless the same instruction has been reported already.
void tell_tolerated(Fault fault, const Warp& warp);

std::string unscoped(const std::string& variable);  // "tile" for what a compiler calls a kernel's variable tile

// Why a call or alloca fails, and what the program can do about it.
std::string no_stack_left(const Grid& grid);

// The report of a fault for stderr, several lines.
std::string report(const Fault& fault);
const char* name(FaultKind kind);

}  // namespace cudasim
