// CUDA arrays: memory whose layout is the device's own affair, addressed by element. Here rows follow each other
// without gaps, slices too, in an allocation that no pointer is given out for.
#pragma once
#include "common/simulator/state/allocations.hpp"
#include "common/simulator/state/registry.hpp"

#include <memory>
#include <vector>

namespace cudasim {

struct Array {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  u32 element = 0;                       // bytes
  u64 width = 0, height = 0, depth = 0;  // in elements, at least 1; depth: layers and faces too
  u64 address = 0;                       // of its allocation
  u64 context = 0;                       // whose end is the array's
  bool is_level = false;                 // of a mipmapped array: ends with it
  u64 pitch() const { return width * element; }
};

struct MipmappedArray {
  std::vector<CUarray> levels;
  u64 context = 0;
};

// Throws CUDA_ERROR_INVALID_VALUE for what the manual forbids, CUDA_ERROR_NOT_SUPPORTED for formats and flags that are
// not simulated.
std::shared_ptr<Array> make_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

Registry<Array, CUarray>& arrays();
Registry<MipmappedArray, CUmipmappedArray>& mipmapped_arrays();

}  // namespace cudasim
