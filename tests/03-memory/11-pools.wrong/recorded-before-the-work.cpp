// Rejected with: "another stream waits for the work that fills the memory"
// The event follows the allocation, but not the work that fills the memory.
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

// What comes later in `second` waits for what is in `first` now.
void order(CUstream first, CUstream second) {
  const cu::Event reached(CU_EVENT_DISABLE_TIMING);
  CU_THROW(cuEventRecord(reached.handle, first));
  CU_THROW(cuStreamWaitEvent(second, reached.handle, 0));
}

}  // namespace

void share(std::size_t bytes, CUstream home, const std::vector<CUstream>& others,
           const std::function<void(CUdeviceptr, CUstream)>& work) {
  const Temporary memory(bytes, home);
  const auto join = [&] {
    for (const CUstream other : others) order(other, home);
  };
  const cu::Event allocated(CU_EVENT_DISABLE_TIMING);
  CU_THROW(cuEventRecord(allocated.handle, home));
  try {
    work(memory.address, home);
    for (const CUstream other : others) {
      CU_THROW(cuStreamWaitEvent(other, allocated.handle, 0));
      work(memory.address, other);
    }
  } catch (...) {
    join();
    throw;
  }
  join();
}
