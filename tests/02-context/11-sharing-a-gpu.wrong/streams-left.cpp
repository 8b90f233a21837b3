// Rejected with: "everything exists as long as a copy of the pointer does, and is destroyed in the right order"
// cuGreenCtxDestroy does not destroy the streams of the context, so their memory leaks.
#include "common/cu.hpp"

#include <memory>

struct Part {
  CUgreenCtx context = nullptr;
  CUstream stream = nullptr;
  unsigned multiprocessors = 0;
};

struct Reservation {
  Part reserved, rest;
};

void destroy(const Part& part) {
  if (part.context != nullptr) CU_REPORT(cuGreenCtxDestroy(part.context));
}

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
