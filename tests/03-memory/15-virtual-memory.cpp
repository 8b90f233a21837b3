// Self-check of 03-memory/15-virtual-memory: judges the learner's grow().
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
    nobody_may = false;
    CU_REPORT(cuCtxSynchronize());  // a fill may still be running there
    if (array.backed != 0) CU_REPORT(cuMemUnmap(array.address, array.backed));
    array.backed = 0;
  }
};

}  // namespace

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count) {
  if (nobody_may) return CUDA_ERROR_NOT_SUPPORTED;
  return DRIVERS(cuMemSetAccess)(address, bytes, access, count);
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
