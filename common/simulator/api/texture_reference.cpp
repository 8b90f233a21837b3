// Texture and surface references: variables of a module that the host gives a meaning to. CUDA Driver API manual,
// "Texture Reference Management [DEPRECATED]", "Surface Reference Management [DEPRECATED]".
//
// To instructions a reference is an object whose handle is the variable's address. A launch sees what was set before
// it: so whoever sets something waits for the launches that came before.
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/sampled.hpp"
#include "common/simulator/state/arrays.hpp"
#include "common/simulator/state/library.hpp"
#include "common/simulator/state/module.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace cudasim {
namespace {

// What a reference of either kind has been given so far.
struct Reference {
  u64 address = 0;  // of the variable; 0: made by cuTexRefCreate, which no kernel can name
  CUmodule module = nullptr;
  u64 context = 0;
  bool bound = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampling{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  int channels = 1;
  std::mutex mutex;  // for all but the first three

  Reference() { std::fill(std::begin(sampling.addressMode), std::end(sampling.addressMode), CU_TR_ADDRESS_MODE_CLAMP); }
};

template <class Handle>
Registry<Reference, Handle>& references() {
  static auto& all = *[] {
    at_context_end([](Context& context) {
      references<Handle>().remove_if([&](const Reference& r) { return r.context == context.id; });
    });
    return new Registry<Reference, Handle>;
  }();
  return all;
}

// The handle of a module's variable, the same each time. What its initialiser says of sampling is not asked: an H200's
// driver does not, either.
template <class Handle>
Handle handle_of(CUmodule module_handle, const char* name) {
  require_calls_permitted();
  const auto module = get_module(module_handle);
  require(name != nullptr);
  const Program& program = *module->program;
  const auto& names = std::is_same_v<Handle, CUtexref> ? program.texture_references : program.surface_references;
  const auto found = names.find(name);
  require(found != names.end(), CUDA_ERROR_NOT_FOUND);
  const u64 address = program.globals[found->second].address;
  static std::mutex& mutex = *new std::mutex;
  static auto& handles = *new std::map<u64, Handle>;  // by the variable's address
  const std::scoped_lock lock(mutex);
  const auto known = handles.find(address);
  if (known != handles.end()) {
    const auto reference = references<Handle>().find(known->second);
    if (reference && reference->module == module_handle) return known->second;
  }
  const auto made = std::make_shared<Reference>();
  made->address = address;
  made->module = module_handle;
  made->context = module->context_id;
  return handles[address] = references<Handle>().add(made);
}

// A module's references end with it.
template <class Handle>
std::shared_ptr<Reference> named(Handle handle) {
  require_calls_permitted();
  auto reference = references<Handle>().get(handle, CUDA_ERROR_INVALID_VALUE);
  if (reference->module != nullptr) require(modules().find(reference->module) != nullptr);
  return reference;
}

// Lets instructions see what the reference is now. Half of what it needs may still be missing.
void show(const Reference& r, bool is_texture) {
  if (r.address == 0) return;
  if (!r.bound) {
    remove_texture(r.address);
    return;
  }
  enter_texture(r.address, std::make_shared<const Texture>(is_texture ? sampled(r.resource, r.sampling, nullptr)
                                                                      : texels_of(r.resource)));
}

// Changes a reference by `change(reference)`; what cannot be sampled that way is not bound.
template <class Handle, class Change>
CUresult set(Handle handle, Change change) {
  const auto reference = named(handle);
  current_context()->synchronize();
  const std::scoped_lock lock(reference->mutex);
  change(*reference);
  try {
    show(*reference, std::is_same_v<Handle, CUtexref>);
  } catch (const Failure&) {
    remove_texture(reference->address);
  }
  return CUDA_SUCCESS;
}
template <class Result, class Get>
CUresult get(Result* to, CUtexref handle, Get value) {
  const auto reference = named(handle);
  require(to != nullptr);
  const std::scoped_lock lock(reference->mutex);
  *to = value(*reference);
  return CUDA_SUCCESS;
}

void bind(Reference& r, const CUDA_RESOURCE_DESC& resource) {
  texels_of(resource);  // throws if it is none
  r.resource = resource;
  r.bound = true;
}

// Texels are then read as they are stored.
CUresult bind_stored(CUtexref handle, const CUDA_RESOURCE_DESC& resource, CUarray_format format, unsigned channels) {
  return set(handle, [&](Reference& r) {
    bind(r, resource);
    r.format = format, r.channels = int(channels);
  });
}

constexpr u64 kTextureAlignment = 512;  // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT

CUresult set_address_2d(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr, size_t pitch) {
  require(desc != nullptr);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {dptr, desc->Format, desc->NumChannels, desc->Width, desc->Height, pitch};
  return bind_stored(handle, resource, desc->Format, desc->NumChannels);
}

}  // namespace

CUresult driver::call_cuModuleGetTexRef(CUtexref* pTexRef, CUmodule hmod, const char* name) {
  require(pTexRef != nullptr);
  *pTexRef = handle_of<CUtexref>(hmod, name);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleGetSurfRef(CUsurfref* pSurfRef, CUmodule hmod, const char* name) {
  require(pSurfRef != nullptr);
  *pSurfRef = handle_of<CUsurfref>(hmod, name);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef) {
  require(texunit == CU_PARAM_TR_DEFAULT);
  get_function_or_kernel(hfunc, current_context());
  named(hTexRef);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefCreate(CUtexref* pTexRef) {
  const auto context = current_context();
  require(pTexRef != nullptr);
  const auto made = std::make_shared<Reference>();
  made->context = context->id;
  *pTexRef = references<CUtexref>().add(made);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefDestroy(CUtexref hTexRef) {
  require(named(hTexRef)->address == 0);  // a module's ends with it
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

// Memory that does not begin where textures may: the texture begins before it, and the program is told by how much.
CUresult driver::call_cuTexRefSetAddress_v2(size_t* ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes) {
  const u64 offset = dptr % kTextureAlignment;
  require(ByteOffset != nullptr || offset == 0);
  return set(hTexRef, [&](Reference& r) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {dptr - offset, r.format, unsigned(r.channels), bytes + offset};
    bind(r, resource);
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
  return set(hTexRef, [&](Reference& r) {
    r.format = fmt, r.channels = NumPackedComponents;
    if (r.bound && r.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
      r.resource.res.linear.format = fmt, r.resource.res.linear.numChannels = unsigned(NumPackedComponents);
    }
  });
}

CUresult driver::call_cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am) {
  require(dim >= 0 && dim < 3 && am >= CU_TR_ADDRESS_MODE_WRAP && am <= CU_TR_ADDRESS_MODE_BORDER);
  return set(hTexRef, [&](Reference& r) { r.sampling.addressMode[dim] = am; });
}

CUresult driver::call_cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  require(fm == CU_TR_FILTER_MODE_POINT || fm == CU_TR_FILTER_MODE_LINEAR);
  return set(hTexRef, [&](Reference& r) { r.sampling.filterMode = fm; });
}

CUresult driver::call_cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  require(fm == CU_TR_FILTER_MODE_POINT || fm == CU_TR_FILTER_MODE_LINEAR);
  return set(hTexRef, [&](Reference& r) { r.sampling.mipmapFilterMode = fm; });
}

CUresult driver::call_cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias) {
  return set(hTexRef, [&](Reference& r) { r.sampling.mipmapLevelBias = bias; });
}

CUresult driver::call_cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp,
                                                  float maxMipmapLevelClamp) {
  return set(hTexRef, [&](Reference& r) {
    r.sampling.minMipmapLevelClamp = minMipmapLevelClamp, r.sampling.maxMipmapLevelClamp = maxMipmapLevelClamp;
  });
}

CUresult driver::call_cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso) {
  return set(hTexRef, [&](Reference& r) { r.sampling.maxAnisotropy = maxAniso; });
}

