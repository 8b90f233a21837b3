// Rejected with: "many threads at the same time retain the context once"
// Tests and retains without a lock. Another thread can do the same between the two steps.
#include "common/cu.hpp"

#include <array>
#include <atomic>

void set_device(int ordinal) {
  static std::array<std::atomic<CUcontext>, 64> retained = {};
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  if (retained[ordinal] == nullptr) {
    CUcontext primary;
    CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
    retained[ordinal] = primary;
  }
  CU_THROW(cuCtxSetCurrent(retained[ordinal]));
}
