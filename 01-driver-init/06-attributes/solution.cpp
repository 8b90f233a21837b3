// How fast can a device's memory be at best?
#include "common/cu.hpp"

// The peak bandwidth of the device's memory in bytes per second: the memory moves one bus width of bits twice in each
// cycle of its clock. Throws cu::Error if the driver does not answer.
double peak_bandwidth(CUdevice device) {
  int kilohertz, bits;
  CU_THROW(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device));
  CU_THROW(cuDeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device));
  return 2 * (kilohertz * 1e3) * (bits / 8.0);
}
