// Send from any host memory without waiting for the device.
#include "common/cu.hpp"

#include <cstring>

// A pinned buffer that is large enough for everything sent through it, and an event that completes when the buffer may
// be filled again. The event of a new slot has never been recorded, which the driver treats as completed.
struct Slot {
  void* pinned;
  CUevent free;
};

// Copies `bytes` bytes to the device, in the order of the stream, through the slot's buffer. When it returns, the
// caller may change `from`. Waits only for the previous copy from the same slot, not for this one. Throws cu::Error if
// a driver call fails (CU_THROW).
void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  CU_THROW(cuEventSynchronize(slot.free));
  std::memcpy(slot.pinned, from, bytes);
  CU_THROW(cuMemcpyHtoDAsync(to, slot.pinned, bytes, stream));
  CU_THROW(cuEventRecord(slot.free, stream));
}
