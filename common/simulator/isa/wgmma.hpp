// What the translation of a function tells the instruction wgmma.
#pragma once
#include "common/simulator/types.hpp"

namespace cudasim {

// Bit of Instruction::control, for wgmma.mma_async, wgmma.commit_group and wgmma.wait_group: the function reads sums
// that may be unfinished, so they stay as they were until the wait for their group.
constexpr u32 kDeferred = 1u << 31;

}  // namespace cudasim
