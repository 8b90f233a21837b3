// Divide the multiprocessors of a device between a service and everything else.
#include "common/cu.hpp"

#include <memory>

// A green context with a stream (CU_STREAM_NON_BLOCKING, priority 0), and how many multiprocessors it really has.
struct Part {
  CUgreenCtx context = nullptr;
  CUstream stream = nullptr;
  unsigned multiprocessors = 0;
};

struct Reservation {
  Part reserved, rest;
};

// Creates two green contexts on the device. The first one has at least `sms` multiprocessors, which is at least 1: as
// many as the device permits, but no more than necessary. The second one has all others; if nothing is left, its
// handles stay null. Their multiprocessors do not overlap, and the groups of the first may form clusters (no flags).
//
// When the last copy of the returned pointer is destroyed, so are the streams and then the contexts, and the reference
// to the primary context is released. Throws cu::Error if a driver call fails (CU_THROW), if the device has too few
// multiprocessors for example; then nothing is left behind. The calling thread's context stack does not change.
std::shared_ptr<const Reservation> reserve(CUdevice device, unsigned sms) {
  // Your code here.
  (void)device, (void)sms;
  return nullptr;
}
