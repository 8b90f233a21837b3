// Rejected with: "the memory is freed after the work of the other streams"
// The free waits for nothing. The next allocation may get memory that another stream still reads.
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
  work(memory.address, home);
  for (const CUstream other : others) {
    order(home, other);
    work(memory.address, other);
  }
}
