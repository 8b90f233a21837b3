// Rejected with: "two sends in two streams through one slot both arrive"
// If the slot is not free, it waits for the stream of this send. The one before may have gone into another.
#include "common/cu.hpp"

#include <cstring>

struct Slot {
  void* pinned;
  CUevent free;
};

void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  const CUresult answer = cuEventQuery(slot.free);
  CU_THROW(answer == CUDA_ERROR_NOT_READY ? cuStreamSynchronize(stream) : answer);
  std::memcpy(slot.pinned, from, bytes);
  CU_THROW(cuMemcpyHtoDAsync(to, slot.pinned, bytes, stream));
  CU_THROW(cuEventRecord(slot.free, stream));
}
