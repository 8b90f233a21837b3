// Grids that a kernel launches itself (dynamic parallelism): the device runtime (device_runtime.cpp) writes them down
// in a table of its module; they run when their parent's grid has ended, and belong to it: the parent is done when they
// are. Nothing on the device can wait for a child (that went with the first version of dynamic parallelism), so nobody
// sees that they begin late.
#pragma once
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/state/failure.hpp"
#include "common/simulator/types.hpp"

#include <functional>
#include <string>

namespace cudasim {

// One launch, as the device runtime writes it down.
struct ChildLaunch {
  u32 state;  // 0: free, 1: being filled, 2: launched
  u32 dynamic_shared;
  u64 order;
  u64 grid;  // %gridid of the parent
  u64 function;
  u64 stream;  // 3: cudaStreamTailLaunch
  Dim3 blocks, threads;
  std::byte parameters[4096];
};
static_assert(sizeof(ChildLaunch) == 64 + 4096);
constexpr u32 kMostChildren = 2048;  // CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
constexpr const char* kChildTable = "cudasim_children";

// The table, an array of kMostChildren, in a module's memory: kernels store their children's parameters there.
struct ChildTable {
  ChildLaunch* launches = nullptr;  // null if the program has none
  u64 address = 0;                  // on the device
};
ChildTable child_table(const Program& program);

// A variable that the device runtime has brought into a program; null if it has not.
const Global* runtime_variable(const Program& program, std::string_view name);

// The kernel at an address on the device; null if there is none.
const Kernel* kernel_at(const Program& program, u64 address);
u64 address_of(const Kernel& kernel);

// Why the device cannot have a child; empty if it can.
std::string why_not(const Kernel& kernel, const ChildLaunch& child);

// What the grid of `parent`, which has ended, launched, in its order; each with its own children. `run` runs a grid.
CUresult run_children(const Launch& parent, const std::function<CUresult(const Launch&)>& run);

// Numbers grids: %gridid.
u64 next_grid_id();

}  // namespace cudasim
