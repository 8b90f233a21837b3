// Rejected with: "share returns while the streams are busy"
// The order is right, but the host waits for the other streams.
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
  const Temporary memory(bytes, home);
  const auto join = [&] {
    for (const CUstream other : others) CU_THROW(cuStreamSynchronize(other));
  };
  try {
    work(memory.address, home);
    const cu::Event filled(CU_EVENT_DISABLE_TIMING);
    CU_THROW(cuEventRecord(filled.handle, home));
    for (const CUstream other : others) {
      CU_THROW(cuStreamWaitEvent(other, filled.handle, 0));
      work(memory.address, other);
    }
  } catch (...) {
    join();
    throw;
  }
  join();
}
