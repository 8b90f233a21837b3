// Self-check of 01-driver-init/04-devices: judges the learner's ordinal_of().
#include "common/cu.hpp"
#include "tests/catch.hpp"

int ordinal_of(const CUuuid& uuid);

namespace {

CUuuid uuid_of(int ordinal) {
  CUdevice device;
  CUuuid uuid;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, ordinal));
  CU_CHECK(cuDeviceGetUuid(&uuid, device));
  return uuid;
}

}  // namespace

TEST_CASE("every device is found by its UUID") {
  int count;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CAPTURE(ordinal);
    CHECK(ordinal_of(uuid_of(ordinal)) == ordinal);
  }
}

TEST_CASE("a UUID that differs in its first byte belongs to no device") {
  CUuuid uuid = uuid_of(0);
  uuid.bytes[0] ^= 1;
  CHECK(ordinal_of(uuid) == -1);
}

TEST_CASE("a UUID that differs in its last byte belongs to no device") {
  CUuuid uuid = uuid_of(0);
  uuid.bytes[15] ^= 1;
  CHECK(ordinal_of(uuid) == -1);
}

TEST_CASE("a UUID of nothing but zeros belongs to no device") { CHECK(ordinal_of(CUuuid{}) == -1); }
