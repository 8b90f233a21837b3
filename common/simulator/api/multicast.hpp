// Multicast objects, for the call that ends memory's handles. multicast.cpp
#pragma once
#include "common/simulator/names.hpp"

namespace cudasim {

// False if the handle is of no multicast object.
bool release_multicast(CUmemGenericAllocationHandle handle);

}  // namespace cudasim
