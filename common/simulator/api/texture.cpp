// Texture and surface objects. CUDA Driver API manual, "Texture Object Management", "Surface Object Management".
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/streams/capture.hpp"
#include "common/simulator/state/textures/sampled.hpp"

#include <optional>

namespace cudasim {
namespace {

// What a program asked for, so that it can be queried. The texture that kernels use lives as long as this.
struct Object {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
  u64 context = 0, handle = 0;

  Object(const CUDA_RESOURCE_DESC& r, const CUDA_TEXTURE_DESC& t, const CUDA_RESOURCE_VIEW_DESC* v, const Context& c)
      : resource(r), texture(t), context(c.id) {
    if (v != nullptr) view = *v;
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { remove_texture(handle); }
};
using ObjectHandle = struct OpaqueObject*;

using Objects = Registry<Object, ObjectHandle>;

void end_with(Context& context);

struct Both {
  Objects textures, surfaces;
};
Both& both() {
  static Both& all = *[] {
    at_context_end(end_with);
    return new Both;
  }();
  return all;
}
Objects& textures() { return both().textures; }
Objects& surfaces() { return both().surfaces; }

void end_with(Context& context) {
  for (Objects* objects : {&textures(), &surfaces()}) {
    objects->remove_if([&](const Object& object) { return object.context == context.id; });
  }
}
ObjectHandle as_handle(u64 value) { return reinterpret_cast<ObjectHandle>(value); }

// Enters an object under a new handle.
u64 make(Objects& objects, const std::shared_ptr<Object>& object, Texture texture) {
  object->handle = reinterpret_cast<u64>(objects.add(object));
  enter_texture(object->handle, std::make_shared<const Texture>(std::move(texture)));
  return object->handle;
}
// The handle becomes invalid immediately, but kernels that run or wait in a stream still read through the object.
// (Observed on an H200: they can do so until another object is created, which reuses the same place.)
void end(Context& context, Objects& objects, u64 handle) {
  std::shared_ptr<Object> object = objects.remove(as_handle(handle));
  if (object == nullptr || context.idle()) return;  // driver 580 reports no error for an invalid or destroyed handle
  Operation last_use;
  last_use.run = [object = std::move(object)]() mutable {
    object.reset();
    return CUDA_SUCCESS;
  };
  context.enter_after_all(std::move(last_use));
}
std::shared_ptr<Object> described(Objects& objects, u64 handle) {
  return objects.get(as_handle(handle), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

CUresult driver::call_cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                                        const CUDA_TEXTURE_DESC* pTexDesc,
                                        const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
  const auto context = current_context();
  require(pTexObject != nullptr && pResDesc != nullptr && pTexDesc != nullptr);
  require_no_unsafe_capture();
  Texture texture = sampled(*pResDesc, *pTexDesc, pResViewDesc);
  *pTexObject =
      make(textures(), std::make_shared<Object>(*pResDesc, *pTexDesc, pResViewDesc, *context), std::move(texture));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexObjectDestroy(CUtexObject texObject) {
  const auto context = current_context();
  require_no_unsafe_capture();
  if (texObject != 0) end(*context, textures(), texObject);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
  const auto context = current_context();
  require(pResDesc != nullptr);
  *pResDesc = described(textures(), texObject)->resource;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
  const auto context = current_context();
  require(pTexDesc != nullptr);
  *pTexDesc = described(textures(), texObject)->texture;
  // A color that no axis needs is not kept (observed on an H200, driver 580).
  const auto& modes = pTexDesc->addressMode;
  if (std::find(std::begin(modes), std::end(modes), CU_TR_ADDRESS_MODE_BORDER) == std::end(modes))
    std::fill(std::begin(pTexDesc->borderColor), std::end(pTexDesc->borderColor), 0.0f);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc, CUtexObject texObject) {
  const auto context = current_context();
  require(pResViewDesc != nullptr);
  const auto object = described(textures(), texObject);
  *pResViewDesc = object->view.value_or(CUDA_RESOURCE_VIEW_DESC{});  // observed on an H200, driver 580: no error
  return CUDA_SUCCESS;
}

CUresult driver::call_cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
  const auto context = current_context();
  require(pSurfObject != nullptr && pResDesc != nullptr && pResDesc->resType == CU_RESOURCE_TYPE_ARRAY);
  require_no_unsafe_capture();
  Texture surface = texels_of(*pResDesc);
  *pSurfObject =
      make(surfaces(), std::make_shared<Object>(*pResDesc, CUDA_TEXTURE_DESC{}, nullptr, *context), std::move(surface));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuSurfObjectDestroy(CUsurfObject surfObject) {
  const auto context = current_context();
  require_no_unsafe_capture();
  if (surfObject != 0) end(*context, surfaces(), surfObject);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
  const auto context = current_context();
  require(pResDesc != nullptr);
  *pResDesc = described(surfaces(), surfObject)->resource;
  return CUDA_SUCCESS;
}

}  // namespace cudasim
