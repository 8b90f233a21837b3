// Texture and surface objects. CUDA Driver API manual, "Texture Object Management", "Surface Object Management".
#include "common/simulator/api/guard.hpp"
#include "common/simulator/memory/textures.hpp"
#include "common/simulator/state/arrays.hpp"

#include <algorithm>

namespace cudasim {
namespace {

// What a program asked for, to be told again.
struct Object {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  u64 context = 0, handle = 0;
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
    const auto theirs = [&](const Object& object) { return object.context == context.id; };
    for (const auto& object : objects->remove_if(theirs)) remove_texture(object->handle);
  }
}
ObjectHandle as_handle(u64 value) { return reinterpret_cast<ObjectHandle>(value); }

Type channel_type(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: return Type::u8;
    case CU_AD_FORMAT_UNSIGNED_INT16: return Type::u16;
    case CU_AD_FORMAT_UNSIGNED_INT32: return Type::u32;
    case CU_AD_FORMAT_SIGNED_INT8: return Type::s8;
    case CU_AD_FORMAT_SIGNED_INT16: return Type::s16;
    case CU_AD_FORMAT_SIGNED_INT32: return Type::s32;
    case CU_AD_FORMAT_HALF: return Type::f16;
    case CU_AD_FORMAT_FLOAT: return Type::f32;
    default: return Type::none;
  }
}

void describe_texels(Texture& t, CUarray_format format, unsigned channels) {
  t.channel = channel_type(format);
  t.channels = channels;
  require(t.channel != Type::none && (channels == 1 || channels == 2 || channels == 4));
}

// CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, _TEXTURE_PITCH_ALIGNMENT, _MAXIMUM_TEXTURE1D_LINEAR_WIDTH and
// _MAXIMUM_TEXTURE2D_LINEAR_WIDTH, _HEIGHT, _PITCH.
constexpr u64 kAlignment = 512, kPitchAlignment = 32, kMost1d = u64{1} << 28;
constexpr u64 kMostWidth = 131072, kMostHeight = 65000, kMostPitch = 2097120;

