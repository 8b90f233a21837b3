// CUDA arrays: memory with an opaque layout, addressed by element. Here rows and slices are contiguous, in an
// allocation whose address no program learns.
#pragma once
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/memory/allocations.hpp"

#include <functional>
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

// Bytes of one channel; 0: a format that is not simulated (compressed, planar).
u32 channel_bytes(CUarray_format format);

// Makes an array's memory, and gives its address. The context's memory of its own is for most:
using ArrayMemory = std::function<u64(u64 bytes)>;

// Throws CUDA_ERROR_INVALID_VALUE for what the manual forbids, CUDA_ERROR_NOT_SUPPORTED for formats and flags that are
// not simulated.
std::shared_ptr<Array> make_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                  const ArrayMemory& memory = nullptr);

// How many levels there can be: 1 + floor(log2(the longest side)).
unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);
CUmipmappedArray make_mipmapped_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels,
                                      const ArrayMemory& memory = nullptr);

Registry<Array, CUarray>& arrays();
Registry<MipmappedArray, CUmipmappedArray>& mipmapped_arrays();

}  // namespace cudasim
