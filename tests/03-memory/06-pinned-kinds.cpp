// Self-check of 03-memory/06-pinned-kinds: judges the learner's flags_for().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <optional>

struct Use {
  bool host_reads, kernels, other_contexts;
};

unsigned flags_for(CUdevice device, const Use& use);

namespace {

std::optional<int> pretended;  // what the device says of unified addressing while a test says so

constexpr unsigned kPortable = CU_MEMHOSTALLOC_PORTABLE, kMapped = CU_MEMHOSTALLOC_DEVICEMAP,
                   kWriteCombined = CU_MEMHOSTALLOC_WRITECOMBINED;

struct OldDevice : cu::Context {
  OldDevice() { pretended = 0; }
  ~OldDevice() { pretended.reset(); }
};

struct NewDevice : cu::Context {
  NewDevice() { pretended = 1; }
  ~NewDevice() { pretended.reset(); }
};

}  // namespace

// Listens in on what the answer asks of the device.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  const CUresult result = DRIVERS(cuDeviceGetAttribute)(value, attribute, device);
  if (result == CUDA_SUCCESS && pretended && attribute == CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) *value = *pretended;
  return result;
}

TEST_CASE_METHOD(NewDevice, "a buffer that the host only writes to is write-combined") {
  CHECK(flags_for(device, {false, false, false}) == kWriteCombined);
}

TEST_CASE_METHOD(NewDevice, "a buffer that the host reads is not") {
  CHECK(flags_for(device, {true, false, false}) == 0);
}

TEST_CASE_METHOD(NewDevice, "with unified addressing, kernels and other contexts need no flag") {
  CHECK(flags_for(device, {true, true, true}) == 0);
}

TEST_CASE_METHOD(OldDevice, "without it, they do") {
  CHECK(flags_for(device, {true, true, false}) == kMapped);
  CHECK(flags_for(device, {true, false, true}) == kPortable);
  CHECK(flags_for(device, {true, true, true}) == (kMapped | kPortable));
  CHECK(flags_for(device, {false, true, true}) == (kMapped | kPortable | kWriteCombined));
  CHECK(flags_for(device, {false, false, false}) == kWriteCombined);
}

TEST_CASE_METHOD(cu::Context, "the driver takes the flags") {
  void* host = nullptr;
  CHECK(cuMemHostAlloc(&host, 4096, flags_for(device, {false, true, true})) == CUDA_SUCCESS);
  CU_CHECK(cuMemFreeHost(host));
}

TEST_CASE_METHOD(cu::Context, "a device that does not exist is thrown") {
  CHECK_THROWS_AS(flags_for(device + 100, {true, true, true}), cu::Error);
}