CUresult driver::call_cuTexRefSetBorderColor(CUtexref hTexRef, float* pBorderColor) {
  require(pBorderColor != nullptr);
  return set(hTexRef, [&](Reference& r) { std::copy_n(pBorderColor, 4, r.sampling.borderColor); });
}

CUresult driver::call_cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags) {
  constexpr unsigned kKnown =
      CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  require((Flags & ~kKnown) == 0);
  return set(hTexRef, [&](Reference& r) { r.sampling.flags = Flags; });
}

CUresult driver::call_cuTexRefGetAddress_v2(CUdeviceptr* pdptr, CUtexref hTexRef) {
  return get(pdptr, hTexRef, [](const Reference& r) -> CUdeviceptr {
    require(r.bound);
    if (r.resource.resType == CU_RESOURCE_TYPE_PITCH2D) return r.resource.res.pitch2D.devPtr;
    require(r.resource.resType == CU_RESOURCE_TYPE_LINEAR);
    return r.resource.res.linear.devPtr;
  });
}

CUresult driver::call_cuTexRefGetArray(CUarray* phArray, CUtexref hTexRef) {
  return get(phArray, hTexRef, [](const Reference& r) {
    require(r.bound && r.resource.resType == CU_RESOURCE_TYPE_ARRAY);
    return r.resource.res.array.hArray;
  });
}

