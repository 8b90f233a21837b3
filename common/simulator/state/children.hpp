// Grids that a kernel launches itself (dynamic parallelism): the device runtime (device_runtime.hpp) writes them down
// in a table of its module; they run when their parent's grid has ended, and belong to it: the parent is done when they
// are. Nothing on the device can wait for a child (that went with the first version of dynamic parallelism), so nobody
// sees that they begin late.
#pragma once
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/state/failure.hpp"
#include "common/simulator/types.hpp"

#include <functional>

namespace cudasim {

// One launch, as the device runtime writes it down. device_runtime.hpp knows these offsets.
struct ChildLaunch {
  u32 state;  // 0: free, 1: being filled, 2: launched
  u32 order;
  u64 grid;  // %gridid of the parent
  u64 function;
  u64 stream;  // 3: cudaStreamTailLaunch
  u32 blocks[3], threads[3];
  u32 dynamic_shared;
  u32 unused;
  std::byte parameters[4096];
};
static_assert(sizeof(ChildLaunch) == 64 + 4096);
constexpr u32 kMostChildren = 2048;  // CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
constexpr const char* kChildTable = "cudasim_children";

// What the grid of `parent`, which has ended, launched, in its order; each with its own children. `run` runs a grid.
CUresult run_children(const Launch& parent, const std::function<CUresult(const Launch&)>& run);

// Numbers grids: %gridid.
u64 next_grid_id();

}  // namespace cudasim
