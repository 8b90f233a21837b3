// Rejected with: "letting go leaves the stack as it is"
// The owner is set, over whatever the thread had on top, and stays there.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(std::size_t bytes) {
  CUcontext owner;
  CUdeviceptr address;
  CU_THROW(cuCtxGetCurrent(&owner));
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [owner](const CUdeviceptr* memory) {
            CU_REPORT(cuCtxSetCurrent(owner));
            CU_REPORT(cuMemFree(*memory));
            delete memory;
          }};
}
