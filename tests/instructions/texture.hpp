// Arrays, textures and surfaces, for the tests of the instructions that read and write them.
#pragma once
#include "tests/catch.hpp"
#include "tests/instructions/case.hpp"
#include "tests/instructions/device.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace instructions {

// What the threads of a kernel get, or what they return: four words each.
using Words = std::vector<std::array<u32, 4>>;

inline u32 word(float x) { return u32(to_bits(x)); }
inline float real(u32 x) { return from_bits<float>(x); }

// What owns a handle. That it can be destroyed is tested, too.
template <class Handle, CUresult (*destroy)(Handle)>
struct Owner {
  Handle handle{};
  Owner() = default;
  ~Owner() { CU_CHECK(destroy(handle)); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  operator Handle() const { return handle; }
};

struct Texture : Owner<CUtexObject, cuTexObjectDestroy> {
  Texture(const CUDA_RESOURCE_DESC& of, const CUDA_TEXTURE_DESC& how, const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CU_CHECK(cuTexObjectCreate(&handle, &of, &how, view));
  }
};
struct Surface : Owner<CUsurfObject, cuSurfObjectDestroy> {
  explicit Surface(const CUDA_RESOURCE_DESC& of) { CU_CHECK(cuSurfObjectCreate(&handle, &of)); }
};

struct Size {
  u32 width, height = 1, depth = 1;  // depth: layers and faces, too
  u32 texels() const { return width * height * depth; }
};
inline u32 bytes_of(CUarray_format format) {
  if (format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT8) return 1;
  const bool has_two = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_UNSIGNED_INT16;
  return has_two || format == CU_AD_FORMAT_SIGNED_INT16 ? 2 : 4;
}

// Between an array and host memory: one of `from` and `to` is null.
inline void copy(CUarray array, const Size& size, u32 texel_bytes, const void* from, void* to) {
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = from != nullptr ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
  c.dstMemoryType = from != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
  c.srcHost = from;
  c.dstHost = to;
  (from != nullptr ? c.dstArray : c.srcArray) = array;
  c.srcPitch = c.dstPitch = c.WidthInBytes = size.width * texel_bytes;
  c.srcHeight = c.dstHeight = c.Height = size.height;
  c.Depth = size.depth;
  CU_CHECK(cuMemcpy3D(&c));
}

struct Array : Owner<CUarray, cuArrayDestroy> {
  const Size size;
  const u32 texel_bytes;
  Array(const Size& s, CUarray_format format, u32 channels, unsigned flags = 0)
      : size(s), texel_bytes(bytes_of(format) * channels) {
    CUDA_ARRAY3D_DESCRIPTOR d{};
    d.Width = size.width;
    d.Height = size.height > 1 ? size.height : 0;
    d.Depth = size.depth > 1 ? size.depth : 0;
    d.Format = format;
    d.NumChannels = channels;
    d.Flags = flags;
    CU_CHECK(cuArray3DCreate(&handle, &d));
  }
  template <class T>
  Array(const Size& s, CUarray_format format, u32 channels, unsigned flags, const std::vector<T>& texels)
      : Array(s, format, channels, flags) {
    REQUIRE(texels.size() * sizeof(T) == size.texels() * texel_bytes);
    copy(handle, size, texel_bytes, texels.data(), nullptr);
  }
  void read(void* to) const { copy(handle, size, texel_bytes, nullptr, to); }
  CUDA_RESOURCE_DESC resource() const {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = handle;
    return r;
  }
};

// Runs `text` for a thread per element of `in`: %l, %x, %y, %z are the thread's inputs, %t the object; %d0 … %d3 go
// out.
inline Words run(const std::string& text, u64 object, const Words& in) {
  std::string log;
  cu::Module module;
  module.handle = load(
      header(Device::ptx_version(81), 75) +
          ".visible .entry k(.param .u64 object, .param .u64 in, .param .u64 out) {\n.reg .b64 %t, %in, %out, %at;\n"
          ".reg .b32 %thread, %l, %x, %y, %z, %d<4>;\nld.param.u64 %t, [object];\nld.param.u64 %in, [in];\n"
          "ld.param.u64 %out, [out];\nmov.u32 %thread, %tid.x;\nmul.wide.u32 %at, %thread, 16;\n"
          "add.u64 %in, %in, %at;\nadd.u64 %out, %out, %at;\nld.global.v4.b32 {%l, %x, %y, %z}, [%in];\n"
          "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\n" +
          text + "\nst.global.v4.b32 [%out], {%d0, %d1, %d2, %d3};\nret;\n}\n",
      log);
  REQUIRE(log == "");
  const cu::Memory device_in(in.size() * 16), device_out(in.size() * 16);
  CU_CHECK(cuMemcpyHtoD(device_in.address, in.data(), in.size() * 16));
  CUdeviceptr addresses[] = {device_in.address, device_out.address};
  void* parameters[] = {&object, &addresses[0], &addresses[1]};
  const unsigned threads = unsigned(in.size());
  CU_CHECK(cuLaunchKernel(module.function("k"), 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
  Words out(in.size());
  CU_CHECK(cuMemcpyDtoH(out.data(), device_out.address, in.size() * 16));
  return out;
}

// An instruction that returns four words a thread: "tex.2d.v4.f32.f32", "{%x, %y}".
inline std::string four(const std::string& instruction, const std::string& at, const std::string& more = "") {
  return instruction + " {%d0, %d1, %d2, %d3}, [%t, " + at + "]" + more + ";";
}

// ---- geometries, and arrays of them whose texels are known ----------------------------------------------------------

struct Geometry {
  const char* name;
  u32 axes;
  bool layered;
  const char* coordinates;  // in the kernel
};
inline constexpr Geometry kGeometries[] = {{"1d", 1, false, "{%x}"},
                                           {"2d", 2, false, "{%x, %y}"},
                                           {"3d", 3, false, "{%x, %y, %z, %z}"},
                                           {"a1d", 1, true, "{%l, %x}"},
                                           {"a2d", 2, true, "{%l, %x, %y, %y}"}};
inline constexpr u32 kWidth = 8, kHeight = 4, kDepth = 2, kLayers = 3;

struct Sampling {
  CUaddress_mode mode;
  bool linear, normalized;
};
// The axes that a texture does not have stay at clamp: an H200 mixes a border there into the one row that there is.
inline CUDA_TEXTURE_DESC sampling(u32 axes, const Sampling& s) {
  CUDA_TEXTURE_DESC d{};
  for (auto& mode : d.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  for (u32 axis = 0; axis < axes; ++axis) d.addressMode[axis] = s.mode;
  d.filterMode = s.linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  d.flags = s.normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
  return d;
}

// An array filled with small whole numbers, and what is in it.
struct Filled {
  const u32 channels;
  const std::vector<float> texels;  // channel by channel, then x, y, z
  const Array array;
  Filled(const Geometry& g, u32 count, unsigned flags = 0)
      : channels(count),
        texels(numbers(size_of(g).texels() * count)),
        array(size_of(g), CU_AD_FORMAT_FLOAT, count, flags | (g.layered ? CUDA_ARRAY3D_LAYERED : 0u), texels) {}
  const Size& size() const { return array.size; }
  float at(u32 x, u32 y = 0, u32 z = 0, u32 channel = 0) const {
    return texels[((std::size_t{z} * size().height + y) * size().width + x) * channels + channel];
  }

 private:
  static Size size_of(const Geometry& g) {
    return {kWidth, g.axes > 1 ? kHeight : 1, g.layered ? kLayers : g.axes > 2 ? kDepth : 1};
  }
  static std::vector<float> numbers(u32 count) {
    std::mt19937 random(7);
    std::vector<float> all;
    for (u32 k = 0; k < count; ++k) all.push_back(float(int(random() % 512) - 256));
    return all;
  }
};

// The guide's table of cube maps, solved for the direction whose largest component is one: a point of a face, in
// -1 … 1, as the inputs of a thread.
inline std::array<u32, 4> direction(u32 face, float s, float t, u32 layer = 0) {
  const float d[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
  return {layer, word(d[face][0]), word(d[face][1]), word(d[face][2])};
}

}  // namespace instructions
