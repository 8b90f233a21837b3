// Rejected with: "a shorter last piece is copied, and nothing past its end is changed"
// The number of pieces is rounded down, so a last piece that is shorter is never copied.
#include "common/cu.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

struct Slot {
  void* pinned;
  CUevent arrived;
};

struct Ring {
  std::vector<Slot> slots;
  std::size_t size;
  CUstream stream;
};

void download(void* to, CUdeviceptr from, std::size_t bytes, Ring& ring) {
  const std::size_t pieces = bytes / ring.size;
  const auto slot_of = [&](std::size_t piece) -> Slot& { return ring.slots[piece % ring.slots.size()]; };
  const auto size_of = [&](std::size_t piece) { return std::min(ring.size, bytes - piece * ring.size); };
  const auto ask_for = [&](std::size_t piece) {
    Slot& slot = slot_of(piece);
    CU_THROW(cuMemcpyDtoHAsync(slot.pinned, from + piece * ring.size, size_of(piece), ring.stream));
    CU_THROW(cuEventRecord(slot.arrived, ring.stream));
  };
  for (std::size_t piece = 0; piece < std::min(pieces, ring.slots.size()); ++piece) ask_for(piece);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    CU_THROW(cuEventSynchronize(slot_of(piece).arrived));
    std::memcpy(static_cast<char*>(to) + piece * ring.size, slot_of(piece).pinned, size_of(piece));
    if (piece + ring.slots.size() < pieces) ask_for(piece + ring.slots.size());
  }
}
