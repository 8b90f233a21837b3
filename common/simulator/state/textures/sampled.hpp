// From what a program says of a texture or surface to what instructions see: for objects and references alike.
#pragma once
#include "common/simulator/memory/textures.hpp"
#include "common/simulator/state/devices/driver.hpp"

namespace cudasim {

// Where the texels are, and what they are. Throws CUDA_ERROR_INVALID_VALUE for what the manual forbids.
Texture texels_of(const CUDA_RESOURCE_DESC& resource);
// The same, and how they are sampled, seen through a view if there is one.
Texture sampled(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                const CUDA_RESOURCE_VIEW_DESC* view);

}  // namespace cudasim
