// Rejected with: "any other failure is reported by its own name"
// Hides the symptom: CUDA_ERROR_NOT_INITIALIZED is no longer shown, but neither is the real cause.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  why->clear();
  cuInit(0);
  const CUresult result = cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS && count > 0) return count;
  const bool chosen = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
  *why = chosen ? "CUDA_VISIBLE_DEVICES hides every GPU" : "there is no GPU, or the stub was loaded";
  return 0;
}
