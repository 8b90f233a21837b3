// Rejected with: "memory is allocated and freed in the copying stream and in no other"
// The copying stream does not wait for the default stream, in which the memory is allocated and freed.
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
  CU_THROW(cuMemAllocAsync(&temporary.address, bytes, nullptr));
  CU_THROW(cuMemcpyDtoDAsync(temporary.address, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, temporary.address, bytes, stream));
}