Texture resource(const CUDA_RESOURCE_DESC& r) {
  require(r.flags == 0);
  Texture t;
  switch (r.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      const auto array = arrays().get(r.res.array.hArray);
      describe_texels(t, array->descriptor.Format, array->descriptor.NumChannels);
      t.address = array->address;
      t.width = u32(array->width), t.height = u32(array->height), t.depth = u32(array->depth);
      t.pitch = array->pitch();
      t.slice = t.pitch * t.height;
      return t;
    }
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = r.res.linear;
      describe_texels(t, linear.format, linear.numChannels);
      require(linear.devPtr != 0 && linear.devPtr % kAlignment == 0);
      t.address = linear.devPtr;
      t.linear_memory = true;
      const u64 width = linear.sizeInBytes / t.texel_bytes();
      require(width != 0 && width <= kMost1d);
      t.width = u32(width);
      return t;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& flat = r.res.pitch2D;
      describe_texels(t, flat.format, flat.numChannels);
      require(flat.devPtr != 0 && flat.devPtr % kAlignment == 0);
      require(flat.width != 0 && flat.width <= kMostWidth && flat.height != 0 && flat.height <= kMostHeight);
      require(flat.pitchInBytes % kPitchAlignment == 0 && flat.pitchInBytes <= kMostPitch);
      require(flat.pitchInBytes >= flat.width * t.texel_bytes());
      t.address = flat.devPtr;
      t.width = u32(flat.width), t.height = u32(flat.height);
      t.pitch = t.slice = flat.pitchInBytes;
      return t;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: fail(refuse("cuTexObjectCreate", "on a mipmapped array"));
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

Addressing addressing(CUaddress_mode mode) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP: return Addressing::wrap;
    case CU_TR_ADDRESS_MODE_CLAMP: return Addressing::clamp;
    case CU_TR_ADDRESS_MODE_MIRROR: return Addressing::mirror;
    case CU_TR_ADDRESS_MODE_BORDER: return Addressing::border;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

constexpr unsigned kSimulatedFlags =
    CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;

void describe_sampling(Texture& t, const CUDA_TEXTURE_DESC& d) {
  for (int k = 0; k < 3; ++k) t.addressing[k] = addressing(d.addressMode[k]);
  require(d.filterMode == CU_TR_FILTER_MODE_POINT || d.filterMode == CU_TR_FILTER_MODE_LINEAR);
  require(d.maxAnisotropy <= 16);
  if ((d.flags & ~kSimulatedFlags) != 0) fail(refuse("cuTexObjectCreate", "with these flags"));
  if (d.maxAnisotropy > 1) fail(refuse("cuTexObjectCreate", "with anisotropic filtering"));
  t.linear = d.filterMode == CU_TR_FILTER_MODE_LINEAR && !t.linear_memory;
  t.normalized = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  t.as_integers = (d.flags & CU_TRSF_READ_AS_INTEGER) != 0 || (!is_float(t.channel) && bits(t.channel) == 32);
  if (is_float(t.channel)) t.as_integers = false;
  require(!t.linear || !t.as_integers);  // there is nothing between whole numbers
  std::copy(std::begin(d.borderColor), std::end(d.borderColor), t.border);
}

// Enters an object under a new handle.
u64 make(Objects& objects, Object object, Texture texture) {
  const auto made = std::make_shared<Object>(object);
  made->handle = reinterpret_cast<u64>(objects.add(made));
  enter_texture(made->handle, std::make_shared<const Texture>(texture));
  return made->handle;
}
void end(Objects& objects, u64 handle) {
  require(objects.remove(as_handle(handle)) != nullptr);
  remove_texture(handle);
}
Object described(Objects& objects, u64 handle) { return *objects.get(as_handle(handle), CUDA_ERROR_INVALID_VALUE); }

}  // namespace
}  // namespace cudasim

using namespace cudasim;

CUDASIM_API CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                                       const CUDA_TEXTURE_DESC* pTexDesc, const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
  return CUDASIM_CALL(pTexObject, pResDesc, pTexDesc, pResViewDesc) {
    const auto context = current_context();
    require(pTexObject != nullptr && pResDesc != nullptr && pTexDesc != nullptr);
    if (pResViewDesc != nullptr) return refuse("cuTexObjectCreate", "with a resource view");
    Texture texture = resource(*pResDesc);
    describe_sampling(texture, *pTexDesc);
    *pTexObject = make(textures(), {*pResDesc, *pTexDesc, context->id}, texture);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuTexObjectDestroy(CUtexObject texObject) {
  return CUDASIM_CALL(texObject) {
    const auto context = current_context();
    end(textures(), texObject);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
  return CUDASIM_CALL(pResDesc, texObject) {
    const auto context = current_context();
    require(pResDesc != nullptr);
    *pResDesc = described(textures(), texObject).resource;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
  return CUDASIM_CALL(pTexDesc, texObject) {
    const auto context = current_context();
    require(pTexDesc != nullptr);
    *pTexDesc = described(textures(), texObject).texture;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
  return CUDASIM_CALL(pSurfObject, pResDesc) {
    const auto context = current_context();
    require(pSurfObject != nullptr && pResDesc != nullptr && pResDesc->resType == CU_RESOURCE_TYPE_ARRAY);
    const Texture surface = resource(*pResDesc);
    const auto array = arrays().get(pResDesc->res.array.hArray);
    require((array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0);
    *pSurfObject = make(surfaces(), {*pResDesc, {}, context->id}, surface);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
  return CUDASIM_CALL(surfObject) {
    const auto context = current_context();
    end(surfaces(), surfObject);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
  return CUDASIM_CALL(pResDesc, surfObject) {
    const auto context = current_context();
    require(pResDesc != nullptr);
    *pResDesc = described(surfaces(), surfObject).resource;
    return CUDA_SUCCESS;
  };
}
