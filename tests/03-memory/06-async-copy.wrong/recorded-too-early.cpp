// Rejected with: "the event is recorded after the copy"
// The event completes before the copy starts, not after it has finished.
#include "common/cu.hpp"

#include <cstring>

struct Slot {
  void* pinned;
  CUevent free;
};

void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  CU_THROW(cuEventSynchronize(slot.free));
  std::memcpy(slot.pinned, from, bytes);
  CU_THROW(cuEventRecord(slot.free, stream));
  CU_THROW(cuMemcpyHtoDAsync(to, slot.pinned, bytes, stream));
}
