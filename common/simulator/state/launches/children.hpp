// Grids that a kernel launches itself (dynamic parallelism): the device runtime (device_runtime.cpp) queues them.
// They run after their parent's grid, which counts as done when they are. Nothing on the device can wait for a child
// since the second version of dynamic parallelism, so no program sees that they begin late.
#pragma once
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/state/errors/failure.hpp"
#include "common/simulator/types.hpp"
#include "common/simulator/watch/families.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cudasim {

class Context;

// A launch, and the context that it belongs to, which ends its grids before it ends itself.
struct ContextLaunch : Launch {
  Context* owner = nullptr;
};

// A place in a module's memory where a kernel stores the parameters of a child, which it asks for before it launches.
struct ChildPlace {
  u32 state;  // 0: free, 1: being filled
  u32 dynamic_shared;
  u64 grid;  // %gridid of the parent
  u64 function;
  Dim3 blocks, threads;
  u64 reserved[2];
  std::byte parameters[4096];
};
static_assert(sizeof(ChildPlace) == 64 + 4096);
constexpr u32 kPlaces = 2048;

// All places of a program: an array of kPlaces.
struct ChildTable {
  ChildPlace* places = nullptr;  // null if the program has none
  u64 address = 0;               // on the device
};
ChildTable child_table(const Program& program);

// A free place for a child of the grid. Null if all are taken, or if the context's limit of pending launches is
// reached: the places that have been taken, and the tail launches, count until they begin; of the other children of the
// grid, the latest of each thread (kUnfinished).
ChildPlace* take_place(const ContextLaunch& parent);
// `launched`: put_in_line() has already counted the child as what it is now.
void give_back(Context& context, ChildPlace& place, bool launched = false);

// One launch.
struct Child {
  const Kernel* kernel;
  Dim3 blocks, threads;
  u32 dynamic_shared;
  u64 stream;
  std::vector<std::byte> parameters;
  std::function<void()> then;  // when it has run; empty: nothing
  bool counts = false;         // as a pending launch, until it begins
  std::shared_ptr<const LaunchPoint> from = {};  // for the check for races; null if what the parent does comes before
};
constexpr u64 kTailStream = 3;  // cudaStreamTailLaunch
// The limit of pending launches counts children that have not ended, and on hardware children may end while their
// parent runs. On an H200 (driver 580, limit 2,048), one thread launched 10,240, and eight threads 500 each, because
// most had ended in time; exactly 2,048 succeeded if they waited for their parent, or were tails. Where many threads
// launch, that is faster than children end: 4,096 threads with one launch each got 2,048, 1,024 threads with three each
// 2,113, 128 threads with 40 each 2,464. Here so many latest launches of each thread count as unfinished.
constexpr u32 kUnfinished = 16;
constexpr u32 kMostChildren = 1 << 20;  // of one grid

// `thread` numbers the threads of the grid. False if the grid has launched kMostChildren. `counted`: the context whose
// pending launches have included this one since take_place(). A tail stays among them; any other child is unfinished
// from now on, and another thread's take_place() counts it exactly once.
bool put_in_line(u64 grid, u64 thread, Child child, Context* counted = nullptr);

// A variable that the device runtime has brought into a program; null if it has not.
const Global* runtime_variable(const Program& program, std::string_view name);

// The kernel at an address on the device; null if no kernel is there.
const Kernel* kernel_at(const Program& program, u64 address);
u64 address_of(const Kernel& kernel);

// Why the device cannot have a child; empty if it can.
std::string why_not(const Kernel& kernel, const ChildPlace& child);

// Runs what the grid of `parent`, which has ended, has launched, in order, each with its own children. `run` runs a
// grid.
CUresult run_children(const ContextLaunch& parent, const std::function<CUresult(const Launch&)>& run);

// Numbers grids: %gridid.
u64 next_grid_id();

}  // namespace cudasim
