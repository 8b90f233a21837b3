// What the small runtime of this folder offers beside the functions of the toolkit's <cuda_runtime_api.h>.
#pragma once
#include <string>
#include <vector>

namespace mini {

// The names of the driver calls that the runtime has made since this was last asked, in order, by any thread.
std::vector<std::string> driver_calls();

}  // namespace mini
