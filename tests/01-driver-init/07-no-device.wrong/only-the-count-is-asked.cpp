// Rejected with: "any other failure is reported by its own name"
// Overwrites the result of cuInit. The next call only knows that the driver is not initialized.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  cuInit(0);
  const CUresult result = cuDeviceGetCount(&count);
  *why = "";
  if (result != CUDA_SUCCESS) *why = std::string("no GPU, or a stub, or CUDA_VISIBLE_DEVICES: ") + cu::name(result);
  return count;
}
