// Self-check of 01-driver-init/06-attributes: judges the learner's peak_bandwidth(). Devices made up here are asked
// instead of this machine's, so that the answers are known.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

double peak_bandwidth(CUdevice device);

namespace {

int kilohertz, bits, all_else = 7;
CUdevice asked;
CUresult answer = CUDA_SUCCESS;

double bandwidth_of(int clock, int bus) {
  kilohertz = clock;
  bits = bus;
  return peak_bandwidth(3);
}

}  // namespace

int refused = 0;  // this attribute is

// A function of the program takes the place of a library's of the same name.
CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  asked = device;
  if (answer != CUDA_SUCCESS) return answer;
  if (attribute == refused) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
    *value = kilohertz;
  else if (attribute == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)
    *value = bits;
  else
    *value = all_else;
  return CUDA_SUCCESS;
}

TEST_CASE("a bus one byte wide at 1 MHz moves two million bytes a second") { CHECK(bandwidth_of(1000, 8) == 2e6); }

TEST_CASE("twice the clock is twice the bandwidth") {
  const double once = bandwidth_of(1000, 256);
  CHECK(once > 0);
  CHECK(bandwidth_of(2000, 256) == 2 * once);
}

TEST_CASE("the clock is the memory's, not that of the multiprocessors") {
  const double once = bandwidth_of(1000, 256);
  all_else = 14;
  CHECK(bandwidth_of(1000, 256) == once);
  all_else = 7;
}

TEST_CASE("terabytes a second do not overflow") { CHECK(bandwidth_of(3201000, 6016) == 4814304e6); }

TEST_CASE("the device that is meant is asked") {
  bandwidth_of(1000, 8);
  CHECK(asked == 3);
}

TEST_CASE("a driver that does not answer is an error, with its code") {
  answer = CUDA_ERROR_INVALID_DEVICE;
  CUresult thrown = CUDA_SUCCESS;
  try {
    bandwidth_of(1000, 8);
  } catch (const cu::Error& error) {
    thrown = error.code();
  }
  answer = CUDA_SUCCESS;
  CHECK(thrown == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("each of the two answers is looked at") {
  for (const int attribute : {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH}) {
    refused = attribute;
    CHECK_THROWS_AS(bandwidth_of(1000, 8), cu::Error);
  }
  refused = 0;
}
