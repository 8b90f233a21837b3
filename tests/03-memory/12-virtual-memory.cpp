// Checks the learner's grow() (exercise of 03-memory/12-virtual-memory).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <vector>

struct Growing {
  CUdeviceptr address;
  std::size_t reserved, backed;
};

void grow(Growing& array, std::size_t bytes, CUdevice device);

namespace {

bool access_is_refused = false;  // cuMemSetAccess fails while this is true

// Another device, whose granularity is twice as large. The machine may have a single GPU, so this one pretends to be
// it.
constexpr CUdevice kOther = 7;
bool other_exists = false;
std::vector<CUdevice> named;  // the devices that calls have named since

CUmemLocation this_machines(CUmemLocation location) {
  if (!other_exists) return location;
  named.push_back(location.id);
  if (location.id == kOther) location.id = 0;
  return location;
}

struct Reserved : cu::Context {
  std::size_t granularity = 0, free_at_start = 0;
  Growing array{0, 0, 0};

  Reserved() {
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    kind.location.id = device;
    CU_CHECK(cuMemGetAllocationGranularity(&granularity, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    array.reserved = 8 * granularity;
    CU_CHECK(cuMemAddressReserve(&array.address, array.reserved, 0, 0, 0));
    free_at_start = free_bytes();
  }
  ~Reserved() {
    unmap();
    CU_REPORT(cuMemAddressFree(array.address, array.reserved));
  }
  void unmap() {
    access_is_refused = other_exists = false;
    CU_REPORT(cuCtxSynchronize());  // a fill may still be running there
    if (array.backed != 0) CU_REPORT(cuMemUnmap(array.address, array.backed));
    array.backed = 0;
  }
};

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* kind,
                                       CUmemAllocationGranularity_flags which) {
  CUmemAllocationProp here = *kind;
  here.location = this_machines(kind->location);
  const CUresult result = DRIVERS(cuMemGetAllocationGranularity)(granularity, &here, which);
  if (other_exists && result == CUDA_SUCCESS) *granularity *= 2;
  return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* chunk, std::size_t bytes, const CUmemAllocationProp* kind,
                     unsigned long long flags) {
  CUmemAllocationProp here = *kind;
  here.location = this_machines(kind->location);
  return DRIVERS(cuMemCreate)(chunk, bytes, &here, flags);
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count) {
  if (access_is_refused) return CUDA_ERROR_NOT_SUPPORTED;
  std::vector<CUmemAccessDesc> here(access, access + count);
  for (CUmemAccessDesc& one : here) one.location = this_machines(one.location);
  return DRIVERS(cuMemSetAccess)(address, bytes, here.data(), count);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return DRIVERS(cuDeviceGetAttribute)(value, attribute, other_exists && device == kOther ? 0 : device);
}

TEST_CASE_METHOD(Reserved, "100 bytes become a whole chunk that can be used") {
  grow(array, 100, device);
  CHECK(array.backed == granularity);
  CHECK(cuMemsetD8(array.address, 1, array.backed) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Reserved, "the old contents are unchanged, and the new memory can be used") {
  const CUdeviceptr before = array.address;
  grow(array, granularity, device);
  REQUIRE(array.backed == granularity);
  CU_CHECK(cuMemsetD8(array.address, 7, granularity));
  grow(array, 3 * granularity, device);
  CHECK(array.address == before);
  REQUIRE(array.backed == 3 * granularity);
  REQUIRE(cuMemsetD8(array.address + granularity, 8, 2 * granularity) == CUDA_SUCCESS);
  std::vector<char> all(3 * granularity), expected(granularity, 7);
  expected.resize(3 * granularity, 8);
  CU_CHECK(cuMemcpyDtoH(all.data(), array.address, all.size()));
  CHECK((all == expected));
}

TEST_CASE_METHOD(Reserved, "if the array is large enough already, nothing happens") {
  grow(array, 2 * granularity, device);
  const std::size_t free = free_bytes();
  grow(array, 2 * granularity, device);
  grow(array, 5, device);
  grow(array, 0, device);
  CHECK(array.backed == 2 * granularity);
  CHECK(free_bytes() == free);
}

TEST_CASE_METHOD(Reserved, "unmapping the array frees its memory") {
  grow(array, 2 * granularity, device);
  grow(array, 4 * granularity, device);
  REQUIRE(array.backed == 4 * granularity);
  unmap();
  CHECK(free_bytes() == free_at_start);
}

// (Requesting a little more than is reserved would not do: a driver may reserve more than the requested size.)
TEST_CASE_METHOD(Reserved, "addresses that are not reserved are an error, and no memory leaks") {
  CUdeviceptr given_back = 0;
  CU_CHECK(cuMemAddressReserve(&given_back, 8 * granularity, 0, 0, 0));
  CU_CHECK(cuMemAddressFree(given_back, 8 * granularity));
  Growing nowhere{given_back, 8 * granularity, 0};
  const std::size_t free = free_bytes();
  CHECK_THROWS_AS(grow(nowhere, 2 * granularity, device), cu::Error);
  CHECK(nowhere.backed == 0);
  CHECK(free_bytes() == free);
}

TEST_CASE_METHOD(Reserved, "if access cannot be set, the error is thrown, and no memory leaks") {
  access_is_refused = true;
  CHECK_THROWS_AS(grow(array, 2 * granularity, device), cu::Error);
  CHECK(array.backed == 0);
  CHECK(free_bytes() == free_at_start);
}

TEST_CASE_METHOD(Reserved, "on a device with twice the granularity, chunks are twice as large") {
  other_exists = true;
  grow(array, granularity + 1, kOther);
  CHECK(array.backed == 2 * granularity);
  grow(array, 2 * granularity + 1, kOther);
  CHECK(array.backed == 4 * granularity);
}

TEST_CASE_METHOD(Reserved, "the given device owns the memory and has access to it") {
  named.clear();
  other_exists = true;
  grow(array, granularity, kOther);
  REQUIRE_FALSE(named.empty());
  for (const CUdevice device : named) {
    INFO("grow was asked for memory of device " << kOther << ", and named device " << device << " to the driver");
    REQUIRE(device == kOther);
  }
}
