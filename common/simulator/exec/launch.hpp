// The door between the driver API and the executor: a grid to run, and what became of it.
#pragma once
#include "common/simulator/exec/compiled.hpp"
#include "common/simulator/exec/fault.hpp"
#include "common/simulator/exec/instruction.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace cudasim {

class AddressSpace;
class GridObserver;
struct Grid;

// Everything a grid needs, copied: nothing points into the caller's memory.
struct Launch {
  std::shared_ptr<const Program> program;
  const Kernel* kernel = nullptr;
  Dim3 grid, block, cluster;
  bool explicit_cluster = false;  // even of one block: the kernel or the launch asks for it
  u32 dynamic_shared = 0;
  bool cooperative = false;
  std::vector<std::byte> parameters;  // laid out as Code::Parameter::offset says
  u64 context = 0;                    // which context's allocations it may touch
  u32 device = 0;
  u32 stack_bytes = 1024;     // CU_LIMIT_STACK_SIZE: what calls may use beyond Kernel::local_bytes
  u64 heap_bytes = 8u << 20;  // CU_LIMIT_MALLOC_HEAP_SIZE
  u64 grid_id = 0;
  int priority = 0;  // of its stream: lower is more urgent
  const std::atomic<bool>* cancelled = nullptr;  // set when the context is destroyed: stop soon
  // Makes what looks on while the grid runs, or null (exec/observer.hpp). Null: nothing does.
  std::unique_ptr<GridObserver> (*observe)(Grid& grid) = nullptr;
  // Finds compiled code for the grid's kernel, or begins to make it; there may be none now. May be null: none is
  // wanted.
  FoundCompiled (*compile)(const Launch& launch) = nullptr;
  // Sets the condition of a graph (cudaGraphSetConditional); false if the handle is unknown. May be null.
  bool (*set_condition)(u64 handle, u32 value) = nullptr;
  // Called now and then, between two blocks or within one that runs for long: may let others have the device first. May
  // be null.
  void (*between_blocks)(u32 device) = nullptr;
  // Calls a function of the device runtime for a thread (state/launches/device_runtime.hpp). May be null.
  u64 (*device_runtime)(Warp& warp, u32 lane, u32 function, const std::byte* arguments) = nullptr;
};

// Runs the grid to its end on the machine's cores (exec/pool.hpp) and returns, with the fault if there was one. Any
// number of threads may call it at the same time; the grids then share the cores. Device-side printf goes to stdout,
// whole lines.
std::optional<Fault> run(const Launch& launch);

}  // namespace cudasim
