// Checks the exercise of 01-driver-init/04-devices. The first case runs before anything has called cuInit.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <cstring>

int ordinal_of(const CUuuid& uuid);

namespace {

bool begins_with_zero = false;  // if set, the UUID of every device has 0 as its first byte
bool two = false;               // if set, there are two made-up devices, whose UUIDs consist of ones and of twos

CUuuid uuid_of(int ordinal) {
  CUdevice device;
  CUuuid uuid;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, ordinal));
  CU_CHECK(cuDeviceGetUuid(&uuid, device));
  return uuid;
}

}  // namespace

// The driver calls of the exercise end up in these functions.
CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  if (Refusal::meets("cuDeviceGetUuid")) return kRefused;
  if (two) {
    std::memset(uuid->bytes, device + 1, sizeof uuid->bytes);
    return device == 0 || device == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  }
  const CUresult result = DRIVERS(cuDeviceGetUuid)(uuid, device);
  if (begins_with_zero) uuid->bytes[0] = 0;
  return result;
}

MAY_BE_REFUSED(cuInit, (unsigned int flags), (flags))

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  if (Refusal::meets("cuDeviceGetCount")) return kRefused;
  if (!two) return DRIVERS(cuDeviceGetCount)(count);
  *count = 2;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  if (Refusal::meets("cuDeviceGet")) return kRefused;
  if (!two) return DRIVERS(cuDeviceGet)(device, ordinal);
  *device = ordinal;
  return ordinal == 0 || ordinal == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

TEST_CASE("the function calls cuInit itself") { CHECK_NOTHROW(ordinal_of(CUuuid{})); }

TEST_CASE("every device is found by its UUID") {
  int count;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CAPTURE(ordinal);
    CHECK(ordinal_of(uuid_of(ordinal)) == ordinal);
  }
}

TEST_CASE("each of two devices is found") {
  CUuuid ones, twos, threes;
  std::memset(ones.bytes, 1, sizeof ones.bytes);
  std::memset(twos.bytes, 2, sizeof twos.bytes);
  std::memset(threes.bytes, 3, sizeof threes.bytes);
  two = true;
  const int first = ordinal_of(ones), second = ordinal_of(twos), none = ordinal_of(threes);
  two = false;
  CHECK(first == 0);
  CHECK(second == 1);
  CHECK(none == -1);
}

TEST_CASE("a UUID that differs in its first byte belongs to no device") {
  CUuuid uuid = uuid_of(0);
  uuid.bytes[0] ^= 0x40;
  CHECK(ordinal_of(uuid) == -1);
}

TEST_CASE("a UUID that differs in its last byte belongs to no device") {
  CUuuid uuid = uuid_of(0);
  uuid.bytes[15] ^= 0x40;
  CHECK(ordinal_of(uuid) == -1);
}

TEST_CASE("a zero byte does not end a UUID") {
  begins_with_zero = true;
  const CUuuid own = uuid_of(0);
  CUuuid other = own;
  other.bytes[15] ^= 0x40;
  const int found = ordinal_of(own), none = ordinal_of(other);
  begins_with_zero = false;
  CHECK(found == 0);
  CHECK(none == -1);
}

TEST_CASE("a UUID of all zeros belongs to no device") { CHECK(ordinal_of(CUuuid{}) == -1); }

TEST_CASE("each call is checked, and a failure is thrown as cu::Error") {
  CHECK(ignored_failure({"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetUuid"},
                        [] { ordinal_of(CUuuid{}); }) == "");
}
