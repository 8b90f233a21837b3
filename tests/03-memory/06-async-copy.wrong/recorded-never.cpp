// Rejected with: "two sends through the same slot both arrive"
// An event that is never recorded counts as completed, so the wait has no effect.
#include "common/cu.hpp"

#include <cstring>

struct Slot {
  void* pinned;
  CUevent free;
};

void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  CU_THROW(cuEventSynchronize(slot.free));
  std::memcpy(slot.pinned, from, bytes);
  CU_THROW(cuMemcpyHtoDAsync(to, slot.pinned, bytes, stream));
}
