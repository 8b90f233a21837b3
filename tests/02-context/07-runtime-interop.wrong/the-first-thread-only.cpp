// Rejected with: "another thread gets the same context"
// Makes the context current only once. Retaining once is right, but each thread must make the context current for
// itself.
#include "common/cu.hpp"

#include <mutex>

void set_device(int ordinal) {
  static std::once_flag once;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  std::call_once(once, [&] {
    CUcontext primary;
    CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
    CU_THROW(cuCtxSetCurrent(primary));
  });
}
