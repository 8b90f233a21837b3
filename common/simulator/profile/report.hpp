// The sum of what has been counted: a table on stderr and a file when the process ends.
#pragma once

namespace cudasim {

class Counter;
struct Grid;

// A grid has ended, or has been stopped.
void record_profile(const Grid& grid, const Counter& counter);

}  // namespace cudasim
