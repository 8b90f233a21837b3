// Checks the learner's flags_for() (exercise of 03-memory/05-pinning).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <optional>

struct Use {
  bool host_reads, kernels, other_contexts;
};

struct Measured {
  double plain, write_combined;
};

unsigned flags_for(CUdevice device, const Use& use, const Measured& measured);

namespace {

std::optional<int> pretended;  // the value of UNIFIED_ADDRESSING that the device seems to have

constexpr unsigned kPortable = CU_MEMHOSTALLOC_PORTABLE, kMapped = CU_MEMHOSTALLOC_DEVICEMAP,
                   kWriteCombined = CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr Measured kFaster = {20.0, 25.0}, kEqual = {54.8, 54.8};

struct OldDevice : cu::Context {
  OldDevice() { pretended = 0; }
  ~OldDevice() { pretended.reset(); }
};

struct NewDevice : cu::Context {
  NewDevice() { pretended = 1; }
  ~NewDevice() { pretended.reset(); }
};

}  // namespace

// Changes what the solution learns about the device.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  const CUresult result = DRIVERS(cuDeviceGetAttribute)(value, attribute, device);
  if (result == CUDA_SUCCESS && pretended && attribute == CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) *value = *pretended;
  return result;
}

TEST_CASE_METHOD(NewDevice, "a buffer that the host only writes is write-combined if that is faster") {
  CHECK(flags_for(device, {false, false, false}, kFaster) == kWriteCombined);
  CHECK(flags_for(device, {false, true, true}, {10.0, 10.6}) == kWriteCombined);
}

TEST_CASE_METHOD(NewDevice, "a buffer is not write-combined if the measurement shows no gain") {
  CHECK(flags_for(device, {false, false, false}, kEqual) == 0);
  CHECK(flags_for(device, {false, false, false}, {54.8, 55.0}) == 0);
  CHECK(flags_for(device, {false, false, false}, {25.0, 20.0}) == 0);
}

TEST_CASE_METHOD(NewDevice, "a buffer that the host reads is never write-combined") {
  CHECK(flags_for(device, {true, false, false}, kFaster) == 0);
}

TEST_CASE_METHOD(NewDevice, "with unified addressing, kernels and other contexts need no flag") {
  CHECK(flags_for(device, {true, true, true}, kEqual) == 0);
}

TEST_CASE_METHOD(OldDevice, "without unified addressing, kernels need mapped and other contexts portable memory") {
  CHECK(flags_for(device, {true, true, false}, kEqual) == kMapped);
  CHECK(flags_for(device, {true, false, true}, kEqual) == kPortable);
  CHECK(flags_for(device, {true, true, true}, kFaster) == (kMapped | kPortable));
  CHECK(flags_for(device, {false, true, true}, kFaster) == (kMapped | kPortable | kWriteCombined));
  CHECK(flags_for(device, {false, false, false}, kFaster) == kWriteCombined);
}

TEST_CASE_METHOD(cu::Context, "the driver accepts the flags") {
  void* host = nullptr;
  CHECK(cuMemHostAlloc(&host, 4096, flags_for(device, {false, true, true}, kFaster)) == CUDA_SUCCESS);
  CU_CHECK(cuMemFreeHost(host));
}

TEST_CASE_METHOD(cu::Context, "a device that does not exist is an error") {
  CHECK_THROWS_AS(flags_for(device + 100, {true, true, true}, kEqual), cu::Error);
}
