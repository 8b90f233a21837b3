#include "common/simulator/state/textures/sampled.hpp"

#include "common/simulator/state/memory/arrays.hpp"

#include <algorithm>

namespace cudasim {
namespace {

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

TextureLevel level_of(const Array& array) {
  TextureLevel level;
  level.address = array.address;
  level.width = u32(array.width), level.height = u32(array.height), level.depth = u32(array.depth);
  level.pitch = array.pitch();
  level.slice = level.pitch * level.height;
  return level;
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
bool is_linear(CUfilter_mode mode) {
  require(mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR);
  return mode == CU_TR_FILTER_MODE_LINEAR;
}

// Two of them no header names; a driver takes them, and they change nothing.
constexpr unsigned kFlags = 4 | 8 | CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                            CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;

bool is_cube(const CUDA_RESOURCE_DESC& r) {
  CUarray array = nullptr;
  if (r.resType == CU_RESOURCE_TYPE_ARRAY) array = r.res.array.hArray;
  if (r.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
    array = mipmapped_arrays().get(r.res.mipmap.hMipmappedArray)->levels.front();
  return array != nullptr && (arrays().get(array)->descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
}

void describe_sampling(Texture& t, const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& d) {
  require((d.flags & ~kFlags) == 0);
  Sampler& s = t.sampler;
  for (int k = 0; k < 3; ++k) s.addressing[k] = addressing(d.addressMode[k]);
  s.linear = is_linear(d.filterMode) && !t.linear_memory;
  s.linear_levels = is_linear(d.mipmapFilterMode);
  s.level_bias = d.mipmapLevelBias;
  s.least_level = d.minMipmapLevelClamp, s.most_level = d.maxMipmapLevelClamp;
  s.anisotropy = std::clamp(d.maxAnisotropy, 1u, 16u);
  s.seamless = (d.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  require(!s.seamless || is_cube(resource));
  s.normalized = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  std::copy(std::begin(d.borderColor), std::end(d.borderColor), s.border);
  t.as_integers = (d.flags & CU_TRSF_READ_AS_INTEGER) != 0 || (!is_float(t.channel) && bits(t.channel) == 32);
  if (is_float(t.channel)) t.as_integers = false;
  t.srgb = (d.flags & CU_TRSF_SRGB) != 0 && t.channel == Type::u8 && !t.as_integers;
}

// What CUresourceViewFormat's values stand for: type by type one, two and four channels, from 1.
constexpr CUarray_format kViewFormats[] = {
    CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
    CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};

void look_through(Texture& t, const CUDA_RESOURCE_DESC& resource, const CUDA_RESOURCE_VIEW_DESC& view) {
  const bool mipmapped = resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  if (!mipmapped && resource.resType != CU_RESOURCE_TYPE_ARRAY) return;  // of plain memory there is no view
  // A view's size is that of the whole, whichever levels it shows.
  const TextureLevel& base = t.base();
  require(view.format > CU_RES_VIEW_FORMAT_NONE && view.format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7);
  const u32 number = u32(view.format) - 1, was = t.texel_bytes();
  const bool blocks = number >= 3 * std::size(kViewFormats);
  const u64 side = blocks ? 4 : 1;  // texels of a block for each of the array
  require(view.width == side * base.width && std::max<u64>(view.height, 1) == side * base.height);
  require(view.depth == (base.depth == 1 ? 0 : base.depth));
  if (blocks) {
    const bool small = view.format == CU_RES_VIEW_FORMAT_UNSIGNED_BC1 ||
                       view.format == CU_RES_VIEW_FORMAT_UNSIGNED_BC4 || view.format == CU_RES_VIEW_FORMAT_SIGNED_BC4;
    require(was == (small ? 8 : 16));
    fail(refuse("cuTexObjectCreate", "with a view of compressed blocks"));
  }
  describe_texels(t, kViewFormats[number / 3], 1u << number % 3);
  require(t.texel_bytes() == was);
  // A view ends at the last level and the last layer, unless the array has only one of them.
  const u32 most_level = u32(t.levels.size()) - 1, most_layer = t.base().depth - 1;
  require(view.firstMipmapLevel <= view.lastMipmapLevel && view.firstMipmapLevel <= most_level);
  require(view.firstLayer <= view.lastLayer && view.firstLayer <= most_layer);
  require((mipmapped || view.lastMipmapLevel == 0) && (most_layer != 0 || view.lastLayer == 0));
  const u32 last_level = std::min(view.lastMipmapLevel, most_level);
  const u32 last_layer = std::min(view.lastLayer, most_layer);
  t.levels.erase(t.levels.begin() + last_level + 1, t.levels.end());
  t.levels.erase(t.levels.begin(), t.levels.begin() + view.firstMipmapLevel);
  const bool all = view.firstLayer == 0 && view.lastLayer == 0;  // none named
  for (TextureLevel& level : t.levels) {
    if (all) continue;
    level.address += view.firstLayer * level.slice;
    level.depth = last_layer - view.firstLayer + 1;
  }
}

}  // namespace

Texture texels_of(const CUDA_RESOURCE_DESC& r) {
  require(r.flags == 0);
  Texture t;
  TextureLevel& base = t.levels.front();
  switch (r.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      require(r.res.array.hArray != nullptr);
      const auto array = arrays().get(r.res.array.hArray);
      describe_texels(t, array->descriptor.Format, array->descriptor.NumChannels);
      base = level_of(*array);
      return t;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      require(r.res.mipmap.hMipmappedArray != nullptr);
      const auto mipmapped = mipmapped_arrays().get(r.res.mipmap.hMipmappedArray);
      t.levels.clear();
      for (const CUarray each : mipmapped->levels) {
        const auto array = arrays().get(each);
        describe_texels(t, array->descriptor.Format, array->descriptor.NumChannels);
        t.levels.push_back(level_of(*array));
      }
      return t;
    }
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = r.res.linear;
      describe_texels(t, linear.format, linear.numChannels);
      require(linear.devPtr != 0 && linear.devPtr % kAlignment == 0);
      base.address = linear.devPtr;
      t.linear_memory = true;
      const u64 width = linear.sizeInBytes / t.texel_bytes();
      require(width <= kMost1d);
      base.width = u32(width);
      return t;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& flat = r.res.pitch2D;
      describe_texels(t, flat.format, flat.numChannels);
      require(flat.devPtr != 0 && flat.devPtr % kAlignment == 0);
      require(flat.width != 0 && flat.width <= kMostWidth && flat.height != 0 && flat.height <= kMostHeight);
      require(flat.pitchInBytes % kPitchAlignment == 0 && flat.pitchInBytes <= kMostPitch);
      require(flat.pitchInBytes == 0 || flat.pitchInBytes >= flat.width * t.texel_bytes());
      base.address = flat.devPtr;
      base.width = u32(flat.width), base.height = u32(flat.height);
      base.pitch = base.slice = flat.pitchInBytes;
      return t;
    }
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

Texture sampled(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                const CUDA_RESOURCE_VIEW_DESC* view) {
  Texture texture = texels_of(resource);
  if (view != nullptr) look_through(texture, resource, *view);
  describe_sampling(texture, resource, sampling);
  return texture;
}

}  // namespace cudasim
