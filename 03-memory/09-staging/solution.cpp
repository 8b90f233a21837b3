// Copy from the device into pageable memory, through a ring of pinned buffers.
#include "common/cu.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

struct Slot {
  void* pinned;
  CUevent arrived;
};

// At least two slots of `size` bytes each, and the stream for the copies.
struct Ring {
  std::vector<Slot> slots;
  std::size_t size;
  CUstream stream;
};

// Copies `bytes` bytes from the device to `to`, which is pageable memory, in stream order. The device copies only into
// the slots. Before the function waits, a copy into every empty slot has been enqueued: the device fills some slots
// while the host empties another. Returns when all bytes are in `to`. Throws cu::Error if a driver call fails
// (CU_THROW).
void download(void* to, CUdeviceptr from, std::size_t bytes, Ring& ring) {
  const std::size_t pieces = (bytes + ring.size - 1) / ring.size;
  const auto slot_of = [&](std::size_t piece) -> Slot& { return ring.slots[piece % ring.slots.size()]; };
  const auto size_of = [&](std::size_t piece) { return std::min(ring.size, bytes - piece * ring.size); };
  const auto enqueue = [&](std::size_t piece) {
    Slot& slot = slot_of(piece);
    CU_THROW(cuMemcpyDtoHAsync(slot.pinned, from + piece * ring.size, size_of(piece), ring.stream));
    CU_THROW(cuEventRecord(slot.arrived, ring.stream));
  };
  for (std::size_t piece = 0; piece < std::min(pieces, ring.slots.size()); ++piece) enqueue(piece);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    CU_THROW(cuEventSynchronize(slot_of(piece).arrived));
    std::memcpy(static_cast<char*>(to) + piece * ring.size, slot_of(piece).pinned, size_of(piece));
    if (piece + ring.slots.size() < pieces) enqueue(piece + ring.slots.size());
  }
}
