// Texture and surface references (CUDA Driver API manual, "Texture Reference Management [DEPRECATED]", "Surface
// Reference Management [DEPRECATED]").
#include "common/simulator/state/textures/texture_reference.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/modules/library.hpp"
#include "common/simulator/state/modules/module.hpp"
#include "common/simulator/state/textures/sampled.hpp"

#include <algorithm>
#include <mutex>

namespace cudasim {
namespace {

constexpr unsigned kKnownFlags =
    CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;

bool is_filter(CUfilter_mode mode) { return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR; }

}  // namespace

// A property of a reference: what a program may set it to, where it is kept, and how it is read.
#define SETS(function, type, allowed, statement)                             \
  CUresult driver::call_cuTexRefSet##function(CUtexref handle, type value) { \
    require(allowed);                                                        \
    return set_reference(handle, [&](TextureReference& r) { statement; });   \
  }
#define GETS(function, type, expression)                                                                  \
  CUresult driver::call_cuTexRefGet##function(type* out, CUtexref handle) {                               \
    return get_from_reference(out, handle, [](const TextureReference& r) -> type { return expression; }); \
  }

SETS(FilterMode, CUfilter_mode, is_filter(value), r.sampling.filterMode = value)
GETS(FilterMode, CUfilter_mode, r.sampling.filterMode)
SETS(MipmapFilterMode, CUfilter_mode, is_filter(value), r.sampling.mipmapFilterMode = value)
GETS(MipmapFilterMode, CUfilter_mode, r.sampling.mipmapFilterMode)
SETS(MipmapLevelBias, float, true, r.sampling.mipmapLevelBias = value)
GETS(MipmapLevelBias, float, r.sampling.mipmapLevelBias)
SETS(MaxAnisotropy, unsigned, true, r.sampling.maxAnisotropy = value)
GETS(MaxAnisotropy, int, static_cast<int>(r.sampling.maxAnisotropy))
SETS(BorderColor, float*, value != nullptr, std::copy_n(value, 4, r.sampling.borderColor))
SETS(Flags, unsigned, (value & ~kKnownFlags) == 0, r.sampling.flags = value)
GETS(Flags, unsigned, r.sampling.flags)

CUresult driver::call_cuModuleGetTexRef(CUtexref* pTexRef, CUmodule hmod, const char* name) {
  require(pTexRef != nullptr);
  *pTexRef = reference_handle<CUtexref>(hmod, name);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleGetSurfRef(CUsurfref* pSurfRef, CUmodule hmod, const char* name) {
  require(pSurfRef != nullptr);
  *pSurfRef = reference_handle<CUsurfref>(hmod, name);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef) {
  require(texunit == CU_PARAM_TR_DEFAULT);
  get_function_or_kernel(hfunc, current_context());
  get_reference(hTexRef);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefCreate(CUtexref* pTexRef) {
  const auto context = current_context();
  require(pTexRef != nullptr);
  const auto made = std::make_shared<TextureReference>();
  made->context = context->id;
  *pTexRef = references<CUtexref>().add(made);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefDestroy(CUtexref hTexRef) {
  require(get_reference(hTexRef)->address == 0);  // a module's ends with it
  references<CUtexref>().remove(hTexRef);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags) {
  require((Flags & ~unsigned{CU_TRSA_OVERRIDE_FORMAT}) == 0);  // a driver takes 0, which the manual forbids
  const auto array = arrays().get(hArray);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = hArray;
  return bind_stored(hTexRef, resource, array->descriptor.Format, array->descriptor.NumChannels);
}

CUresult driver::call_cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray,
                                                unsigned int Flags) {
  require((Flags & ~unsigned{CU_TRSA_OVERRIDE_FORMAT}) == 0);  // a driver takes 0, which the manual forbids
  const auto array = arrays().get(mipmapped_arrays().get(hMipmappedArray)->levels.front());
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = hMipmappedArray;
  return bind_stored(hTexRef, resource, array->descriptor.Format, array->descriptor.NumChannels);
}

// Memory that is not aligned for a texture: the texture begins before it, and the program learns by how much.
CUresult driver::call_cuTexRefSetAddress_v2(size_t* ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes) {
  const u64 offset = dptr % kTextureAlignment;
  require(ByteOffset != nullptr || offset == 0);
  return set_reference(hTexRef, [&](TextureReference& r) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {dptr - offset, r.format, unsigned(r.channels), bytes + offset};
    bind_resource(r, resource);
    if (ByteOffset != nullptr) *ByteOffset = offset;
  });
}

CUresult driver::call_cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr,
                                              size_t Pitch) {
  return set_address_2d(hTexRef, desc, dptr, Pitch);
}

