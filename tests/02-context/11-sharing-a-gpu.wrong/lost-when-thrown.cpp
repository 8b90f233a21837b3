// Rejected with: "a driver call that fails throws cu::Error, and nothing is left"
// The contexts get an owner only when both exist. If the second one cannot be created, the first one is left.
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
  if (part.stream != nullptr) CU_REPORT(cuStreamDestroy(part.stream));
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
  Reservation made;
  create(made.reserved, group, device);
  if (remaining.type == CU_DEV_RESOURCE_TYPE_SM) create(made.rest, remaining, device);
  const auto owner = std::make_shared<Owner>();
  owner->made = made;
  return {owner, &owner->made};  // points to the reservation, and owns it
}
