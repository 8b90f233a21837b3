// Rejected with: "two sends through the same slot in different streams both arrive"
// It waits for the stream of this send, but the previous copy may be in another stream.
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
