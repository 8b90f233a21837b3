// Data races between two launches: both touch the same bytes of global memory, one of them writes, and nothing
// orders them.
//
// Two launches may run at the same time if the second is entered before the first has ended, and does not come after it
// by stream, event or graph. (A first one that has ended in time may have been waited for; nothing is said of it.)
// Whether they do run at the same time does not matter. Launches that talk to each other, by strong accesses to the
// same place, are left alone; so are writes of what is there already.
#pragma once
#include <vector>

namespace cudasim {

class GridRaces;

// From the scheduler: a task is entered, comes to run on this thread, ends.
void launches_enter(const void* task, bool is_kernel, const std::vector<const void*>& after);
void launches_run(const void* task);
void launches_end(const void* task);

// The grid that this thread runs has ended, having touched all this.
void launches_left(GridRaces& races);

}  // namespace cudasim
