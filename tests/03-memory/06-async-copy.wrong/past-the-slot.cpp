// Rejected with: "the caller may change the array immediately, even if it is pinned"
// The caller's array may be pinned, and then nothing has been copied when the call returns.
#include "common/cu.hpp"

#include <cstring>

struct Slot {
  void* pinned;
  CUevent free;
};

void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  (void)slot;
  CU_THROW(cuMemcpyHtoDAsync(to, from, bytes, stream));
}
