// What other files ask about reserved addresses. virtual_memory.cpp
#pragma once
#include "common/simulator/state/failure.hpp"
#include "common/simulator/types.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace cudasim {

// The address and size of the reservation (cuMemAddressReserve) that holds `address`.
std::optional<std::pair<u64, u64>> reservation_at(u64 address);
// What the memory that is mapped at `address` was asked to be (cuMemCreate).
std::optional<CUmemAllocationProp> properties_at(u64 address);

// What is mapped at `address`, if it is memory that can be shared; else null.
std::shared_ptr<class SharedMemory> shared_memory_at(u64 address);

// Memory that was made for the tiles of sparse arrays.
struct TilePool {
  std::shared_ptr<const void> keep;
  std::byte* bytes = nullptr;
  u64 size = 0;
  int device = -1;
};
// Throws CUDA_ERROR_INVALID_VALUE if the handle is of no such memory.
TilePool tile_pool(CUmemGenericAllocationHandle handle);

}  // namespace cudasim
