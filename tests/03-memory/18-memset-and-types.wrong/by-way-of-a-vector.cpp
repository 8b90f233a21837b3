// Rejected with: "no array is copied from the host"
// The host needs as many bytes as the device, and all of them are transferred over the interconnect.
#include "common/cu.hpp"

#include <vector>

void fill(CUdeviceptr address, std::size_t count, float value) {
  if (count == 0) return;
  const std::vector<float> floats(count, value);
  CU_THROW(cuMemcpyHtoD(address, floats.data(), count * sizeof(float)));
}