CUresult driver::call_cuTexRefSetAddress2D_v2(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr,
                                              size_t Pitch) {
  return set_address_2d(hTexRef, desc, dptr, Pitch);
}

CUresult driver::call_cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
  require(NumPackedComponents == 1 || NumPackedComponents == 2 || NumPackedComponents == 4);
  return set_reference(hTexRef, [&](TextureReference& r) {
    r.format = fmt, r.channels = NumPackedComponents;
    if (r.bound && r.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
      r.resource.res.linear.format = fmt, r.resource.res.linear.numChannels = unsigned(NumPackedComponents);
    }
  });
}

CUresult driver::call_cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am) {
  require(dim >= 0 && dim < 3 && am >= CU_TR_ADDRESS_MODE_WRAP && am <= CU_TR_ADDRESS_MODE_BORDER);
  return set_reference(hTexRef, [&](TextureReference& r) { r.sampling.addressMode[dim] = am; });
}

CUresult driver::call_cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp,
                                                  float maxMipmapLevelClamp) {
  return set_reference(hTexRef, [&](TextureReference& r) {
    r.sampling.minMipmapLevelClamp = minMipmapLevelClamp, r.sampling.maxMipmapLevelClamp = maxMipmapLevelClamp;
  });
}

CUresult driver::call_cuTexRefGetAddress_v2(CUdeviceptr* pdptr, CUtexref hTexRef) {
  return get_from_reference(pdptr, hTexRef, [](const TextureReference& r) -> CUdeviceptr {
    require(r.bound);
    if (r.resource.resType == CU_RESOURCE_TYPE_PITCH2D) return r.resource.res.pitch2D.devPtr;
    require(r.resource.resType == CU_RESOURCE_TYPE_LINEAR);
    return r.resource.res.linear.devPtr;
  });
}

CUresult driver::call_cuTexRefGetArray(CUarray* phArray, CUtexref hTexRef) {
  return get_from_reference(phArray, hTexRef, [](const TextureReference& r) {
    require(r.bound && r.resource.resType == CU_RESOURCE_TYPE_ARRAY);
    return r.resource.res.array.hArray;
  });
}

CUresult driver::call_cuTexRefGetMipmappedArray(CUmipmappedArray* phMipmappedArray, CUtexref hTexRef) {
  return get_from_reference(phMipmappedArray, hTexRef, [](const TextureReference& r) {
    require(r.bound && r.resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    return r.resource.res.mipmap.hMipmappedArray;
  });
}

CUresult driver::call_cuTexRefGetAddressMode(CUaddress_mode* pam, CUtexref hTexRef, int dim) {
  require(dim >= 0 && dim < 3);
  return get_from_reference(pam, hTexRef, [dim](const TextureReference& r) { return r.sampling.addressMode[dim]; });
}

CUresult driver::call_cuTexRefGetFormat(CUarray_format* pFormat, int* pNumChannels, CUtexref hTexRef) {
  const auto reference = get_reference(hTexRef);
  const std::scoped_lock lock(reference->mutex);
  if (pFormat != nullptr) *pFormat = reference->format;
  if (pNumChannels != nullptr) *pNumChannels = reference->channels;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefGetMipmapLevelClamp(float* pminMipmapLevelClamp, float* pmaxMipmapLevelClamp,
                                                  CUtexref hTexRef) {
  const auto reference = get_reference(hTexRef);
  const std::scoped_lock lock(reference->mutex);
  if (pminMipmapLevelClamp != nullptr) *pminMipmapLevelClamp = reference->sampling.minMipmapLevelClamp;
  if (pmaxMipmapLevelClamp != nullptr) *pmaxMipmapLevelClamp = reference->sampling.maxMipmapLevelClamp;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefGetBorderColor(float* pBorderColor, CUtexref hTexRef) {
  const auto reference = get_reference(hTexRef);
  require(pBorderColor != nullptr);
  const std::scoped_lock lock(reference->mutex);
  std::copy_n(reference->sampling.borderColor, 4, pBorderColor);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
  require(Flags == 0);
  const auto array = arrays().get(hArray);
  require((array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = hArray;
  return set_reference(hSurfRef, [&](TextureReference& r) { bind_resource(r, resource); });
}

CUresult driver::call_cuSurfRefGetArray(CUarray* phArray, CUsurfref hSurfRef) {
  const auto reference = get_reference(hSurfRef);
  require(phArray != nullptr);
  const std::scoped_lock lock(reference->mutex);
  require(reference->bound);
  *phArray = reference->resource.res.array.hArray;
  return CUDA_SUCCESS;
}

}  // namespace cudasim
