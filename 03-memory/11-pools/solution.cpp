// Let several streams use memory that one of them allocates and frees.
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

// Allocates `bytes` bytes in stream order in `home`, and frees them in `home`. In between, `work` enqueues work that
// uses the memory: first work(address, home), which fills it, and then work(address, other) once for each of the other
// streams, which reads it. No stream waits longer than necessary, and the host does not wait at all. If `work` throws,
// its exception reaches the caller, and the memory is freed after what was enqueued before. Throws cu::Error if a
// driver call fails (CU_THROW).
void share(std::size_t bytes, CUstream home, const std::vector<CUstream>& others,
           const std::function<void(CUdeviceptr, CUstream)>& work) {
  const Temporary memory(bytes, home);
  const auto join = [&] {
    for (const CUstream other : others) order(other, home);
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
