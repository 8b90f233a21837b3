// Memory management: CUDA arrays and mipmapped arrays.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <algorithm>

namespace cudasim {
namespace {

CUDA_ARRAY3D_DESCRIPTOR as_3d(const CUDA_ARRAY_DESCRIPTOR& flat) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = flat.Width;
  descriptor.Height = flat.Height;
  descriptor.Format = flat.Format;
  descriptor.NumChannels = flat.NumChannels;
  return descriptor;
}

std::shared_ptr<Array> named(CUarray handle) { return arrays().get(handle); }

void end_array(const Array& array, CUarray handle) {
  arrays().remove(handle);
  end_allocation(array.address, "cuArrayDestroy");
}

// Waits for work that may still use it.
void finish_work(const Array& array) {
  const auto allocation = AddressSpace::instance().find(array.address);
  const auto owner = allocation ? owner_of(*allocation) : nullptr;
  if (owner) owner->synchronize();
}

}  // namespace

CUresult driver::call_cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  const auto context = current_context();
  require(array != nullptr && descriptor != nullptr);
  require_no_unsafe_capture();
  *array = arrays().add(make_array(*context, as_3d(*descriptor)));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  const auto context = current_context();
  require(array != nullptr && descriptor != nullptr);
  require_no_unsafe_capture();
  *array = arrays().add(make_array(*context, *descriptor));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  const auto context = current_context();
  require(descriptor != nullptr);
  const auto found = named(array);
  *descriptor = {found->descriptor.Width, found->descriptor.Height, found->descriptor.Format,
                 found->descriptor.NumChannels};
  return CUDA_SUCCESS;
}

CUresult driver::call_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  const auto context = current_context();
  require(descriptor != nullptr);
  *descriptor = named(array)->descriptor;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuArrayDestroy(CUarray array) {
  require_sound_context_if_any();
  const auto found = named(array);
  require(!found->is_level, CUDA_ERROR_INVALID_HANDLE);
  require_no_unsafe_capture();
  finish_work(*found);
  end_array(*found, array);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                             unsigned int levels) {
  const auto context = current_context();
  require(array != nullptr && descriptor != nullptr);
  require_no_unsafe_capture();
  require(descriptor->Height == 0 || descriptor->Width <= 32768);  // CU_DEVICE_ATTRIBUTE_…_TEXTURE2D_MIPMAPPED_WIDTH
  // 0 levels, or more than are possible, become as many as are possible (manual).
  const unsigned possible = std::max(most_levels(*descriptor), 1u);  // a width of 0 is refused as an array
  *array = make_mipmapped_array(*context, *descriptor, std::clamp(levels, 1u, possible));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray array, unsigned int number) {
  const auto context = current_context();
  require(level != nullptr);
  const auto found = mipmapped_arrays().get(array);
  require(number < found->levels.size());
  *level = found->levels[number];
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMipmappedArrayDestroy(CUmipmappedArray array) {
  const auto context = current_context();
  const auto found = mipmapped_arrays().get(array);
  require_no_unsafe_capture();
  finish_work(*named(found->levels.front()));
  mipmapped_arrays().remove(array);
  for (const CUarray level : found->levels) end_array(*named(level), level);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
