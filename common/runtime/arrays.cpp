// Arrays, textures and surfaces.
#include "common/runtime/formats.hpp"

#include <algorithm>

namespace runtime {
namespace {

cudaError_t create(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags) {
  RUNTIME_REQUIRE(array != nullptr && desc != nullptr, cudaErrorInvalidValue);
  Format format{};
  RUNTIME_TRY(driver_format(*desc, &format));
  CUDA_ARRAY3D_DESCRIPTOR wanted{};
  wanted.Width = extent.width;
  wanted.Height = extent.height;
  wanted.Depth = extent.depth;
  wanted.Format = format.format;
  wanted.NumChannels = format.channels;
  wanted.Flags = flags;
  RUNTIME_CALL(cuArray3DCreate(reinterpret_cast<CUarray*>(array), &wanted));
}

// The elements of a texture's resource.
cudaChannelFormatDesc elements_of(const cudaResourceDesc& resource) {
  cudaChannelFormatDesc desc{};
  CUDA_ARRAY3D_DESCRIPTOR array{};
  CUarray level = nullptr;
  switch (resource.resType) {
    case cudaResourceTypeLinear: return resource.res.linear.desc;
    case cudaResourceTypePitch2D: return resource.res.pitch2D.desc;
    case cudaResourceTypeArray: level = driver_array(resource.res.array.array); break;
    case cudaResourceTypeMipmappedArray:
      driver().cuMipmappedArrayGetLevel(&level, driver_array(resource.res.mipmap.mipmap), 0);
      break;
    default: break;
  }
  if (level != nullptr && driver().cuArray3DGetDescriptor(&array, level) == CUDA_SUCCESS) {
    desc = runtime_format(array.Format, array.NumChannels);
  }
  return desc;
}

// Only numbers with a fraction can be interpolated, and only short integers become such numbers.
cudaError_t readable(const cudaChannelFormatDesc& elements, const cudaTextureDesc& how) {
  const bool integer = elements.f == cudaChannelFormatKindSigned || elements.f == cudaChannelFormatKindUnsigned;
  if (!integer || elements.x == 0) return cudaSuccess;
  const bool normalized = how.readMode == cudaReadModeNormalizedFloat;
  if (how.filterMode == cudaFilterModeLinear && !(normalized && elements.x <= 16)) return cudaErrorInvalidFilterSetting;
  return normalized && elements.x > 16 ? cudaErrorInvalidNormSetting : cudaSuccess;
}

}  // namespace
}  // namespace runtime

using namespace runtime;

