// Rejected with: "the clock is the memory's, not that of the multiprocessors"
// CLOCK_RATE is the first clock that one finds. It says how fast the GPU computes, and nothing about its memory.
#include "common/cu.hpp"

double peak_bandwidth(CUdevice device) {
  int clock, bus;
  CU_THROW(cuDeviceGetAttribute(&clock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device));
  CU_THROW(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device));
  return 2.0 * clock * 1e3 * bus / 8.0;
}
