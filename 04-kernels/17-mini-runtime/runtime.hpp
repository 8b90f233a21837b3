// What the runtime of this folder offers in addition to the functions of <cuda_runtime_api.h>.
#pragma once
#include <string>
#include <vector>

namespace mini {

// Returns the names of the driver calls that the runtime has made since the last call of this function, in order.
std::vector<std::string> driver_calls();

}  // namespace mini
