// Texture and surface references: variables of a module that the host gives a meaning to. CUDA Driver API manual,
// "Texture Reference Management [DEPRECATED]", "Surface Reference Management [DEPRECATED]".
//
// To instructions a reference is an object whose handle is the variable's address. A launch sees what was set
// before it: so a call that sets something waits for the launches that came before.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/modules/library.hpp"
#include "common/simulator/state/modules/module.hpp"
#include "common/simulator/state/textures/sampled.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace cudasim {

// What a reference of either kind has been given so far.
struct TextureReference {
  u64 address = 0;  // of the variable; 0: made by cuTexRefCreate, which no kernel can name
  CUmodule module = nullptr;
  u64 context = 0;
  bool bound = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampling{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  int channels = 1;
  std::mutex mutex;  // for all but the first three

  TextureReference() {
    std::fill(std::begin(sampling.addressMode), std::end(sampling.addressMode), CU_TR_ADDRESS_MODE_CLAMP);
  }
};

template <class Handle>
Registry<TextureReference, Handle>& references() {
  static auto& all = *[] {
    at_context_end([](Context& context) {
      references<Handle>().remove_if([&](const TextureReference& r) { return r.context == context.id; });
    });
    return new Registry<TextureReference, Handle>;
  }();
  return all;
}

// The handle of a module's variable, the same each time. What its initialiser says of sampling is not asked: an H200's
// driver does not, either.
template <class Handle>
Handle reference_handle(CUmodule module_handle, const char* name) {
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
  const auto made = std::make_shared<TextureReference>();
  made->address = address;
  made->module = module_handle;
  made->context = module->context_id;
  return handles[address] = references<Handle>().add(made);
}

// A module's references end with it.
template <class Handle>
std::shared_ptr<TextureReference> get_reference(Handle handle) {
  require_calls_permitted();
  auto reference = references<Handle>().get(handle, CUDA_ERROR_INVALID_VALUE);
  if (reference->module != nullptr) require(modules().find(reference->module) != nullptr);
  return reference;
}

// Lets instructions see what the reference is now. Half of what it needs may still be missing.
void show(const TextureReference& r, bool is_texture);

// Changes a reference by `change(reference)`; what cannot be sampled that way is not bound.
template <class Handle, class Change>
CUresult set_reference(Handle handle, Change change) {
  const auto reference = get_reference(handle);
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
CUresult get_from_reference(Result* to, CUtexref handle, Get value) {
  const auto reference = get_reference(handle);
  require(to != nullptr);
  const std::scoped_lock lock(reference->mutex);
  *to = value(*reference);
  return CUDA_SUCCESS;
}
void bind_resource(TextureReference& r, const CUDA_RESOURCE_DESC& resource);

// Texels are then read as they are stored.
CUresult bind_stored(CUtexref handle, const CUDA_RESOURCE_DESC& resource, CUarray_format format, unsigned channels);

constexpr u64 kTextureAlignment = 512;  // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
CUresult set_address_2d(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr, size_t pitch);

}  // namespace cudasim
