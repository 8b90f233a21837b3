// Rejected with: "letting go never throws, not even when the owner went first"
// The constructor of cu::Current throws where its context cannot be made current, in the middle of a destructor.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(std::size_t bytes) {
  CUcontext owner;
  CUdeviceptr address;
  CU_THROW(cuCtxGetCurrent(&owner));
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [owner](const CUdeviceptr* memory) {
            cu::Current in(owner);
            CU_REPORT(cuMemFree(*memory));
            delete memory;
          }};
}
