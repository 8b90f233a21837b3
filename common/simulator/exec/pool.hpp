// The threads of the machine that help grids along.
#pragma once
#include "common/simulator/exec/grid.hpp"

namespace cudasim {

// As many as the machine has cores, or CUDASIM_THREADS; the thread that calls run() is one of them.
u32 machine_threads();

// Idle threads of the pool come to work on the grid.
void offer(Grid& grid);
// No more come, and those that work on it have left when this returns.
void withdraw(Grid& grid);

}  // namespace cudasim
