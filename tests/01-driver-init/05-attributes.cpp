// Checks the exercise of 01-driver-init/05-attributes. The function below replaces the driver's: it knows four devices
// with different amounts of shared memory.
#include "common/cu.hpp"
#include "tests/catch.hpp"

int largest_tile(CUdevice device);

namespace {

// Shared memory per block on devices 0 to 3. The first two are an A100 and a T4, as in the exercise.
constexpr int kWithOptIn[] = {166912, 65536, 232448, 101376};
constexpr int kTile[] = {192, 128, 224, 128};
bool refuses = false;

}  // namespace

// A function of the program replaces a library's function of the same name.
CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  if (refuses) return CUDA_ERROR_NOT_PERMITTED;
  if (device < 0 || device > 3) return CUDA_ERROR_INVALID_DEVICE;
  *value = which == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? kWithOptIn[device] : 49152;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  *count = 4;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal > 3) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

// This case comes first: at this point, no result can have been remembered.
TEST_CASE("a failed driver call throws cu::Error, and the next call tries again") {
  refuses = true;
  CUresult thrown = CUDA_SUCCESS;
  try {
    largest_tile(1);
  } catch (const cu::Error& error) {
    thrown = error.code();
  }
  refuses = false;
  CHECK(thrown == CUDA_ERROR_NOT_PERMITTED);
  CHECK(largest_tile(1) == kTile[1]);
}

TEST_CASE("each device gets the largest tile that fits on it") {
  for (const CUdevice device : {0, 1, 2, 3, 2, 0, 1}) {
    CAPTURE(device);
    CHECK(largest_tile(device) == kTile[device]);
  }
}

TEST_CASE("a device that does not exist is an error") {
  CHECK_THROWS_AS(largest_tile(4), cu::Error);
  CHECK(largest_tile(0) == kTile[0]);
}
