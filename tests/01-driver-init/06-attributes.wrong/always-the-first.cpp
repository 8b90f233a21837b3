// Rejected with: "the device that is meant is asked"
// In a machine with two cards, the other one's numbers are other numbers.
#include "common/cu.hpp"

double peak_bandwidth(CUdevice) {
  int kilohertz, bits;
  CU_THROW(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 0));
  CU_THROW(cuDeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 0));
  return 2 * (kilohertz * 1e3) * (bits / 8.0);
}
