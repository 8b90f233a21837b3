// Checks the learner's reserve() (exercise of 02-context/11-sharing-a-gpu).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <map>
#include <memory>

struct Part {
  CUgreenCtx context = nullptr;
  CUstream stream = nullptr;
  unsigned multiprocessors = 0;
};

struct Reservation {
  Part reserved, rest;
};

std::shared_ptr<const Reservation> reserve(CUdevice device, unsigned sms);

namespace {

std::map<CUgreenCtx, int> contexts;      // that exist, with the number of their streams
std::map<CUstream, CUgreenCtx> streams;  // that exist
int too_late = 0;                        // contexts that were destroyed before their streams

struct Device {
  CUdevice device = 0;
  unsigned all = 0, unit = 0;  // multiprocessors

  Device() {
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    CUdevResource resource;
    CU_CHECK(cuDeviceGetDevResource(device, &resource, CU_DEV_RESOURCE_TYPE_SM));
    all = resource.sm.smCount;
    unit = resource.sm.minSmPartitionSize;
    too_late = 0;
    contexts.clear();
    streams.clear();
  }
  bool is_active() const {
    unsigned flags;
    int active;
    CU_CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active != 0;
  }
};

unsigned multiprocessors(CUgreenCtx context) {
  CUdevResource resource;
  CU_CHECK(cuGreenCtxGetDevResource(context, &resource, CU_DEV_RESOURCE_TYPE_SM));
  return resource.sm.smCount;
}

// What a split into one group yields.
unsigned rounded(CUdevice device, unsigned sms) {
  CUdevResource all, group;
  unsigned groups = 1;
  CU_CHECK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  CU_CHECK(DRIVERS(cuDevSmResourceSplitByCount)(&group, &groups, &all, nullptr, 0, sms));
  return group.sm.smCount;
}

}  // namespace

CUresult cuGreenCtxCreate(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device, unsigned int flags) {
  if (Refusal::meets("cuGreenCtxCreate")) return kRefused;
  const CUresult result = DRIVERS(cuGreenCtxCreate)(context, description, device, flags);
  if (result == CUDA_SUCCESS) contexts[*context] = 0;
  return result;
}

CUresult cuGreenCtxDestroy(CUgreenCtx context) {
  if (contexts[context] != 0) ++too_late;
  contexts.erase(context);
  return DRIVERS(cuGreenCtxDestroy)(context);
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx context, unsigned int flags, int priority) {
  if (Refusal::meets("cuGreenCtxStreamCreate")) return kRefused;
  const CUresult result = DRIVERS(cuGreenCtxStreamCreate)(stream, context, flags, priority);
  if (result == CUDA_SUCCESS) ++contexts[context], streams[*stream] = context;
  return result;
}

CUresult cuStreamDestroy(CUstream stream) {
  if (const auto found = streams.find(stream); found != streams.end()) {
    --contexts[found->second];
    streams.erase(found);
  }
  return DRIVERS(cuStreamDestroy)(stream);
}

MAY_BE_REFUSED(cuDeviceGetDevResource, (CUdevice device, CUdevResource* resource, CUdevResourceType type),
               (device, resource, type))
MAY_BE_REFUSED(cuDevSmResourceSplitByCount,
               (CUdevResource * groups, unsigned int* count, const CUdevResource* input, CUdevResource* remaining,
                unsigned int flags, unsigned int sms),
               (groups, count, input, remaining, flags, sms))
MAY_BE_REFUSED(cuDevResourceGenerateDesc,
               (CUdevResourceDesc * description, CUdevResource* resources, unsigned int count),
               (description, resources, count))

TEST_CASE_METHOD(Device, "the service gets at least as many multiprocessors as it wants, the others get the rest") {
  for (const unsigned sms : {1u, unit, unit + 1, 2 * unit, all / 2}) {
    CAPTURE(sms);
    const auto made = reserve(device, sms);
    REQUIRE(made != nullptr);
    CHECK(made->reserved.multiprocessors >= sms);
    CHECK(made->reserved.multiprocessors == rounded(device, sms));
    CHECK(made->reserved.multiprocessors + made->rest.multiprocessors == all);
    CHECK(multiprocessors(made->reserved.context) == made->reserved.multiprocessors);
    CHECK(multiprocessors(made->rest.context) == made->rest.multiprocessors);
  }
}

TEST_CASE_METHOD(Device, "each stream belongs to its green context, and works") {
  const auto made = reserve(device, unit);
  REQUIRE(made != nullptr);
  const cu::Primary primary;
  const cu::Memory memory(4);
  for (const Part& part : {made->reserved, made->rest}) {
    CUgreenCtx owner = nullptr;
    CHECK(cuStreamGetGreenCtx(part.stream, &owner) == CUDA_SUCCESS);
    CHECK(owner == part.context);
    unsigned flags = 0;
    CHECK(cuStreamGetFlags(part.stream, &flags) == CUDA_SUCCESS);
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    CHECK(cuMemsetD8Async(memory.address, 1, 4, part.stream) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(part.stream) == CUDA_SUCCESS);
  }
}

TEST_CASE_METHOD(Device, "if the service gets all multiprocessors, there is no second context") {
  const auto made = reserve(device, all);
  REQUIRE(made != nullptr);
  CHECK(made->reserved.multiprocessors == all);
  CHECK(made->rest.multiprocessors == 0);
  CHECK(made->rest.context == nullptr);
  CHECK(made->rest.stream == nullptr);
}

TEST_CASE_METHOD(Device, "more multiprocessors than there are is an error") {
  CHECK_THROWS_AS(reserve(device, all + 1), cu::Error);
  CHECK(contexts.empty());
}

TEST_CASE_METHOD(Device,
                 "everything exists as long as a copy of the pointer does, and is destroyed in the right order") {
  REQUIRE_FALSE(is_active());
  auto made = reserve(device, unit);
  REQUIRE(made != nullptr);
  auto copy = made;
  made.reset();
  CHECK(contexts.size() == 2);
  CHECK(streams.size() == 2);
  CHECK(is_active());
  copy.reset();
  CHECK(contexts.empty());
  CHECK(streams.empty());
  CHECK(too_late == 0);
  CHECK_FALSE(is_active());
}

TEST_CASE_METHOD(Device, "the calling thread's context stack does not change") {
  CHECK(current() == nullptr);
  auto made = reserve(device, unit);
  CHECK(current() == nullptr);
  made.reset();
  CHECK(current() == nullptr);
  const cu::Primary primary;
  made = reserve(device, unit);
  REQUIRE(made != nullptr);
  CHECK(current() == primary.handle);
}

TEST_CASE_METHOD(Device, "a driver call that fails throws cu::Error, and nothing is left") {
  const cu::Primary primary;  // keeps the primary context, whose creation takes long
  CHECK(ignored_failure({"cuDeviceGetDevResource", "cuDevSmResourceSplitByCount", "cuDevResourceGenerateDesc",
                         "cuGreenCtxCreate", "cuGreenCtxStreamCreate"},
                        [this] {
                          try {
                            reserve(device, unit);
                          } catch (const cu::Error&) {
                            if (contexts.empty() && streams.empty() && too_late == 0) throw;
                            FAIL("after the error, green contexts or streams are left");
                          }
                        }) == "");
}
