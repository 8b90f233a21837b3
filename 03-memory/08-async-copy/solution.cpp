// Send from ordinary memory without waiting for the device.
#include "common/cu.hpp"

#include <cstring>

// A pinned buffer, large enough for what is sent through it, and an event that says whether it may be filled again. A
// new slot's event has not been recorded yet; the driver counts that as done.
struct Slot {
  void* pinned;
  CUevent free;
};

// Copies `bytes` from `from` to the device, in the stream's order, by way of the slot. When it returns, `from` may be
// changed. It does not wait for this copy, only for the one before it in the same slot. Throws cu::Error if the driver
// refuses (CU_THROW).
void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  CU_THROW(cuEventSynchronize(slot.free));
  std::memcpy(slot.pinned, from, bytes);
  CU_THROW(cuMemcpyHtoDAsync(to, slot.pinned, bytes, stream));
  CU_THROW(cuEventRecord(slot.free, stream));
}
