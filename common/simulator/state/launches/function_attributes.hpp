// The attributes of functions and of libraries' kernels: what the code says, and what a program may set.
#pragma once
#include "common/simulator/state/modules/module.hpp"

namespace cudasim {

// Throws CUDA_ERROR_INVALID_VALUE for an attribute that does not exist.
int function_attribute(const Program& program, const Kernel& kernel, const FunctionSettings& settings,
                       CUfunction_attribute which);

// Throws CUDA_ERROR_INVALID_VALUE for one that cannot be set, or not to this value.
void set_function_attribute(const Kernel& kernel, FunctionSettings& settings, CUfunction_attribute which, int value);

// The place of parameter `index` in the launch's buffer.
void parameter_place(const Program& program, const Kernel& kernel, std::size_t index, std::size_t* offset,
                     std::size_t* size);

}  // namespace cudasim
