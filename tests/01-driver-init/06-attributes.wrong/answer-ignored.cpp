// Rejected with: "a driver that does not answer is an error, with its code"
// A call that fails writes nothing, and the zero that stood there is taken for a bandwidth.
#include "common/cu.hpp"

double peak_bandwidth(CUdevice device) {
  int kilohertz = 0, bits = 0;
  cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
  cuDeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
  return 2 * (kilohertz * 1e3) * (bits / 8.0);
}
