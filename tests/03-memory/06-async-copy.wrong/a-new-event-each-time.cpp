// Rejected with: "the slot keeps its event"
// Each send leaks an event.
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
  CU_THROW(cuEventCreate(&slot.free, CU_EVENT_DISABLE_TIMING));
  CU_THROW(cuEventRecord(slot.free, stream));
}
