// Launches, whichever call they come by (cuLaunchKernel and its kin, graph nodes): arguments checked, parameters
// copied.
#pragma once
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/state/module.hpp"

#include <vector>

namespace cudasim {

struct LaunchShape {
  Dim3 grid, block, cluster;
  u32 dynamic_shared = 0;  // bytes
  bool cooperative = false;
  int priority = 0;  // CU_LAUNCH_ATTRIBUTE_PRIORITY, else the stream's; a lower number is more urgent
};

// Throws what the driver answers for a shape that this kernel cannot have on this device.
void require_shape(const Function& function, const LaunchShape& shape);

// The kernel's parameters, copied from `kernelParams` or `extra` of a launch, laid out as the kernel reads them.
std::vector<std::byte> gather_parameters(const Function& function, void** kernel_params, void** extra);

// The whole launch as work for a stream. It holds on to the function, the module's variables and the program.
Operation kernel_operation(std::shared_ptr<const Function> function, const LaunchShape& shape,
                           std::vector<std::byte> parameters);

// Puts a launch into a stream. The function and the stream must be of the same context.
void launch(const std::shared_ptr<Function>& function, LaunchShape shape, std::vector<std::byte> parameters,
            Stream& stream);

// CUDA_LAUNCH_BLOCKING: launches return when the work is done, with its fault.
bool launch_blocking();

}  // namespace cudasim