CUresult driver::call_cuTexRefGetMipmappedArray(CUmipmappedArray* phMipmappedArray, CUtexref hTexRef) {
  return get(phMipmappedArray, hTexRef, [](const Reference& r) {
    require(r.bound && r.resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    return r.resource.res.mipmap.hMipmappedArray;
  });
}

CUresult driver::call_cuTexRefGetAddressMode(CUaddress_mode* pam, CUtexref hTexRef, int dim) {
  require(dim >= 0 && dim < 3);
  return get(pam, hTexRef, [dim](const Reference& r) { return r.sampling.addressMode[dim]; });
}

CUresult driver::call_cuTexRefGetFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
  return get(pfm, hTexRef, [](const Reference& r) { return r.sampling.filterMode; });
}

CUresult driver::call_cuTexRefGetFormat(CUarray_format* pFormat, int* pNumChannels, CUtexref hTexRef) {
  const auto reference = named(hTexRef);
  const std::scoped_lock lock(reference->mutex);
  if (pFormat != nullptr) *pFormat = reference->format;
  if (pNumChannels != nullptr) *pNumChannels = reference->channels;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefGetMipmapFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
  return get(pfm, hTexRef, [](const Reference& r) { return r.sampling.mipmapFilterMode; });
}

CUresult driver::call_cuTexRefGetMipmapLevelBias(float* pbias, CUtexref hTexRef) {
  return get(pbias, hTexRef, [](const Reference& r) { return r.sampling.mipmapLevelBias; });
}

CUresult driver::call_cuTexRefGetMipmapLevelClamp(float* pminMipmapLevelClamp, float* pmaxMipmapLevelClamp,
                                                  CUtexref hTexRef) {
  const auto reference = named(hTexRef);
  const std::scoped_lock lock(reference->mutex);
  if (pminMipmapLevelClamp != nullptr) *pminMipmapLevelClamp = reference->sampling.minMipmapLevelClamp;
  if (pmaxMipmapLevelClamp != nullptr) *pmaxMipmapLevelClamp = reference->sampling.maxMipmapLevelClamp;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefGetMaxAnisotropy(int* pmaxAniso, CUtexref hTexRef) {
  return get(pmaxAniso, hTexRef, [](const Reference& r) { return int(r.sampling.maxAnisotropy); });
}

CUresult driver::call_cuTexRefGetBorderColor(float* pBorderColor, CUtexref hTexRef) {
  const auto reference = named(hTexRef);
  require(pBorderColor != nullptr);
  const std::scoped_lock lock(reference->mutex);
  std::copy_n(reference->sampling.borderColor, 4, pBorderColor);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexRefGetFlags(unsigned int* pFlags, CUtexref hTexRef) {
  return get(pFlags, hTexRef, [](const Reference& r) { return r.sampling.flags; });
}

CUresult driver::call_cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
  require(Flags == 0);
  const auto array = arrays().get(hArray);
  require((array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = hArray;
  return set(hSurfRef, [&](Reference& r) { bind(r, resource); });
}

CUresult driver::call_cuSurfRefGetArray(CUarray* phArray, CUsurfref hSurfRef) {
  const auto reference = named(hSurfRef);
  require(phArray != nullptr);
  const std::scoped_lock lock(reference->mutex);
  require(reference->bound);
  *phArray = reference->resource.res.array.hArray;
  return CUDA_SUCCESS;
}

}  // namespace cudasim
