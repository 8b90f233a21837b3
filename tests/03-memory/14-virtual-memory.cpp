// Self-check of 03-memory/14-virtual-memory: judges the learner's grow().
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

bool nobody_may = false;  // be given access: the driver's answer is an error then

// A device with pieces of twice the size, as far as the answer can tell. The machine may have one GPU, so it is that one
// under another number.
constexpr CUdevice kOther = 7;
bool other_is_there = false;
std::vector<CUdevice> named;  // the devices that calls were for, meanwhile

CUmemLocation this_machines(CUmemLocation location) {
  if (!other_is_there) return location;
  named.push_back(location.id);
  if (location.id == kOther) location.id = 0;
  return location;
}

struct Reserved : cu::Context {
  std::size_t granule = 0, free_at_start = 0;
  Growing array{0, 0, 0};

  Reserved() {
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    kind.location.id = device;
    CU_CHECK(cuMemGetAllocationGranularity(&granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    array.reserved = 8 * granule;
    CU_CHECK(cuMemAddressReserve(&array.address, array.reserved, 0, 0, 0));
    free_at_start = free_bytes();
  }
  ~Reserved() {
    unmap();
    CU_REPORT(cuMemAddressFree(array.address, array.reserved));
  }
  void unmap() {
    nobody_may = other_is_there = false;
    CU_REPORT(cuCtxSynchronize());  // a fill may still be running there
    if (array.backed != 0) CU_REPORT(cuMemUnmap(array.address, array.backed));
    array.backed = 0;
  }
};

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* granule, const CUmemAllocationProp* kind,
                                       CUmemAllocationGranularity_flags which) {
  CUmemAllocationProp here = *kind;
  here.location = this_machines(kind->location);
  const CUresult answer = DRIVERS(cuMemGetAllocationGranularity)(granule, &here, which);
  if (other_is_there && answer == CUDA_SUCCESS) *granule *= 2;
  return answer;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* piece, std::size_t bytes, const CUmemAllocationProp* kind,
                     unsigned long long flags) {
  CUmemAllocationProp here = *kind;
  here.location = this_machines(kind->location);
  return DRIVERS(cuMemCreate)(piece, bytes, &here, flags);
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count) {
  if (nobody_may) return CUDA_ERROR_NOT_SUPPORTED;
  std::vector<CUmemAccessDesc> here(access, access + count);
  for (CUmemAccessDesc& one : here) one.location = this_machines(one.location);
  return DRIVERS(cuMemSetAccess)(address, bytes, here.data(), count);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return DRIVERS(cuDeviceGetAttribute)(value, attribute, other_is_there && device == kOther ? 0 : device);
}

TEST_CASE_METHOD(Reserved, "a hundred bytes become a whole piece, and it can be used") {
  grow(array, 100, device);
  CHECK(array.backed == granule);
  CHECK(cuMemsetD8(array.address, 1, array.backed) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Reserved, "what was there stays, and what is new can be used") {
  const CUdeviceptr before = array.address;
  grow(array, granule, device);
  REQUIRE(array.backed == granule);
  CU_CHECK(cuMemsetD8(array.address, 7, granule));
  grow(array, 3 * granule, device);
  CHECK(array.address == before);
  REQUIRE(array.backed == 3 * granule);
  REQUIRE(cuMemsetD8(array.address + granule, 8, 2 * granule) == CUDA_SUCCESS);
  std::vector<char> all(3 * granule), expected(granule, 7);
  expected.resize(3 * granule, 8);
  CU_CHECK(cuMemcpyDtoH(all.data(), array.address, all.size()));
  CHECK((all == expected));
}

TEST_CASE_METHOD(Reserved, "enough is enough: nothing happens") {
  grow(array, 2 * granule, device);
  const std::size_t free = free_bytes();
  grow(array, 2 * granule, device);
  grow(array, 5, device);
  grow(array, 0, device);
  CHECK(array.backed == 2 * granule);
  CHECK(free_bytes() == free);
}

TEST_CASE_METHOD(Reserved, "when it is unmapped, the memory is the device's again") {
  grow(array, 2 * granule, device);
  grow(array, 4 * granule, device);
  REQUIRE(array.backed == 4 * granule);
  unmap();
  CHECK(free_bytes() == free_at_start);
}

// (A little more than is reserved would not do: a driver may reserve more than it was asked for.)
TEST_CASE_METHOD(Reserved, "addresses that are not reserved are refused: that is thrown, and no memory is lost") {
  CUdeviceptr given_back = 0;
  CU_CHECK(cuMemAddressReserve(&given_back, 8 * granule, 0, 0, 0));
  CU_CHECK(cuMemAddressFree(given_back, 8 * granule));
  Growing nowhere{given_back, 8 * granule, 0};
  const std::size_t free = free_bytes();
  CHECK_THROWS_AS(grow(nowhere, 2 * granule, device), cu::Error);
  CHECK(nowhere.backed == 0);
  CHECK(free_bytes() == free);
}

TEST_CASE_METHOD(Reserved, "if access is refused, that is thrown, and no memory is lost") {
  nobody_may = true;
  CHECK_THROWS_AS(grow(array, 2 * granule, device), cu::Error);
  CHECK(array.backed == 0);
  CHECK(free_bytes() == free_at_start);
}

TEST_CASE_METHOD(Reserved, "a device whose pieces are twice as large gets whole pieces") {
  other_is_there = true;
  grow(array, granule + 1, kOther);
  CHECK(array.backed == 2 * granule);
  grow(array, 2 * granule + 1, kOther);
  CHECK(array.backed == 4 * granule);
}

TEST_CASE_METHOD(Reserved, "the memory is on the device that is asked for, and access is that device's") {
  named.clear();
  other_is_there = true;
  grow(array, granule, kOther);
  REQUIRE_FALSE(named.empty());
  for (const CUdevice device : named) {
    INFO("grow was asked for memory of device " << kOther << ", and named device " << device << " to the driver");
    REQUIRE(device == kOther);
  }
}
