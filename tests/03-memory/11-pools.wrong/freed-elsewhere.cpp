// Rejected with: "the memory is allocated and freed in the first stream and in no other"
// The last of the other streams frees the memory, and does not wait for the rest.
#include "common/cu.hpp"

#include <functional>
#include <vector>

namespace {

struct Temporary {
  CUdeviceptr address = 0;
  CUstream home;
  Temporary(std::size_t bytes, CUstream in) : home(in) { CU_THROW(cuMemAllocAsync(&address, bytes, home)); }
  ~Temporary() { CU_REPORT(cuMemFreeAsync(address, home)); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
};

}  // namespace

void share(std::size_t bytes, CUstream home, const std::vector<CUstream>& others,
           const std::function<void(CUdeviceptr, CUstream)>& work) {
  Temporary memory(bytes, home);
  work(memory.address, home);
  const cu::Event filled(CU_EVENT_DISABLE_TIMING);
  CU_THROW(cuEventRecord(filled.handle, home));
  for (const CUstream other : others) {
    CU_THROW(cuStreamWaitEvent(other, filled.handle, 0));
    work(memory.address, other);
    memory.home = other;
  }
}
