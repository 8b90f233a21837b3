// The layout of an array's memory (CUDA Driver API manual, "Memory Management"). Arrays with deferred mapping or
// several planes are refused when they are made, so every query about them fails.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/arrays.hpp"

namespace cudasim {

namespace {

CUresult of_another_kind(CUarray array) {
  require_calls_permitted();
  arrays().get(array, CUDA_ERROR_INVALID_HANDLE);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult of_another_kind(CUmipmappedArray array) {
  require_calls_permitted();
  mipmapped_arrays().get(array, CUDA_ERROR_INVALID_HANDLE);
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult driver::call_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUarray array, CUdevice) {
  require_calls_permitted();
  require(array != nullptr);
  return of_another_kind(array);
}

CUresult driver::call_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUmipmappedArray mipmap,
                                                            CUdevice) {
  return of_another_kind(mipmap);
}

CUresult driver::call_cuArrayGetPlane(CUarray*, CUarray hArray, unsigned int) { return of_another_kind(hArray); }

}  // namespace cudasim
