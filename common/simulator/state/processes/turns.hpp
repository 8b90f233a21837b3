// Time slices: a device runs the kernels of one process of a family at a time. The kernels of the other processes wait
// between two blocks, or within a block that runs for long.
#pragma once
#include "common/simulator/types.hpp"

#include <chrono>
#include <optional>

namespace cudasim {

// From when to when this process has had the device.
struct TurnTaken {
  std::chrono::steady_clock::time_point begin, end;
};

// Before a kernel of this process begins: waits for the turn. Without a family, these functions do nothing.
void enter_turns(u32 device);
// While it runs: if the turn is over and another process waits, lets the others go first.
std::optional<TurnTaken> next_turn(u32 device);
// When it has ended. The turn ends with the last kernel.
std::optional<TurnTaken> leave_turns(u32 device);

}  // namespace cudasim
