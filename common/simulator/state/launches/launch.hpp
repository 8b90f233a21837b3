// Launches, whichever call they come by (cuLaunchKernel and its kin, graph nodes): arguments checked, parameters
// copied.
#pragma once
#include "common/simulator/state/launches/children.hpp"
#include "common/simulator/state/modules/module.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudasim {

struct LaunchShape {
  Dim3 grid, block;
  std::optional<Dim3> cluster;            // what the launch asked for, if anything
  std::optional<Dim3> preferred_cluster;  // a hint, which changes nothing but must divide the grid
  u32 dynamic_shared = 0;                 // bytes
  bool cooperative = false;
  int priority = 0;  // CU_LAUNCH_ATTRIBUTE_PRIORITY, else the stream's; a lower number is more urgent
};

// A launch's shape with what the kernel and its attributes add.
struct ResolvedShape {
  LaunchShape asked;
  Dim3 grid, cluster;             // both in blocks
  bool explicit_cluster = false;  // even of one block: the kernel or the launch asks for it
};

// The blocks of a cluster that the kernel must have: as it was compiled (.reqnctapercluster), or as its attributes want
// it, which are all set or all 0.
std::optional<Dim3> required_cluster(const Kernel& kernel, const FunctionSettings& settings);

// The blocks of a cluster: as the kernel was compiled, as its attributes want it, or as the launch asked. Throws
// CUDA_ERROR_INVALID_CLUSTER_SIZE if these contradict each other, or if there can be none such.
Dim3 cluster_of(const Kernel& kernel, const FunctionSettings& settings, const LaunchShape& shape);

// Why the device has no grid of this kernel in this shape, a sentence; empty if it has. `most_dynamic`: the bytes of
// dynamic shared memory that its blocks may have.
std::string misfit(const Kernel& kernel, const Dim3& grid, const Dim3& block, u64 dynamic_shared, u64 most_dynamic);

// Throws the driver's error for a shape that this kernel cannot have on this device.
ResolvedShape resolve_shape(const Function& function, const LaunchShape& asked);

// The kernel's parameters, copied from `kernelParams` or `extra` of a launch, laid out as the kernel reads them.
std::vector<std::byte> gather_parameters(const Function& function, void** kernel_params, void** extra);

// What the Operation of a launch keeps as its parameters: enough to run the grid, and to make a graph's node of it. It
// holds on to the function, the module's variables and the program.
struct KernelWork {
  std::shared_ptr<const Function> function;
  LaunchShape shape;
  ContextLaunch launch;
};

// The whole launch as work for a stream. Its context notes at once which builtins the kernel uses, and raises its limit
// of stack memory if the kernel needs more.
Operation prepare_launch(std::shared_ptr<const Function> function, const ResolvedShape& shape,
                         std::vector<std::byte> parameters);

// Puts a launch into a stream. The function and the stream must be of the same context.
void launch(const std::shared_ptr<Function>& function, ResolvedShape shape, std::vector<std::byte> parameters,
            Stream& stream);

// CUDA_LAUNCH_BLOCKING: launches return when the work is done, with its fault.
bool launch_blocking();

}  // namespace cudasim
