// Rejected with: "two sends through one slot both arrive"
// Nobody waits until the slot is free: the second send overwrites what the first one has yet to copy.
#include "common/cu.hpp"

#include <cstring>

struct Slot {
  void* pinned;
  CUevent free;
};

void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  std::memcpy(slot.pinned, from, bytes);
  CU_THROW(cuMemcpyHtoDAsync(to, slot.pinned, bytes, stream));
  CU_THROW(cuEventRecord(slot.free, stream));
}
