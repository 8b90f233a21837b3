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

void destroy(const Part& part) {
  if (part.stream != nullptr) CU_REPORT(cuStreamDestroy(part.stream));
  if (part.context != nullptr) CU_REPORT(cuGreenCtxDestroy(part.context));
}

// The reservation while it is made, and afterwards. The destructor also runs if only a part of it could be made.
struct Owner {
  Reservation made;

  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    destroy(made.reserved);
    destroy(made.rest);
  }
};

void create(Part& part, CUdevResource resource, CUdevice device) {
  CUdevResourceDesc description;
  CU_THROW(cuDevResourceGenerateDesc(&description, &resource, 1));
  CU_THROW(cuGreenCtxCreate(&part.context, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
  CU_THROW(cuGreenCtxStreamCreate(&part.stream, part.context, CU_STREAM_NON_BLOCKING, 0));
  part.multiprocessors = resource.sm.smCount;
}

// Creates two green contexts on the device. The first one has at least `sms` multiprocessors, which is at least 1: as
// many as the device permits, but no more than necessary. The second one has all others; if nothing is left, its
// handles stay null. Their multiprocessors do not overlap, and the groups of the first may form clusters (no flags).
//
// When the last copy of the returned pointer is destroyed, so are the streams and then the contexts, and the reference
// to the primary context is released. Throws cu::Error if a driver call fails (CU_THROW), if the device has too few
// multiprocessors for example; then nothing is left behind. The calling thread's context stack does not change.
std::shared_ptr<const Reservation> reserve(CUdevice device, unsigned sms) {
  CUdevResource all, group, remaining;
  unsigned groups = 1;
  CU_THROW(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  CU_THROW(cuDevSmResourceSplitByCount(&group, &groups, &all, &remaining, 0, sms));
  const auto owner = std::make_shared<Owner>();
  create(owner->made.reserved, group, device);
  if (remaining.type == CU_DEV_RESOURCE_TYPE_SM) create(owner->made.rest, remaining, device);
  return {owner, &owner->made};  // points to the reservation, and owns it
}