extern "C" {

// ---- Arrays --------------------------------------------------------------------------------------------------------

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  RUNTIME_REQUIRE(desc != nullptr, cudaErrorInvalidValue);
  RUNTIME_REQUIRE(array != nullptr, cudaErrorInvalidResourceHandle);
  return cudaArrayGetInfo(desc, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, std::size_t width,
                            std::size_t height, unsigned flags) {
  return create(array, desc, {width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                              unsigned flags) {
  return create(array, desc, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  RUNTIME_TRY(ready());
  return array == nullptr ? cudaSuccess : kept(driver().cuArrayDestroy(driver_array(array)));
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  RUNTIME_REQUIRE(array != nullptr, cudaErrorInvalidResourceHandle);
  RUNTIME_TRY(ready());
  CUDA_ARRAY3D_DESCRIPTOR found{};
  RUNTIME_TRY(driver().cuArray3DGetDescriptor(&found, driver_array(array)));
  if (desc != nullptr) *desc = runtime_format(found.Format, found.NumChannels);
  if (extent != nullptr) *extent = {found.Width, found.Height, found.Depth};
  if (flags != nullptr) *flags = found.Flags;
  return cudaSuccess;
}

cudaError_t cudaArrayGetPlane(cudaArray_t* plane, cudaArray_t array, unsigned index) {
  RUNTIME_REQUIRE(plane != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuArrayGetPlane(reinterpret_cast<CUarray*>(plane), driver_array(array), index));
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* found, cudaArray_t array, int device) {
  RUNTIME_REQUIRE(found != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuArrayGetMemoryRequirements(same<CUDA_ARRAY_MEMORY_REQUIREMENTS>(found), driver_array(array), device));
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* found, cudaArray_t array) {
  RUNTIME_REQUIRE(found != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuArrayGetSparseProperties(same<CUDA_ARRAY_SPARSE_PROPERTIES>(found), driver_array(array)));
}

// ---- Mipmapped arrays ----------------------------------------------------------------------------------------------

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  RUNTIME_REQUIRE(array != nullptr && desc != nullptr, cudaErrorInvalidValue);
  Format format{};
  RUNTIME_TRY(driver_format(*desc, &format));
  CUDA_ARRAY3D_DESCRIPTOR wanted{};
  wanted.Width = extent.width;
  wanted.Height = extent.height;
  wanted.Depth = extent.depth;
  wanted.Format = format.format;
  wanted.NumChannels = format.channels;
  wanted.Flags = flags;
  RUNTIME_CALL(cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(array), &wanted, levels));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  RUNTIME_TRY(ready());
  return array == nullptr ? cudaSuccess : kept(driver().cuMipmappedArrayDestroy(driver_array(array)));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array, unsigned index) {
  RUNTIME_REQUIRE(level != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuMipmappedArrayGetLevel(reinterpret_cast<CUarray*>(level), driver_array(array), index));
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* found, cudaMipmappedArray_t array,
                                                    int device) {
  RUNTIME_REQUIRE(found != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(
      cuMipmappedArrayGetMemoryRequirements(same<CUDA_ARRAY_MEMORY_REQUIREMENTS>(found), driver_array(array), device));
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* found, cudaMipmappedArray_t array) {
  RUNTIME_REQUIRE(found != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuMipmappedArrayGetSparseProperties(same<CUDA_ARRAY_SPARSE_PROPERTIES>(found), driver_array(array)));
}

// ---- Textures ------------------------------------------------------------------------------------------------------

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  RUNTIME_REQUIRE(object != nullptr && resource != nullptr, cudaErrorInvalidValue);
  RUNTIME_REQUIRE(texture != nullptr, cudaErrorInvalidResourceHandle);  // as libcudart 13.0 does
  RUNTIME_TRY(ready());
  CUDA_RESOURCE_DESC from{};
  RUNTIME_TRY(driver_resource(*resource, &from));
  RUNTIME_TRY(readable(elements_of(*resource), *texture));
  CUDA_TEXTURE_DESC how{};
  for (int i = 0; i < 3; ++i) how.addressMode[i] = static_cast<CUaddress_mode>(texture->addressMode[i]);
  how.filterMode = static_cast<CUfilter_mode>(texture->filterMode);
  // The runtime says what a fetch returns; the driver has flags for what it does not do.
  if (texture->readMode == cudaReadModeElementType) how.flags |= CU_TRSF_READ_AS_INTEGER;
  if (texture->normalizedCoords != 0) how.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (texture->sRGB != 0) how.flags |= CU_TRSF_SRGB;
  if (texture->disableTrilinearOptimization != 0) how.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (texture->seamlessCubemap != 0) how.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  how.maxAnisotropy = texture->maxAnisotropy;
  how.mipmapFilterMode = static_cast<CUfilter_mode>(texture->mipmapFilterMode);
  how.mipmapLevelBias = texture->mipmapLevelBias;
  how.minMipmapLevelClamp = texture->minMipmapLevelClamp;
  how.maxMipmapLevelClamp = texture->maxMipmapLevelClamp;
  std::copy(texture->borderColor, texture->borderColor + 4, how.borderColor);
  CUDA_RESOURCE_VIEW_DESC part{};
  if (view != nullptr) {
    part.format = static_cast<CUresourceViewFormat>(view->format);
    part.width = view->width;
    part.height = view->height;
    part.depth = view->depth;
    part.firstMipmapLevel = view->firstMipmapLevel;
    part.lastMipmapLevel = view->lastMipmapLevel;
    part.firstLayer = view->firstLayer;
    part.lastLayer = view->lastLayer;
  }
  return kept(driver().cuTexObjectCreate(object, &from, &how, view != nullptr ? &part : nullptr));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  RUNTIME_TRY(ready());
  return object == 0 ? cudaSuccess : kept(driver().cuTexObjectDestroy(object));
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t object) {
  RUNTIME_REQUIRE(resource != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_RESOURCE_DESC found{};
  RUNTIME_TRY(driver().cuTexObjectGetResourceDesc(&found, object));
  return kept(runtime_resource(found, resource));
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  RUNTIME_REQUIRE(texture != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_TEXTURE_DESC found{};
  RUNTIME_TRY(driver().cuTexObjectGetTextureDesc(&found, object));
  *texture = {};
  for (int i = 0; i < 3; ++i) texture->addressMode[i] = static_cast<cudaTextureAddressMode>(found.addressMode[i]);
  texture->filterMode = static_cast<cudaTextureFilterMode>(found.filterMode);
  texture->readMode =
      (found.flags & CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  texture->normalizedCoords = (found.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  texture->sRGB = (found.flags & CU_TRSF_SRGB) != 0;
  texture->disableTrilinearOptimization = (found.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  texture->seamlessCubemap = (found.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  texture->maxAnisotropy = found.maxAnisotropy;
  texture->mipmapFilterMode = static_cast<cudaTextureFilterMode>(found.mipmapFilterMode);
  texture->mipmapLevelBias = found.mipmapLevelBias;
  texture->minMipmapLevelClamp = found.minMipmapLevelClamp;
  texture->maxMipmapLevelClamp = found.maxMipmapLevelClamp;
  std::copy(found.borderColor, found.borderColor + 4, texture->borderColor);
  return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view, cudaTextureObject_t object) {
  RUNTIME_REQUIRE(view != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_RESOURCE_VIEW_DESC found{};
  RUNTIME_TRY(driver().cuTexObjectGetResourceViewDesc(&found, object));
  *view = {};
  view->format = static_cast<cudaResourceViewFormat>(found.format);
  view->width = found.width;
  view->height = found.height;
  view->depth = found.depth;
  view->firstMipmapLevel = found.firstMipmapLevel;
  view->lastMipmapLevel = found.lastMipmapLevel;
  view->firstLayer = found.firstLayer;
  view->lastLayer = found.lastLayer;
  return cudaSuccess;
}

// ---- Surfaces ------------------------------------------------------------------------------------------------------

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  RUNTIME_REQUIRE(object != nullptr && resource != nullptr, cudaErrorInvalidValue);
  RUNTIME_REQUIRE(resource->resType == cudaResourceTypeArray, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_RESOURCE_DESC from{};
  RUNTIME_TRY(driver_resource(*resource, &from));
  return kept(driver().cuSurfObjectCreate(object, &from));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  RUNTIME_TRY(ready());
  return object == 0 ? cudaSuccess : kept(driver().cuSurfObjectDestroy(object));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t object) {
  RUNTIME_REQUIRE(resource != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_RESOURCE_DESC found{};
  RUNTIME_TRY(driver().cuSurfObjectGetResourceDesc(&found, object));
  return kept(runtime_resource(found, resource));
}

}  // extern "C"
