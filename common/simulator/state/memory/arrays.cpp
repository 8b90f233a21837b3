#include "common/simulator/state/memory/arrays.hpp"

#include "common/simulator/state/devices/driver.hpp"

#include <algorithm>
#include <bit>

namespace cudasim {

u32 channel_bytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}

namespace {

constexpr unsigned kSimulatedFlags =
    CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;

// Kinds of arrays that an H200 has and the simulator refuses: memory that is mapped later, tile by tile or as a whole,
// pictures of a video decoder, and a flag that the header does not name.
constexpr unsigned kOtherFlags = CUDA_ARRAY3D_SPARSE | 0x80 | 0x100 | 0x8000'0000u;

// How many channels the formats have that are not simulated and fix their number, by the header; 0: there is no such
// format, or none of 1, 2 or 4 channels.
u32 channels_of_other(int format) {
  if (format >= 0xc0 && format <= 0xcb) return 1u << (format - 0xc0) % 3;  // CU_AD_FORMAT_UNORM_…, _SNORM_…
  switch (format) {
    case 0x97:
    case 0x98: return 1;  // CU_AD_FORMAT_BC4_…
    case 0x99:
    case 0x9a:  // CU_AD_FORMAT_BC5_…
    case 0xa5:
    case 0xa6:
    case 0xa7: return 2;  // CU_AD_FORMAT_YUY2, _Y210, _Y216
    case 0x50:            // CU_AD_FORMAT_UNORM_INT_101010_2
    case 0xa8:
    case 0xb1:  // CU_AD_FORMAT_AYUV, _Y416
    case 0x9d:
    case 0x9e: return 4;                                       // CU_AD_FORMAT_BC7_…
    default: return format >= 0x91 && format <= 0x96 ? 4 : 0;  // CU_AD_FORMAT_BC1_… to _BC3_…
  }
}

// The sizes that the manual allows, by the kind of array: some of the device's attributes.
void require_shape(const Device& device, const CUDA_ARRAY3D_DESCRIPTOR& d) {
  const auto at_most = [&](u64 size, CUdevice_attribute attribute) {
    require(size <= static_cast<u64>(*attribute_value(device, attribute)));
  };
  const bool layered = (d.Flags & CUDA_ARRAY3D_LAYERED) != 0, cube = (d.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  require(d.Width != 0);
  if (cube) {
    require(d.Width == d.Height && (layered ? d.Depth != 0 && d.Depth % 6 == 0 : d.Depth == 6));
    at_most(d.Width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
    at_most(d.Depth, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS);
  } else if (layered) {
    require(d.Depth != 0);
    at_most(d.Depth, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS);
    at_most(d.Width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH);
    at_most(d.Height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT);
  } else if (d.Depth != 0) {
    require(d.Height != 0);
    const bool deep = d.Depth > 16384;  // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH
    at_most(d.Width,
            deep ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH);
    at_most(d.Height, deep ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE
                           : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT);
    at_most(d.Depth, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE);
  } else {
    at_most(d.Width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH);
    at_most(d.Height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT);
  }
  if ((d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) == 0) return;
  require(d.Height != 0 && d.Depth == 0);
  at_most(d.Width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH);
  at_most(d.Height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT);
}

void drop_arrays_of(Context& context) {
  const auto theirs = [&](const auto& object) { return object.context == context.id; };
  arrays().remove_if(theirs);
  mipmapped_arrays().remove_if(theirs);
}

}  // namespace

std::shared_ptr<Array> make_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                  const ArrayMemory& memory) {
  require(descriptor.NumChannels == 1 || descriptor.NumChannels == 2 || descriptor.NumChannels == 4);
  require_shape(context.device, descriptor);
  require((descriptor.Flags & CUDA_ARRAY3D_DEPTH_TEXTURE) ==
          0);  // for graphics only: as on an H200, whatever the format
  require((descriptor.Flags & ~(kSimulatedFlags | kOtherFlags)) == 0);
  if ((descriptor.Flags & kOtherFlags) != 0) fail(refuse("cuArray3DCreate", "with these flags"));
  const u32 channel = channel_bytes(descriptor.Format);
  if (channel == 0) {
    require(channels_of_other(descriptor.Format) == descriptor.NumChannels);
    fail(refuse("cuArray3DCreate", "in this format"));
  }
  auto made = std::make_shared<Array>();
  made->descriptor = descriptor;
  made->element = channel * descriptor.NumChannels;
  made->width = descriptor.Width;
  made->height = std::max<u64>(descriptor.Height, 1);
  made->depth = std::max<u64>(descriptor.Depth, 1);
  made->context = context.id;
  const u64 bytes = made->pitch() * made->height * made->depth;
  made->address = memory != nullptr ? memory(bytes)
                                    : allocate_device_memory(context, MemoryKind::array, bytes, "cuArrayCreate")->base;
  return made;
}

namespace {

// Layers do not become fewer from level to level.
bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  return (descriptor.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

}  // namespace

unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  const u64 depth = has_layers(descriptor) ? 0 : descriptor.Depth;
  return static_cast<unsigned>(std::bit_width(std::max({u64{descriptor.Width}, u64{descriptor.Height}, depth})));
}

CUmipmappedArray make_mipmapped_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels,
                                      const ArrayMemory& memory) {
  const auto made = std::make_shared<MipmappedArray>();
  made->context = context.id;
  CUDA_ARRAY3D_DESCRIPTOR level = descriptor;
  const auto halve = [](size_t& side) { side = side > 1 ? side / 2 : side; };
  std::vector<std::shared_ptr<Array>> parts;  // none is named before all are there
  try {
    for (unsigned i = 0; i < levels; ++i) {
      parts.push_back(make_array(context, level, memory));
      parts.back()->is_level = true;
      halve(level.Width);
      halve(level.Height);
      if (!has_layers(descriptor)) halve(level.Depth);
    }
  } catch (const Failure&) {
    for (const auto& part : parts) end_allocation(part->address, "cuMipmappedArrayCreate");
    throw;
  }
  for (const auto& part : parts) made->levels.push_back(arrays().add(part));
  return mipmapped_arrays().add(made);
}

Registry<Array, CUarray>& arrays() {
  static auto& all = *[] {
    at_context_end(drop_arrays_of);
    return new Registry<Array, CUarray>;
  }();
  return all;
}

Registry<MipmappedArray, CUmipmappedArray>& mipmapped_arrays() {
  static auto& all = *new Registry<MipmappedArray, CUmipmappedArray>;
  return all;
}

}  // namespace cudasim
