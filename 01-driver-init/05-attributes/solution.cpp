// Find and repair the cause of a failure that only some machines show.
//
// The cause: attribute() remembered its results by attribute only. After the first call, every device got the value of
// the first one, and the tile that fits on the A100 is too large for the T4.
#include "common/cu.hpp"

#include <map>
#include <utility>

// An attribute of a device. Throws cu::Error if the driver call fails.
int attribute(CUdevice device, CUdevice_attribute which) {
  static std::map<std::pair<CUdevice, CUdevice_attribute>, int> known;  // don't ask the driver twice
  const std::pair key(device, which);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  int value = 0;
  CU_THROW(cuDeviceGetAttribute(&value, which, device));
  known[key] = value;
  return value;
}

// The edge of the largest square tile of floats, a multiple of 32, that fits into the shared memory which a block can
// have on this device. Throws cu::Error if a driver call fails.
int largest_tile(CUdevice device) {
  const int bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  int edge = 32;
  while ((edge + 32) * (edge + 32) * static_cast<int>(sizeof(float)) <= bytes) edge += 32;
  return edge;
}
