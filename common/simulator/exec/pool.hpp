// The threads of the machine that help grids along.
#pragma once
#include "common/simulator/exec/grid.hpp"

namespace cudasim {

// As many as the machine has cores, or CUDASIM_THREADS; the thread that calls run() is one of them.
u32 machine_threads();

// Idle threads of the pool come to work on the grid, and those that help less urgent ones.
void offer(Grid& grid);
// True if a grid that is more urgent than one of this priority could do with another thread.
bool is_needed_elsewhere(int priority);
// No more come, and those that work on it have left when this returns.
void withdraw(Grid& grid);

}  // namespace cudasim
