// Rejected with: "each call is checked: a driver error is thrown"
// Only the first copy is checked, but each of them can fail.
#include "common/cu.hpp"

namespace {

struct Temporary {
  CUdeviceptr address = 0;
  CUstream stream;
  explicit Temporary(CUstream in) : stream(in) {}
  ~Temporary() {
    if (address != 0) CU_REPORT(cuMemFreeAsync(address, stream));
  }
};

}  // namespace

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  Temporary temporary(stream);
  CU_THROW(cuMemAllocAsync(&temporary.address, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(temporary.address, a, bytes, stream));
  cuMemcpyDtoDAsync(a, b, bytes, stream);
  cuMemcpyDtoDAsync(b, temporary.address, bytes, stream);
}
