// Implements the runtime's cudaSetDevice with driver calls.
#include "common/cu.hpp"

#include <map>
#include <mutex>

// Makes the primary context of a device current for the calling thread. It replaces the entry on top of the thread's
// context stack, or adds one if the stack is empty. The primary context of each device is retained once, however often
// and by however many threads this function is called, and it is never released. Initializes the driver if necessary.
// Throws cu::Error (CU_THROW) if a driver call fails, for example because there is no such device; in this
// case, the stack does not change.
void set_device(int ordinal) {
  static std::mutex mutex;
  static std::map<CUdevice, CUcontext> retained;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  const std::lock_guard<std::mutex> lock(mutex);
  CUcontext& primary = retained[device];
  if (primary == nullptr) CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxSetCurrent(primary));  // in every call, because each thread has its own stack
}
