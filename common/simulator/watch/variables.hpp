// Accesses beyond the end of a variable in shared memory. Only the loader knows which variable an instruction means:
// Code::shared_variable_of.
#pragma once
#include "common/simulator/exec/observer.hpp"

#include <vector>

namespace cudasim {

void check_variables(const Warp& warp, const Site& site, const std::vector<Touch>& touches);

}  // namespace cudasim
