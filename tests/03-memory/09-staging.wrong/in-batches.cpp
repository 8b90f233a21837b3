// Rejected with: "an emptied slot gets its next copy before the host waits again"
// All slots are filled, then all are emptied. While the host empties them, the device is idle.
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
  const std::size_t batch = ring.slots.size() * ring.size;
  for (std::size_t begin = 0; begin < bytes; begin += batch) {
    const std::size_t end = std::min(bytes, begin + batch);
    for (std::size_t at = begin, turn = 0; at < end; at += ring.size, ++turn) {
      const Slot& slot = ring.slots[turn];
      CU_THROW(cuMemcpyDtoHAsync(slot.pinned, from + at, std::min(ring.size, end - at), ring.stream));
      CU_THROW(cuEventRecord(slot.arrived, ring.stream));
    }
    for (std::size_t at = begin, turn = 0; at < end; at += ring.size, ++turn) {
      CU_THROW(cuEventSynchronize(ring.slots[turn].arrived));
      std::memcpy(static_cast<char*>(to) + at, ring.slots[turn].pinned, std::min(ring.size, end - at));
    }
  }
}
