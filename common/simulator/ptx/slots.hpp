// Slots for virtual registers: two whose intervals do not overlap may share one.
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/ptx/flow.hpp"

#include <vector>

namespace cudasim::ptx {

struct SlotMap {
  std::vector<Slot> slot;  // by virtual register
  u32 bytes = 0;           // of the frame
  u32 words = 0;           // 32-bit registers that are in use at the same time, at most
};

SlotMap allot(const std::vector<Interval>& intervals, const std::vector<Type>& types);

}  // namespace cudasim::ptx
