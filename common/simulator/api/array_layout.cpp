// What is known of an array's memory (CUDA Driver API manual, "Memory Management"). None here has its memory mapped
// later as a whole, or consists of planes: those kinds are refused when an array is made.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/arrays.hpp"

using namespace cudasim;

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

CUDASIM_API CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements, CUarray array,
                                                  CUdevice device) {
  return CUDASIM_CALL(memoryRequirements, array, device) { return of_another_kind(array); };
}

CUDASIM_API CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                                           CUmipmappedArray mipmap, CUdevice device) {
  return CUDASIM_CALL(memoryRequirements, mipmap, device) { return of_another_kind(mipmap); };
}

CUDASIM_API CUresult cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int planeIdx) {
  return CUDASIM_CALL(pPlaneArray, hArray, planeIdx) { return of_another_kind(hArray); };
}
