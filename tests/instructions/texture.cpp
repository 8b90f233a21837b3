// Textures and surfaces on the device at hand: every geometry, address mode and filter against the programming guide's
// formulas, at coordinates whose fractions are multiples of 1/16, so that the fixed point of filtering is exact.
#include "tests/catch.hpp"
#include "tests/instructions/case.hpp"
#include "tests/instructions/device.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace {

using namespace instructions;

#include "tests/instructions/cube_answers.inc"

struct Geometry {
  const char* name;
  u32 axes;
  bool layered;
  const char* coordinates;  // in the kernel
};
constexpr Geometry kGeometries[] = {{"1d", 1, false, "{%x}"},
                                    {"2d", 2, false, "{%x, %y}"},
                                    {"3d", 3, false, "{%x, %y, %z, %z}"},
                                    {"a1d", 1, true, "{%l, %x}"},
                                    {"a2d", 2, true, "{%l, %x, %y, %y}"}};
constexpr u32 kWidth = 8, kHeight = 4, kDepth = 2, kLayers = 3, kPoints = 256;

struct Sampling {
  CUaddress_mode mode;
  bool linear, normalized;
};

// An array filled with small whole numbers, and what is in it.
struct Filled {
  CUarray array = nullptr;
  u32 width = 1, height = 1, depth = 1, channels = 1;
  std::vector<float> texels;  // channel by channel, then x, y, z
  float at(u32 x, u32 y, u32 z, u32 channel) const {
    return texels[((std::size_t{z} * height + y) * width + x) * channels + channel];
  }
};
Filled filled(const Geometry& g, u32 channels, unsigned flags = 0) {
  Filled f;
  f.channels = channels;
  f.width = kWidth;
  f.height = g.axes > 1 ? kHeight : 1;
  f.depth = g.layered ? kLayers : g.axes > 2 ? kDepth : 1;
  CUDA_ARRAY3D_DESCRIPTOR d{};
  d.Width = kWidth;
  d.Height = g.axes > 1 ? kHeight : 0;
  d.Depth = f.depth > 1 ? f.depth : 0;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = channels;
  d.Flags = flags | (g.layered ? CUDA_ARRAY3D_LAYERED : 0u);
  CU_CHECK(cuArray3DCreate(&f.array, &d));
  std::mt19937 random(7);
  for (u32 k = 0; k < f.width * f.height * f.depth * channels; ++k)
    f.texels.push_back(float(int(random() % 512) - 256));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = f.texels.data();
  copy.srcPitch = f.width * channels * 4;
  copy.srcHeight = f.height;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = f.array;
  copy.WidthInBytes = f.width * channels * 4;
  copy.Height = f.height;
  copy.Depth = f.depth;
  CU_CHECK(cuMemcpy3D(&copy));
  return f;
}

CUDA_RESOURCE_DESC resource(CUarray array) {
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = array;
  return r;
}
// The axes that a texture does not have stay at clamp: an H200 mixes a border there into the one row that there is.
CUDA_TEXTURE_DESC sampling(const Geometry& g, const Sampling& s) {
  CUDA_TEXTURE_DESC d{};
  for (auto& mode : d.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  for (u32 axis = 0; axis < g.axes; ++axis) d.addressMode[axis] = s.mode;
  d.filterMode = s.linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  d.flags = s.normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
  return d;
}

// The guide's "Texture Fetching", for one axis: texel indices (-1: the border) and their weights.
std::vector<std::pair<int, double>> along(double coordinate, u32 size, const Sampling& s) {
  const double x = s.normalized ? coordinate * size : coordinate;
  const bool repeats = s.normalized && (s.mode == CU_TR_ADDRESS_MODE_WRAP || s.mode == CU_TR_ADDRESS_MODE_MIRROR);
  const auto resolve = [&](int i) {
    const int n = int(size);
    if (s.mode == CU_TR_ADDRESS_MODE_BORDER) return i < 0 || i >= n ? -1 : i;
    if (!repeats) return std::clamp(i, 0, n - 1);
    int turns = 0;
    while (i < 0) i += n, ++turns;
    while (i >= n) i -= n, ++turns;
    return s.mode == CU_TR_ADDRESS_MODE_MIRROR && turns % 2 ? n - 1 - i : i;
  };
  if (!s.linear) return {{resolve(int(std::floor(x))), 1.0}};
  const double shifted = x - 0.5, whole = std::floor(shifted), fraction = shifted - whole;
  return {{resolve(int(whole)), 1 - fraction}, {resolve(int(whole) + 1), fraction}};
}
// The weights of the texels around a point: the guide's products, in 256ths as an H200 rounds them. It halves in z,
// then x, then y, so that each weight has eight bits and all make one.
std::vector<double> weights(u32 axes, double x, double y, double z) {
  const auto round = [](double w) { return std::floor(w + 0.5); };
  std::vector<double> all;
  for (const double side : {256 * (1 - z), 256 * z}) {
    const double right = round(side * x), left = side - right;
    const double both = round(right * y), neither = round(left * (1 - y));
    for (const double w : {neither, right - both, left - neither, both}) all.push_back(w / 256);
  }
  if (axes == 1) return {1 - x, x};
  all.resize(std::size_t{1} << axes);
  return all;
}
float expected(const Filled& f, const Geometry& g, const Sampling& s, u32 layer, const float* at, u32 channel) {
  const std::vector<std::pair<int, double>> none = {{0, 1.0}, {0, 0.0}};
  const auto two = [](std::vector<std::pair<int, double>> a) {
    if (a.size() == 1) a.push_back({a[0].first, 0.0});
    return a;
  };
  const auto xs = two(along(at[0], f.width, s));
  const auto ys = g.axes > 1 ? two(along(at[1], f.height, s)) : none;
  const int slice = g.layered ? int(std::min(layer, kLayers - 1)) : 0;
  const auto zs =
      g.axes > 2 ? two(along(at[2], f.depth, s)) : std::vector<std::pair<int, double>>{{slice, 1.0}, {slice, 0.0}};
  const std::vector<double> weight = weights(g.axes, xs[1].second, ys[1].second, zs[1].second);
  double sum = 0;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    const int x = xs[k & 1].first, y = ys[k >> 1 & 1].first, z = zs[k >> 2 & 1].first;
    if (x >= 0 && y >= 0 && z >= 0) sum += weight[k] * double(f.at(u32(x), u32(y), u32(z), channel));
  }
  return float(sum);
}

// Runs `text` for kPoints threads: %l, %x, %y, %z are the thread's inputs, %t the object; %d0 … %d3 go out.
std::vector<std::array<u32, 4>> run(const std::string& text, u64 object, const std::vector<std::array<u32, 4>>& in) {
  std::string log;
  const CUmodule module = load(
      header(Device::ptx_version(81), 75) +
          ".visible .entry k(.param .u64 object, .param .u64 in, .param .u64 out) {\n.reg .b64 %t, %in, %out, %at;\n"
          ".reg .b32 %thread, %l, %x, %y, %z, %d<4>;\nld.param.u64 %t, [object];\nld.param.u64 %in, [in];\n"
          "ld.param.u64 %out, [out];\nmov.u32 %thread, %tid.x;\nmul.wide.u32 %at, %thread, 16;\nadd.u64 %in, %in, "
          "%at;\n"
          "add.u64 %out, %out, %at;\nld.global.v4.b32 {%l, %x, %y, %z}, [%in];\nmov.b32 %d0, 0;\nmov.b32 %d1, 0;\n"
          "mov.b32 %d2, 0;\nmov.b32 %d3, 0;\n" +
          text + "\nst.global.v4.b32 [%out], {%d0, %d1, %d2, %d3};\nret;\n}\n",
      log);
  REQUIRE(log == "");
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  std::vector<std::array<u32, 4>> out(in.size());
  CUdeviceptr device_in = 0, device_out = 0;
  CU_CHECK(cuMemAlloc(&device_in, in.size() * 16));
  CU_CHECK(cuMemAlloc(&device_out, in.size() * 16));
  CU_CHECK(cuMemcpyHtoD(device_in, in.data(), in.size() * 16));
  void* parameters[] = {&object, &device_in, &device_out};
  CU_CHECK(cuLaunchKernel(function, 1, 1, 1, unsigned(in.size()), 1, 1, 0, nullptr, parameters, nullptr));
  CU_CHECK(cuMemcpyDtoH(out.data(), device_out, in.size() * 16));
  CU_CHECK(cuMemFree(device_out));
  CU_CHECK(cuMemFree(device_in));
  CU_CHECK(cuModuleUnload(module));
  return out;
}

u32 word(float x) { return u32(to_bits(x)); }
float real(u32 x) { return from_bits<float>(x); }

// Points in and around the texture, in sixteenths of a texel.
std::vector<std::array<u32, 4>> points(const Filled& f, const Sampling& s) {
  std::vector<std::array<u32, 4>> in;
  std::mt19937 random(11);
  const auto coordinate = [&](u32 size) {
    const float texels = float(int(random() % (size * 64)) - int(size * 24)) / 16.0f;
    return s.normalized ? texels / float(size) : texels;
  };
  for (u32 k = 0; k < kPoints; ++k) {
    in.push_back(
        {u32(random() % kLayers), word(coordinate(f.width)), word(coordinate(f.height)), word(coordinate(f.depth))});
  }
  return in;
}

// A cube map: six faces of `side` by `side` texels, one after the other.
CUarray cube_of(const std::vector<float>& texels, u32 side) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  d.Width = d.Height = side;
  d.Depth = 6;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  d.Flags = CUDA_ARRAY3D_CUBEMAP;
  CUarray array = nullptr;
  CU_CHECK(cuArray3DCreate(&array, &d));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels.data();
  copy.srcPitch = copy.WidthInBytes = side * 4;
  copy.srcHeight = copy.Height = side;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.Depth = 6;
  CU_CHECK(cuMemcpy3D(&copy));
  return array;
}

}  // namespace

TEST_CASE("textures are sampled by the programming guide's formulas") {
  const Device device;
  for (const Geometry& g : kGeometries) {
    for (const u32 channels : {1u, 4u}) {
      const Filled f = filled(g, channels);
      for (const bool linear : {false, true}) {
        for (const bool normalized : {false, true}) {
          for (const CUaddress_mode mode : {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER,
                                            CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR}) {
            const Sampling s{mode, linear, normalized};
            CUtexObject texture = 0;
            const CUDA_RESOURCE_DESC r = resource(f.array);
            const CUDA_TEXTURE_DESC d = sampling(g, s);
            CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
            const auto in = points(f, s);
            const std::string at = std::string("[%t, ") + g.coordinates + "]";
            const bool level = channels == 4;  // the same, asked for differently
            const auto out = run(std::string(level ? "tex.level." : "tex.") + g.name +
                                     ".v4.f32.f32 {%d0, %d1, %d2, %d3}, " + at + (level ? ", 0f00000000;" : ";"),
                                 texture, in);
            CAPTURE(g.name, channels, linear, normalized, int(mode));
            for (u32 k = 0; k < kPoints; ++k) {
              const float where[] = {real(in[k][1]), real(in[k][2]), real(in[k][3])};
              CAPTURE(k, in[k][0], where[0], where[1], where[2]);
              for (u32 channel = 0; channel < channels; ++channel) {
                REQUIRE(real(out[k][channel]) == expected(f, g, s, in[k][0], where, channel));
              }
            }
            CU_CHECK(cuTexObjectDestroy(texture));
          }
        }
      }
      CU_CHECK(cuArrayDestroy(f.array));
    }
  }
}

TEST_CASE("a texture over plain memory reads texels by number, and zero outside of it") {
  const Device device;
  const struct {
    CUarray_format format;
    unsigned flags;
    const char* type;
    u32 bytes;
    float (*value)(u32 raw);
  } formats[] = {
      {CU_AD_FORMAT_FLOAT, 0, "f32", 4, [](u32 raw) { return real(raw); }},
      {CU_AD_FORMAT_UNSIGNED_INT8, 0, "f32", 1, [](u32 raw) { return float(u8(raw)) / 255; }},
      {CU_AD_FORMAT_SIGNED_INT8, 0, "f32", 1, [](u32 raw) { return std::max(float(i8(raw)) / 127, -1.0f); }},
      {CU_AD_FORMAT_UNSIGNED_INT16, 0, "f32", 2, [](u32 raw) { return float(u16(raw)) / 65535; }},
      {CU_AD_FORMAT_SIGNED_INT16, 0, "f32", 2, [](u32 raw) { return std::max(float(i16(raw)) / 32767, -1.0f); }},
      {CU_AD_FORMAT_UNSIGNED_INT8, CU_TRSF_READ_AS_INTEGER, "u32", 1, [](u32 raw) { return real(u8(raw)); }},
      {CU_AD_FORMAT_SIGNED_INT16, CU_TRSF_READ_AS_INTEGER, "s32", 2, [](u32 raw) { return real(u32(i32(i16(raw)))); }},
      {CU_AD_FORMAT_SIGNED_INT32, CU_TRSF_READ_AS_INTEGER, "s32", 4, [](u32 raw) { return real(raw); }},
  };
  std::mt19937 random(5);
  std::vector<u32> words(64);
  for (u32& w : words) w = word(float(random() % 1000)) ^ u32(random() & 0xff);
  CUdeviceptr memory = 0;
  CU_CHECK(cuMemAlloc(&memory, words.size() * 4));
  CU_CHECK(cuMemcpyHtoD(memory, words.data(), words.size() * 4));
  for (const auto& f : formats) {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_LINEAR;
    r.res.linear.devPtr = memory;
    r.res.linear.format = f.format;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = words.size() * 4;
    CUDA_TEXTURE_DESC d{};
    d.flags = f.flags;
    CUtexObject texture = 0;
    CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
    std::vector<std::array<u32, 4>> in;
    const i32 texels = i32(words.size() * 4 / f.bytes);
    for (i32 k = 0; k < 96; ++k) in.push_back({0, u32(k - 16 + (k % 2) * (texels - 64)), 0, 0});
    const auto out = run(std::string("tex.1d.v4.") + f.type + ".s32 {%d0, %d1, %d2, %d3}, [%t, {%x}];", texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const i32 i = i32(in[k][1]);
      CAPTURE(f.type, f.bytes, i);
      u32 raw = 0;
      const bool inside = i >= 0 && i < texels;
      if (inside) std::memcpy(&raw, reinterpret_cast<const char*>(words.data()) + i * i32(f.bytes), f.bytes);
      const u32 want = inside ? word(f.value(raw)) : 0;
      REQUIRE((out[k][0] == want || std::fabs(real(out[k][0]) - real(want)) < 1e-7f));
    }
    CU_CHECK(cuTexObjectDestroy(texture));
  }
  CU_CHECK(cuMemFree(memory));
}

// The texels are 10 y² + 3 x², the expected values an H200's.
TEST_CASE("a linear filter works on whole numbers, too") {
  const Device device;
  const struct {
    CUarray_format format;
    u32 bytes;
    std::array<u32, 11> answers;
  } formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1, {0, 7, 7, 13, 15, 18, 62, 37, 193, 5, 152}},
                 {CU_AD_FORMAT_UNSIGNED_INT16, 2, {0, 7, 7, 13, 15, 18, 62, 37, 193, 5, 152}},
                 {CU_AD_FORMAT_UNSIGNED_INT32, 4, {0, 6, 7, 13, 15, 17, 62, 37, 192, 5, 152}}};
  const float where[][2] = {{0, 0},         {1, 1},         {1.25f, 1}, {1.5f, 1.5f}, {1.75f, 1.5f}, {2, 1.5f},
                            {2.25f, 2.75f}, {3.99f, 0.01f}, {7, 3},     {-1, 1},      {9, 1}};
  CUdeviceptr memory = 0;
  constexpr u32 kPitch = 512, kWidth = 8, kHeight = 4;
  CU_CHECK(cuMemAlloc(&memory, kPitch * kHeight));
  for (const auto& f : formats) {
    std::vector<u8> texels(kPitch * kHeight);
    for (u32 y = 0; y < kHeight; ++y) {
      for (u32 x = 0; x < kWidth; ++x) {
        const u32 value = 10 * y * y + 3 * x * x;
        std::memcpy(&texels[y * kPitch + x * f.bytes], &value, f.bytes);
      }
    }
    CU_CHECK(cuMemcpyHtoD(memory, texels.data(), texels.size()));
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_PITCH2D;
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.format = f.format;
    r.res.pitch2D.numChannels = 1;
    r.res.pitch2D.width = kWidth;
    r.res.pitch2D.height = kHeight;
    r.res.pitch2D.pitchInBytes = kPitch;
    CUDA_TEXTURE_DESC d{};
    for (CUaddress_mode& mode : d.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    d.filterMode = CU_TR_FILTER_MODE_LINEAR;
    d.flags = CU_TRSF_READ_AS_INTEGER;
    CUtexObject texture = 0;
    CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
    std::vector<std::array<u32, 4>> in;
    for (const auto& at : where) in.push_back({0, word(at[0]), word(at[1]), 0});
    const auto out = run("tex.2d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];", texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      CAPTURE(f.bytes, where[k][0], where[k][1]);
      CHECK(out[k][0] == f.answers[k]);
    }
    CU_CHECK(cuTexObjectDestroy(texture));
  }
  CU_CHECK(cuMemFree(memory));
}

TEST_CASE("a cube map is sampled by direction") {
  const Device device;
  constexpr u32 kSide = 4;
  std::vector<float> texels(kSide * kSide * 6);
  for (std::size_t k = 0; k < texels.size(); ++k) texels[k] = float(k);
  const CUarray array = cube_of(texels, kSide);
  CUtexObject texture = 0;
  const CUDA_RESOURCE_DESC r = resource(array);
  const CUDA_TEXTURE_DESC how = sampling(kGeometries[1], {CU_TR_ADDRESS_MODE_CLAMP, false, true});
  CU_CHECK(cuTexObjectCreate(&texture, &r, &how, nullptr));
  std::vector<std::array<u32, 4>> in;
  for (u32 face = 0; face < 6; ++face) {
    for (u32 texel = 0; texel < kSide * kSide; ++texel) {
      const float s = 2 * (float(texel % kSide) + 0.5f) / kSide - 1, t = 2 * (float(texel / kSide) + 0.5f) / kSide - 1;
      // The guide's table, solved for the direction whose largest component is one.
      const float directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
      in.push_back({0, word(directions[face][0]), word(directions[face][1]), word(directions[face][2])});
    }
  }
  const auto out = run("tex.cube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y, %z, %z}];", texture, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    CAPTURE(k);
    CHECK(real(out[k][0]) == float(k));
  }
  // On an edge an H200 prefers z to y, and y to x.
  struct Edge {
    float x, y, z;
    u32 face;
  };
  const Edge edges[] = {{1, 1, 1, 4},    {1, 1, 0.5f, 2},    {1, 0.5f, 1, 4},
                        {0.5f, 1, 1, 4}, {-1, -1, -0.5f, 3}, {-1, 0.5f, -1, 5}};
  in.clear();
  for (const Edge& e : edges) in.push_back({0, word(e.x), word(e.y), word(e.z)});
  const auto faces = run("tex.cube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y, %z, %z}];", texture, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    CAPTURE(k);
    CHECK(u32(real(faces[k][0])) / (kSide * kSide) == edges[k].face);
  }
  CU_CHECK(cuTexObjectDestroy(texture));
  CU_CHECK(cuArrayDestroy(array));
}

TEST_CASE("a seamless cube map is filtered across its edges as an H200 does it") {
  const Device device;
  constexpr u32 kSide = 4, kGrid = 12;
  std::vector<float> texels;
  for (u32 k = 0; k < kSide * kSide * 6; ++k) texels.push_back(float(1 + k / 16 * 100 + k / 4 % 4 * 10 + k % 4));
  CUarray array = cube_of(texels, kSide);
  const float grid[kGrid] = {-1.0f, -0.97f, -0.9f, -0.8f, -0.75f, -0.4f, 0.0f, 0.3f, 0.75f, 0.85f, 0.95f, 1.0f};
  std::vector<std::array<u32, 4>> in;
  for (u32 face = 0; face < 6; ++face) {
    for (const float v : grid) {
      for (const float u : grid) {
        const float directions[6][3] = {{1, -v, -u}, {-1, -v, u}, {u, 1, v}, {u, -1, -v}, {u, -v, 1}, {-u, -v, -1}};
        in.push_back({0, word(directions[face][0]), word(directions[face][1]), word(directions[face][2])});
      }
    }
  }
  CUDA_RESOURCE_DESC r = resource(array);
  CUDA_TEXTURE_DESC how = sampling(kGeometries[1], {CU_TR_ADDRESS_MODE_CLAMP, true, true});
  for (const bool seamless : {false, true}) {
    how.flags = CU_TRSF_NORMALIZED_COORDINATES | (seamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    CUtexObject texture = 0;
    CU_CHECK(cuTexObjectCreate(&texture, &r, &how, nullptr));
    for (std::size_t k = 0; k < in.size(); k += 144) {
      const auto out = run("tex.cube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y, %z, %z}];", texture,
                           {in.begin() + i64(k), in.begin() + i64(k) + 144});
      for (std::size_t n = 0; n < 144; ++n) {
        CAPTURE(seamless, k / 144, n / kGrid, n % kGrid);
        const float want = kCubeAnswers[seamless][k + n];
        CHECK(std::fabs(real(out[n][0]) - want) <= want * 1e-5f);  // six digits were written down
      }
    }
    CU_CHECK(cuTexObjectDestroy(texture));
  }
  CU_CHECK(cuArrayDestroy(array));
  // The flag is for cubes; it does not matter whether their coordinates are normalized.
  CUDA_ARRAY3D_DESCRIPTOR plain{};
  plain.Width = plain.Height = kSide;
  plain.Format = CU_AD_FORMAT_FLOAT;
  plain.NumChannels = 1;
  CU_CHECK(cuArray3DCreate(&array, &plain));
  r = resource(array);
  CUtexObject texture = 0;
  CHECK(cuTexObjectCreate(&texture, &r, &how, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CU_CHECK(cuArrayDestroy(array));
}

TEST_CASE("tld4 gathers a channel of four texels, txq and suq tell sizes, gradients change nothing") {
  const Device device;
  const Filled f = filled(kGeometries[1], 4, CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_SURFACE_LDST);
  const Sampling s{CU_TR_ADDRESS_MODE_CLAMP, false, false};
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC r = resource(f.array);
  const CUDA_TEXTURE_DESC d = sampling(kGeometries[1], s);
  CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
  CU_CHECK(cuSurfObjectCreate(&surface, &r));
  const std::vector<std::array<u32, 4>> in = {{0, word(3.25f), word(2.0f), 0}, {0, word(0.25f), word(3.75f), 0}};
  const char* channels[] = {"r", "g", "b", "a"};
  for (u32 channel = 0; channel < 4; ++channel) {
    const auto out = run(
        std::string("tld4.") + channels[channel] + ".2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];", texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const auto at = [&](float c, u32 size, int next) {
        return u32(std::clamp(int(std::floor(c - 0.5f)) + next, 0, int(size) - 1));
      };
      const float x = real(in[k][1]), y = real(in[k][2]);
      const auto texel = [&](int i, int j) { return f.at(at(x, f.width, i), at(y, f.height, j), 0, channel); };
      CHECK(real(out[k][0]) == texel(0, 1));
      CHECK(real(out[k][1]) == texel(1, 1));
      CHECK(real(out[k][2]) == texel(1, 0));
      CHECK(real(out[k][3]) == texel(0, 0));
    }
  }
  const auto sizes = run("txq.width.b32 %d0, [%t];\ntxq.height.b32 %d1, [%t];", texture, in);
  CHECK(sizes[0][0] == kWidth);
  CHECK(sizes[0][1] == kHeight);
  const auto of_surface = run("suq.width.b32 %d0, [%t];\nsuq.height.b32 %d1, [%t];", surface, in);
  CHECK(of_surface[0][0] == kWidth);
  CHECK(of_surface[0][1] == kHeight);
  const auto plain = run("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];", texture, in);
  const auto graded =
      run("tex.grad.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], {%x, %y}, {%y, %x};", texture, in);
  CHECK(plain == graded);
  CU_CHECK(cuSurfObjectDestroy(surface));
  CU_CHECK(cuTexObjectDestroy(texture));
  CU_CHECK(cuArrayDestroy(f.array));
}

TEST_CASE("surfaces are read and written by byte, and what lies outside is clamped or ignored") {
  const Device device;
  for (const Geometry& g : kGeometries) {
    const Filled f = filled(g, 1, CUDA_ARRAY3D_SURFACE_LDST);
    CUsurfObject surface = 0;
    const CUDA_RESOURCE_DESC r = resource(f.array);
    CU_CHECK(cuSurfObjectCreate(&surface, &r));
    std::vector<std::array<u32, 4>> in;
    for (u32 z = 0; z < f.depth; ++z) {
      for (u32 y = 0; y < f.height; ++y) {
        for (i32 x = -1; x <= i32(kWidth); ++x) in.push_back({z, u32(4 * x), y, z});
      }
    }
    const std::string at = std::string(g.name) + ".b32", where = std::string("[%t, ") + g.coordinates + "]";
    const auto zeros = run("suld.b." + at + ".zero %d0, " + where + ";", surface, in);
    const auto clamped = run("suld.b." + at + ".clamp {%d0}, " + where + ";", surface, in);
    run("add.u32 %d0, %x, 1000;\nsust.b." + at + ".zero " + where + ", %d0;", surface, in);
    const auto after = run("suld.b." + at + ".zero %d0, " + where + ";", surface, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const i32 x = i32(in[k][1]) / 4;
      const bool inside = x >= 0 && x < i32(kWidth);
      CAPTURE(g.name, k, x);
      CHECK(zeros[k][0] == (inside ? word(f.at(u32(x), in[k][2], in[k][3], 0)) : 0));
      CHECK(clamped[k][0] == word(f.at(u32(std::clamp(x, 0, i32(kWidth) - 1)), in[k][2], in[k][3], 0)));
      CHECK(after[k][0] == (inside ? in[k][1] + 1000 : 0));
    }
    CU_CHECK(cuSurfObjectDestroy(surface));
    CU_CHECK(cuArrayDestroy(f.array));
  }
}

namespace {

// 64 × 64 texels and its halvings, each level filled with its number; what is asked for says which level it comes from.
struct Levels {
  CUmipmappedArray array = nullptr;
  explicit Levels(unsigned count) {
    CUDA_ARRAY3D_DESCRIPTOR d{};
    d.Width = d.Height = 64;
    d.Format = CU_AD_FORMAT_FLOAT;
    d.NumChannels = 1;
    CU_CHECK(cuMipmappedArrayCreate(&array, &d, count));
    for (unsigned l = 0; l < count; ++l) {
      const std::size_t side = 64u >> l;
      const std::vector<float> texels(side * side, float(l));
      CUDA_MEMCPY2D copy{};
      copy.srcMemoryType = CU_MEMORYTYPE_HOST;
      copy.srcHost = texels.data();
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      CU_CHECK(cuMipmappedArrayGetLevel(&copy.dstArray, array, l));
      copy.srcPitch = copy.WidthInBytes = side * 4;
      copy.Height = side;
      CU_CHECK(cuMemcpy2D(&copy));
    }
  }
  ~Levels() { CU_REPORT(cuMipmappedArrayDestroy(array)); }
  CUDA_RESOURCE_DESC resource() const {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = array;
    return r;
  }
};
CUDA_TEXTURE_DESC of_levels(bool linear, float bias, float least, float most) {
  CUDA_TEXTURE_DESC d = sampling(kGeometries[1], {CU_TR_ADDRESS_MODE_CLAMP, true, true});
  d.mipmapFilterMode = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  d.mipmapLevelBias = bias;
  d.minMipmapLevelClamp = least;
  d.maxMipmapLevelClamp = most;
  return d;
}

}  // namespace

TEST_CASE("a level of a mipmapped texture is chosen by number, bias and bounds, or mixed from two") {
  const Device device;
  const Levels levels(5);
  const CUDA_RESOURCE_DESC r = levels.resource();
  const struct {
    bool linear;
    float bias, least, most;
  } how[] = {{false, 0, 0, 99}, {true, 0, 0, 99}, {true, 0.75f, 0, 99}, {true, 0, 0.5f, 2.25f}, {false, -0.75f, 1, 3}};
  for (const auto& h : how) {
    CUtexObject texture = 0;
    const CUDA_TEXTURE_DESC d = of_levels(h.linear, h.bias, h.least, h.most);
    CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
    std::vector<std::array<u32, 4>> in;
    for (int k = -20; k < 100; ++k) in.push_back({0, word(0.3f), word(0.6f), word(float(k) / 16 + 0.03125f)});
    const auto out = run("tex.level.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], %z;", texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const float asked = real(in[k][3]) + h.bias;
      const float level = std::min(std::max(std::min(std::max(asked, h.least), h.most), 0.0f), 4.0f);
      CAPTURE(h.linear, h.bias, h.least, h.most, asked);
      CHECK(real(out[k][0]) == (h.linear ? level : std::floor(level + 0.5f)));
    }
    CU_CHECK(cuTexObjectDestroy(texture));
  }
}

TEST_CASE("gradients choose the level by the longer one's length in texels") {
  const Device device;
  const Levels levels(5);
  const CUDA_RESOURCE_DESC r = levels.resource();
  CUtexObject texture = 0;
  const CUDA_TEXTURE_DESC d = of_levels(true, 0, 0, 99);
  CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
  std::vector<std::array<u32, 4>> in;
  for (int k = -2; k < 7; ++k) {
    in.push_back({word(std::ldexp(1.0f, k) / 64), word(0.3f), word(0.6f), word(0)});
    in.push_back({word(0), word(0.3f), word(0.6f), word(std::ldexp(-1.0f, k) / 64)});
  }
  const auto out = run(
      "tex.grad.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], {%l, 0f00000000}, {0f00000000, %z};", texture, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    CAPTURE(k);
    CHECK(real(out[k][0]) == float(std::clamp(int(k / 2) - 2, 0, 4)));
  }
  CU_CHECK(cuTexObjectDestroy(texture));
}

TEST_CASE("a plain tex reads the first level that its bounds allow, whatever the bias") {
  const Device device;
  const Levels levels(5);
  const CUDA_RESOURCE_DESC r = levels.resource();
  for (const auto& [bias, least, most, want] :
       {std::array{0.75f, 0.0f, 99.0f, 0.0f}, {0.0f, 0.5f, 2.25f, 0.5f}, {1.0f, 3.0f, 1.0f, 3.0f}}) {
    CUtexObject texture = 0;
    const CUDA_TEXTURE_DESC d = of_levels(true, bias, least, most);
    CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
    const std::vector<std::array<u32, 4>> in = {{0, word(0.3f), word(0.6f), 0}};
    for (const char* form : {"tex.2d", "tex.base.2d"}) {
      const auto out = run(std::string(form) + ".v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];", texture, in);
      CAPTURE(form, bias, least, most);
      CHECK(real(out[0][0]) == want);
    }
    CU_CHECK(cuTexObjectDestroy(texture));
  }
}

TEST_CASE("between texels of 8 and 16 bits a filter computes in 16 bits, between halves in halves") {
  const Device device;
  const struct {
    CUarray_format format;
    u32 bytes;
    u32 raw[2];
    float at;
    u32 want;  // an H200's result
  } cases[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1, {0, 1}, 1.0f, 0x3b010081},
               {CU_AD_FORMAT_UNSIGNED_INT16, 2, {7, 1038}, 1.0f, 0x3c02c083},
               {CU_AD_FORMAT_HALF, 2, {0x3c00, 0x3c71}, 1.0f, 0x3f872000}};
  for (const auto& c : cases) {
    CUDA_ARRAY_DESCRIPTOR d{};
    d.Width = 2;
    d.Format = c.format;
    d.NumChannels = 1;
    CUarray array = nullptr;
    CU_CHECK(cuArrayCreate(&array, &d));
    unsigned char texels[4] = {};
    for (u32 k = 0; k < 2; ++k) std::memcpy(texels + k * c.bytes, &c.raw[k], c.bytes);
    CU_CHECK(cuMemcpyHtoA(array, 0, texels, 2 * c.bytes));
    const CUDA_RESOURCE_DESC r = resource(array);
    const CUDA_TEXTURE_DESC how = sampling(kGeometries[0], {CU_TR_ADDRESS_MODE_CLAMP, true, false});
    CUtexObject texture = 0;
    CU_CHECK(cuTexObjectCreate(&texture, &r, &how, nullptr));
    const auto out = run("tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x}];", texture, {{0, word(c.at), 0, 0}});
    CAPTURE(int(c.format), c.raw[1]);
    CHECK(out[0][0] == c.want);
    CU_CHECK(cuTexObjectDestroy(texture));
    CU_CHECK(cuArrayDestroy(array));
  }
}

TEST_CASE("anisotropy takes a footprint's shorter side for the level, as far as its ratio goes") {
  const Device device;
  const Levels levels(5);
  const CUDA_RESOURCE_DESC r = levels.resource();
  // A footprint of 8 × 1 texels: the level is that of 8 / n texels, n the allowed ratio.
  for (const auto& [ratio, level] : {std::pair(1u, 3.0f), {2u, 2.0f}, {4u, 1.0f}, {8u, 0.0f}, {16u, 0.0f}}) {
    CUDA_TEXTURE_DESC d = of_levels(true, 0, 0, 99);
    d.maxAnisotropy = ratio;
    CUtexObject texture = 0;
    CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
    const auto out =
        run("tex.grad.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], {%l, 0f00000000}, {0f00000000, %z};", texture,
            {{word(8.0f / 64), word(0.5f), word(0.5f), word(1.0f / 64)},
             {word(1.0f / 64), word(0.5f), word(0.5f), word(8.0f / 64)}});
    CAPTURE(ratio);
    for (const auto& o : {out[0], out[1]}) CHECK(std::fabs(real(o[0]) - level) < 0.3f);  // how near, no manual says
    CU_CHECK(cuTexObjectDestroy(texture));
  }
}

TEST_CASE("txq tells a level's size and how many there are; a view shows some of them") {
  const Device device;
  const Levels levels(5);
  const CUDA_RESOURCE_DESC r = levels.resource();
  const CUDA_TEXTURE_DESC d = of_levels(true, 0, 0, 99);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
  view.width = view.height = 64;  // of the whole, whichever levels it shows
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 3;
  CUtexObject whole = 0, part = 0;
  CU_CHECK(cuTexObjectCreate(&whole, &r, &d, nullptr));
  CUDA_TEXTURE_DESC point = d;
  point.filterMode = point.mipmapFilterMode = CU_TR_FILTER_MODE_POINT;
  point.flags |= CU_TRSF_READ_AS_INTEGER;
  CU_CHECK(cuTexObjectCreate(&part, &r, &point, &view));
  const std::vector<std::array<u32, 4>> in = {{0, word(0.5f), word(0.5f), word(1)}};
  const auto sizes =
      run("txq.width.b32 %d0, [%t];\ntxq.level.width.b32 %d1, [%t], 2;\ntxq.depth.b32 %d2, [%t];", whole, in);
  CHECK(sizes[0][0] == 64);
  CHECK(sizes[0][1] == 16);
  CHECK(sizes[0][2] == 0);
  if (device.simulated()) {  // a GPU's driver does not compile this one
    CHECK(run("txq.num_mipmap_levels.b32 %d0, [%t];", whole, in)[0][0] == 5);
  }
  const auto seen = run("tex.level.2d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], %z;", part, in);
  CHECK(real(seen[0][0]) == 2.0f);
  CUDA_RESOURCE_VIEW_DESC told{};
  CHECK(cuTexObjectGetResourceViewDesc(&told, part) == CUDA_SUCCESS);
  CHECK(told.lastMipmapLevel == 3);
  CU_CHECK(cuTexObjectDestroy(part));
  CU_CHECK(cuTexObjectDestroy(whole));
}

TEST_CASE("sRGB texels are read as light, alpha as it is") {
  const Device device;
  CUDA_ARRAY_DESCRIPTOR d{};
  d.Width = 256;
  d.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  d.NumChannels = 4;
  CUarray array = nullptr;
  CU_CHECK(cuArrayCreate(&array, &d));
  std::vector<unsigned char> texels(1024);
  for (std::size_t k = 0; k < texels.size(); ++k) texels[k] = static_cast<unsigned char>(k / 4);
  CU_CHECK(cuMemcpyHtoA(array, 0, texels.data(), texels.size()));
  const CUDA_RESOURCE_DESC r = resource(array);
  CUDA_TEXTURE_DESC how = sampling(kGeometries[0], {CU_TR_ADDRESS_MODE_CLAMP, false, false});
  how.flags |= CU_TRSF_SRGB;
  CUtexObject texture = 0;
  CU_CHECK(cuTexObjectCreate(&texture, &r, &how, nullptr));
  std::vector<std::array<u32, 4>> in;
  for (u32 k = 0; k < 256; ++k) in.push_back({0, word(float(k) + 0.5f), 0, 0});
  const auto out = run("tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x}];", texture, in);
  for (u32 k = 0; k < 256; ++k) {
    const double c = k / 255.0, light = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    CAPTURE(k);
    CHECK(std::fabs(double(real(out[k][0])) - light) <= std::max(light / 128, 1.0 / 16384));  // as near as an H200 is
    CHECK(std::fabs(double(real(out[k][3])) - c) < 1e-6);
  }
  CU_CHECK(cuTexObjectDestroy(texture));
  CU_CHECK(cuArrayDestroy(array));
}

TEST_CASE("texels come as halves, offsets move the coordinates, a predicate says that they were there") {
  const Device device;
  const Filled f = filled(kGeometries[1], 4);
  CUtexObject texture = 0;
  const CUDA_RESOURCE_DESC r = resource(f.array);
  const CUDA_TEXTURE_DESC d = sampling(kGeometries[1], {CU_TR_ADDRESS_MODE_CLAMP, false, false});
  CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
  const std::vector<std::array<u32, 4>> in = {{0, word(3.5f), word(2.5f), 0}, {0, word(0.5f), word(0.5f), 0}};
  const auto halves = run("tex.2d.v2.f16x2.f32 {%d0, %d1}, [%t, {%x, %y}];", texture, in);
  const auto one_by_one =
      run(".reg .b16 %h<4>;\ntex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t, {%x, %y}];\nmov.b32 %d0, {%h0, %h1};\n"
          "mov.b32 %d1, {%h2, %h3};",
          texture, in);
  CHECK(halves == one_by_one);
  const auto moved =
      run("mov.b32 %l, -2;\ntex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], {%l, 1};", texture, in);
  const auto there =
      run(".reg .pred %p;\ntex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}|%p, [%t, {%x, %y}];\nselp.b32 %d1, 1, 0, %p;",
          texture, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    const int x = int(real(in[k][1])), y = int(real(in[k][2]));
    CHECK(real(moved[k][0]) == f.at(u32(std::max(x - 2, 0)), u32(y + 1), 0, 0));
    CHECK(there[k][1] == 1);
  }
  CU_CHECK(cuTexObjectDestroy(texture));
  CU_CHECK(cuArrayDestroy(f.array));
}

TEST_CASE("sust.p converts to the surface's format, sured combines with what is there") {
  const Device device;
  const struct {
    CUarray_format format;
    u32 bytes, in, want;
  } formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1, 200, 200},
                 {CU_AD_FORMAT_SIGNED_INT16, 2, u32(-300), 0xfed4},
                 {CU_AD_FORMAT_UNSIGNED_INT32, 4, 0x12345678, 0x12345678},
                 {CU_AD_FORMAT_HALF, 2, word(1.5f), 0x3e00},
                 {CU_AD_FORMAT_HALF, 2, 0x3c003c00, 0x2001},
                 {CU_AD_FORMAT_HALF, 2, word(65536.0f), 0x7bff},
                 {CU_AD_FORMAT_FLOAT, 4, word(-7.0f), word(-7.0f)}};
  for (const auto& f : formats) {
    CUDA_ARRAY3D_DESCRIPTOR d{};
    d.Width = 8;
    d.Format = f.format;
    d.NumChannels = 1;
    d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CUarray array = nullptr;
    CU_CHECK(cuArray3DCreate(&array, &d));
    std::vector<unsigned char> raw(8 * f.bytes);
    CU_CHECK(cuMemcpyHtoA(array, 0, raw.data(), raw.size()));
    CUsurfObject surface = 0;
    const CUDA_RESOURCE_DESC r = resource(array);
    CU_CHECK(cuSurfObjectCreate(&surface, &r));
    run("sust.p.1d.b32.zero [%t, {%x}], %y;", surface, {{0, 3, f.in, 0}, {0, 8, f.in, 0}, {0, u32(-1), f.in, 0}});
    CU_CHECK(cuMemcpyAtoH(raw.data(), array, 0, raw.size()));
    CAPTURE(int(f.format));
    for (u32 k = 0; k < 8; ++k) {
      u32 got = 0;
      std::memcpy(&got, &raw[k * f.bytes], f.bytes);
      CHECK(got == (k == 3 ? f.want : 0));
    }
    CU_CHECK(cuSurfObjectDestroy(surface));
    CU_CHECK(cuArrayDestroy(array));
  }

  const struct {
    const char* form;
    CUarray_format format;
    u32 old, in, want;
  } reductions[] = {{"sured.b.add.2d.u32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 5, 7, 5 + 32 * 7},
                    {"sured.b.min.2d.s32.trap", CU_AD_FORMAT_SIGNED_INT32, 5, u32(-7), u32(-7)},
                    {"sured.b.max.2d.u32.clamp", CU_AD_FORMAT_UNSIGNED_INT32, 5, u32(-7), u32(-7)},
                    {"sured.b.and.2d.b32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 0xff, 0xf0f, 0xf},
                    {"sured.b.or.2d.b32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 0xf0, 0xf0f, 0xfff},
                    {"sured.p.add.2d.b32.zero", CU_AD_FORMAT_SIGNED_INT32, 5, u32(-1), u32(5 - 32)},
                    {"sured.p.max.2d.b32.zero", CU_AD_FORMAT_SIGNED_INT32, 5, u32(-1), 5},
                    {"sured.p.min.2d.b32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 5, u32(-1), 5}};
  for (const auto& c : reductions) {
    CUDA_ARRAY3D_DESCRIPTOR d{};
    d.Width = 4;
    d.Height = 2;
    d.Format = c.format;
    d.NumChannels = 1;
    d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CUarray array = nullptr;
    CU_CHECK(cuArray3DCreate(&array, &d));
    std::vector<u32> texels(8, c.old);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels.data();
    copy.srcPitch = copy.WidthInBytes = 16;
    copy.Height = 2;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    CU_CHECK(cuMemcpy2D(&copy));
    CUsurfObject surface = 0;
    const CUDA_RESOURCE_DESC r = resource(array);
    CU_CHECK(cuSurfObjectCreate(&surface, &r));
    const u32 x = c.form[6] == 'p' ? 2 : 8;
    run(std::string(c.form) + " [%t, {%x, %y}], %z;", surface, std::vector<std::array<u32, 4>>(32, {0, x, 1, c.in}));
    const auto after = run("suld.b.2d.b32.zero %d0, [%t, {%x, %y}];", surface, {{0, 8, 1, 0}, {0, 8, 0, 0}});
    CAPTURE(c.form);
    CHECK(after[0][0] == c.want);
    CHECK(after[1][0] == c.old);
    CU_CHECK(cuSurfObjectDestroy(surface));
    CU_CHECK(cuArrayDestroy(array));
  }
}

TEST_CASE("in independent mode a sampler of its own says how a texture is read") {
  const Device device;
  if (!device.simulated()) SKIP_TEST("a GPU's driver does not load what has a .samplerref");
  const Filled f = filled(kGeometries[0], 1);
  CUtexObject texture = 0;
  const CUDA_RESOURCE_DESC r = resource(f.array);
  const CUDA_TEXTURE_DESC d = sampling(kGeometries[0], {CU_TR_ADDRESS_MODE_CLAMP, false, false});
  CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
  std::string log;
  std::string text = header(63, 75);
  text.replace(text.find("sm_75"), 5, "sm_75, texmode_independent");
  const CUmodule module =
      load(text +
               ".global .samplerref between = {addr_mode_0 = clamp_to_border, filter_mode = linear, "
               "force_unnormalized_coords = 1};\n"
               ".visible .entry k(.param .u64 object, .param .u64 out) {\n.reg .b64 %t, %out;\n.reg .f32 %d<4>;\n"
               "ld.param.u64 %t, [object];\nld.param.u64 %out, [out];\n"
               "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, between, {0f40000000}];\nst.global.f32 [%out], %d0;\n"
               "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, between, {0f00000000}];\nst.global.f32 [%out+4], "
               "%d0;\n.reg .b32 %r<4>;\ntxq.filter_mode.b32 %r0, [between];\ntxq.addr_mode_0.b32 %r1, [between];\n"
               "txq.force_unnormalized_coords.b32 %r2, [between];\ntxq.addr_mode_0.b32 %r3, [%t];\n"
               "st.global.v4.b32 [%out+16], {%r0, %r1, %r2, %r3};\nret;\n}\n",
           log);
  REQUIRE(log == "");
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 32));
  void* parameters[] = {&texture, &out};
  CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  float got[2] = {};
  u32 told[4] = {};
  CU_CHECK(cuMemcpyDtoH(got, out, 8));
  CU_CHECK(cuMemcpyDtoH(told, out + 16, 16));
  CHECK(told[0] == 1);
  CHECK(told[1] == CU_TR_ADDRESS_MODE_BORDER);
  CHECK(told[2] == 1);
  CHECK(told[3] == CU_TR_ADDRESS_MODE_CLAMP);
  CHECK(got[0] == (f.at(1, 0, 0, 0) + f.at(2, 0, 0, 0)) / 2);
  CHECK(got[1] == f.at(0, 0, 0, 0) / 2);
  CU_CHECK(cuMemFree(out));
  CU_CHECK(cuModuleUnload(module));
  CU_CHECK(cuTexObjectDestroy(texture));
  CU_CHECK(cuArrayDestroy(f.array));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of references; objects took their place

TEST_CASE("how a texture reference samples, the host says and not its initialiser") {
  const Device device;
  std::string log;
  const CUmodule module =
      load(header(63, 75) +
               ".global .texref plain;\n.global .surfref target = {width = 7, memory_layout = 0};\n"
               ".global .texref image = {width = 7, channel_order = 0, addr_mode_0 = mirror, addr_mode_1 = "
               "clamp_to_border,\n  filter_mode = linear, normalized_coords = 1};\n"
               ".visible .entry k(.param .f32 at, .param .u64 out) {\n.reg .f32 %x, %d<4>;\n.reg .b32 %w;\n"
               ".reg .b64 %out;\nld.param.f32 %x, [at];\nld.param.u64 %out, [out];\n"
               "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [image, {%x}];\nst.global.f32 [%out], %d0;\n"
               "txq.width.b32 %w, [image];\nst.global.b32 [%out+4], %w;\nret;\n}\n",
           log);
  REQUIRE(log == "");
  CUtexref plain = nullptr, image = nullptr;
  CU_CHECK(cuModuleGetTexRef(&plain, module, "plain"));
  CU_CHECK(cuModuleGetTexRef(&image, module, "image"));
  const auto mode = [](CUtexref reference, int direction) {
    CUaddress_mode found = CU_TR_ADDRESS_MODE_WRAP;
    CU_CHECK(cuTexRefGetAddressMode(&found, reference, direction));
    return found;
  };
  for (int direction = 0; direction < 3; ++direction) CHECK(mode(image, direction) == mode(plain, direction));
  CHECK(mode(plain, 0) == CU_TR_ADDRESS_MODE_CLAMP);
  CUfilter_mode filter = CU_TR_FILTER_MODE_LINEAR;
  CU_CHECK(cuTexRefGetFilterMode(&filter, image));
  CHECK(filter == CU_TR_FILTER_MODE_POINT);
  unsigned flags = 0;
  CU_CHECK(cuTexRefGetFlags(&flags, image));
  CHECK((flags & CU_TRSF_NORMALIZED_COORDINATES) == 0);
  const Filled texels = filled(kGeometries[0], 1);
  CU_CHECK(cuTexRefSetArray(image, texels.array, CU_TRSA_OVERRIDE_FORMAT));
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 8));
  const auto read = [&](float at) {
    void* parameters[] = {&at, &out};
    CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    float got = 0;
    CU_CHECK(cuMemcpyDtoH(&got, out, 4));
    return got;
  };
  CHECK(read(4.0f / kWidth) == texels.at(0, 0, 0, 0));
  CHECK(read(1 + 1.5f / kWidth) == texels.at(1, 0, 0, 0));
  u32 width = 0;
  CU_CHECK(cuMemcpyDtoH(&width, out + 4, 4));
  CHECK(width == kWidth);
  CU_CHECK(cuMemFree(out));
  CU_CHECK(cuModuleUnload(module));
  CU_CHECK(cuArrayDestroy(texels.array));
}

TEST_CASE("texture and surface references are given their arrays by the host, launch by launch") {
  const Device device;
  std::string log;
  const CUmodule module =
      load(header(63, 75) +
               ".global .texref image;\n.global .surfref target;\n"
               ".visible .entry k(.param .f32 at) {\n.reg .f32 %x, %d<4>;\n.reg .b32 %s;\nld.param.f32 %x, [at];\n"
               "mov.u32 %s, 4;\ntex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [image, {%x}];\n"
               "sust.b.1d.b32.trap [target, {%s}], %d0;\nret;\n}\n",
           log);
  REQUIRE(log == "");
  CUtexref image = nullptr, again = nullptr;
  CUsurfref target = nullptr;
  REQUIRE(cuModuleGetTexRef(&image, module, "image") == CUDA_SUCCESS);
  REQUIRE(cuModuleGetSurfRef(&target, module, "target") == CUDA_SUCCESS);
  CHECK(cuModuleGetTexRef(&again, module, "target") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuModuleGetTexRef(&again, module, "image") == CUDA_SUCCESS);
  CHECK(again == image);
  const Filled one = filled(kGeometries[0], 1), two = filled(kGeometries[0], 1, CUDA_ARRAY3D_SURFACE_LDST);
  std::vector<float> halves(kWidth);
  for (u32 k = 0; k < kWidth; ++k) halves[k] = one.at(k, 0, 0, 0) / 2;
  CU_CHECK(cuMemcpyHtoA(two.array, 0, halves.data(), kWidth * 4));
  CHECK(cuTexRefSetArray(image, one.array, CU_TRSA_OVERRIDE_FORMAT) == CUDA_SUCCESS);
  CHECK(cuSurfRefSetArray(target, two.array, 0) == CUDA_SUCCESS);
  CUarray_format format = CU_AD_FORMAT_HALF;
  int channels = 0;
  CHECK(cuTexRefGetFormat(&format, &channels, image) == CUDA_SUCCESS);
  CHECK(format == CU_AD_FORMAT_FLOAT);
  CHECK(channels == 1);
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  const auto written = [&](float at) {
    void* parameters[] = {&at};
    CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    float got[2] = {};
    CU_CHECK(cuMemcpyAtoH(got, two.array, 0, 8));
    return got[1];
  };
  CHECK(written(3.5f) == one.at(3, 0, 0, 0));
  CHECK(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_LINEAR) == CUDA_SUCCESS);
  CHECK(cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_CLAMP) == CUDA_SUCCESS);
  CHECK(written(4.0f) == (one.at(3, 0, 0, 0) + one.at(4, 0, 0, 0)) / 2);
  CHECK(cuTexRefSetArray(image, two.array, CU_TRSA_OVERRIDE_FORMAT) == CUDA_SUCCESS);
  CHECK(written(5.5f) == one.at(5, 0, 0, 0) / 2);
  CUarray bound = nullptr;
  CHECK(cuTexRefGetArray(&bound, image) == CUDA_SUCCESS);
  CHECK(bound == two.array);
  CUdeviceptr memory = 0;
  CU_CHECK(cuMemAlloc(&memory, 4096));
  std::size_t offset = 1;
  CHECK(cuTexRefSetAddress(&offset, image, memory + 16, 256) == CUDA_SUCCESS);
  CHECK(offset == 16);
  CHECK(cuTexRefSetAddress(nullptr, image, memory + 16, 256) == CUDA_ERROR_INVALID_VALUE);
  CU_CHECK(cuMemFree(memory));
  CU_CHECK(cuArrayDestroy(two.array));
  CU_CHECK(cuArrayDestroy(one.array));
  CU_CHECK(cuModuleUnload(module));
}

namespace {

// A whole number as a half.
u32 code_of_half(u32 x) {
  u32 exponent = 0;
  while (x >> (exponent + 1) != 0) ++exponent;
  return (exponent + 15) << 10 | ((x << 10) >> exponent & 0x3ff);
}

// All geometries, small: what is asked for says which texel it comes from, and which channel.
struct Small {
  const char* name;
  const char* coordinates;
  u32 width, height, depth;  // depth: layers and faces, too
  unsigned flags;
};
constexpr Small kSmall[] = {{"1d", "{%x}", 4, 1, 1, 0},
                            {"2d", "{%x, %y}", 4, 4, 1, 0},
                            {"3d", "{%x, %y, %z, %z}", 4, 4, 2, 0},
                            {"a1d", "{%l, %x}", 4, 1, 3, CUDA_ARRAY3D_LAYERED},
                            {"a2d", "{%l, %x, %y, %y}", 4, 4, 3, CUDA_ARRAY3D_LAYERED},
                            {"cube", "{%x, %y, %z, %z}", 4, 4, 6, CUDA_ARRAY3D_CUBEMAP},
                            {"acube", "{%l, %x, %y, %z}", 4, 4, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}};
constexpr std::size_t kFlat = 5;  // of them are no cubes

struct Numbered {
  CUarray array = nullptr;
  u32 texels = 0;
  // Word w of texel t is 4 t + w + 1: a float, or a whole number.
  Numbered(const Small& g, CUarray_format format, u32 channels, unsigned more = 0) {
    CUDA_ARRAY3D_DESCRIPTOR d{};
    d.Width = g.width;
    d.Height = g.height > 1 ? g.height : 0;
    d.Depth = g.depth > 1 ? g.depth : 0;
    d.Format = format;
    d.NumChannels = channels;
    d.Flags = g.flags | more;
    CU_CHECK(cuArray3DCreate(&array, &d));
    texels = g.width * g.height * g.depth;
    std::vector<u32> words;
    for (u32 t = 0; t < texels; ++t) {
      for (u32 w = 0; w < channels; ++w)
        words.push_back(format == CU_AD_FORMAT_FLOAT ? word(float(number(t, w))) : number(t, w));
    }
    copy(g, channels, words.data(), nullptr);
  }
  ~Numbered() { CU_REPORT(cuArrayDestroy(array)); }
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  static u32 number(u32 texel, u32 w) { return 4 * texel + w + 1; }
  std::vector<u32> words(const Small& g, u32 channels) const {
    std::vector<u32> all(texels * channels);
    copy(g, channels, nullptr, all.data());
    return all;
  }
  void copy(const Small& g, u32 channels, const void* from, void* to) const {
    CUDA_MEMCPY3D c{};
    c.srcMemoryType = from != nullptr ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = from != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = from;
    c.dstHost = to;
    (from != nullptr ? c.dstArray : c.srcArray) = array;
    c.srcPitch = c.dstPitch = c.WidthInBytes = g.width * 4 * channels;
    c.srcHeight = c.dstHeight = c.Height = g.height;
    c.Depth = g.depth;
    CU_CHECK(cuMemcpy3D(&c));
  }
};

// One input a texel: its coordinates, in texels or (cubes) as a direction.
std::vector<std::array<u32, 4>> each_texel(const Small& g, bool whole) {
  std::vector<std::array<u32, 4>> in;
  const auto at = [whole](u32 i) { return whole ? i : word(float(i) + 0.5f); };
  for (u32 z = 0; z < g.depth; ++z) {
    for (u32 y = 0; y < g.height; ++y) {
      for (u32 x = 0; x < g.width; ++x) {
        if ((g.flags & CUDA_ARRAY3D_CUBEMAP) == 0) {
          in.push_back({z, at(x), at(y), at(z)});
          continue;
        }
        const float u = (float(x) + 0.5f) / 2 - 1, v = (float(y) + 0.5f) / 2 - 1;
        const float d[6][3] = {{1, -v, -u}, {-1, -v, u}, {u, 1, v}, {u, -1, -v}, {u, -v, 1}, {-u, -v, -1}};
        in.push_back({z / 6, word(d[z % 6][0]), word(d[z % 6][1]), word(d[z % 6][2])});
      }
    }
  }
  return in;
}

}  // namespace

TEST_CASE("each form of tex and tld4 reads the texels that it names, in each geometry and type") {
  const Device device;
  for (std::size_t n = 0; n < std::size(kSmall); ++n) {
    const Small& g = kSmall[n];
    const bool cube = n >= kFlat;
    const std::string name = g.name, at = std::string("[%t, ") + g.coordinates + "]";
    for (const bool floats : {true, false}) {
      const Numbered texels(g, floats ? CU_AD_FORMAT_FLOAT : CU_AD_FORMAT_SIGNED_INT32, 4,
                            name == "2d" ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u);
      CUtexObject texture = 0;
      const CUDA_RESOURCE_DESC r = resource(texels.array);
      CUDA_TEXTURE_DESC d = sampling(kGeometries[1], {CU_TR_ADDRESS_MODE_CLAMP, false, cube});
      if (!floats) d.flags |= CU_TRSF_READ_AS_INTEGER;
      CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
      for (const std::string& type :
           floats ? std::vector<std::string>{"f32", "f16", "f16x2"} : std::vector<std::string>{"s32", "u32"}) {
        const std::string vector = type == "f16x2" ? ".v2" : ".v4";
        const std::string to = type == "f16x2" ? "{%d0, %d1}"
                               : type == "f16" ? "{%h0, %h1, %h2, %h3}"
                                               : "{%d0, %d1, %d2, %d3}";
        const std::string before = ".reg .b16 %h<4>; .reg .f32 %none; mov.f32 %none, 0f00000000;\n",
                          after = type == "f16" ? "\nmov.b32 %d0, {%h0, %h1}; mov.b32 %d1, {%h2, %h3};" : "";
        const auto good = [&](const std::array<u32, 4>& got, const std::array<u32, 4>& texel) {
          for (u32 w = 0; w < 4; ++w) {
            const u32 want = Numbered::number(texel[w] / 4, texel[w] % 4);
            const bool half = type == "f16" || type == "f16x2";
            const u32 has = half ? got[w / 2] >> 16 * (w % 2) & 0xffff : got[w];
            if (has != (half ? code_of_half(want) : type == "f32" ? word(float(want)) : want)) return false;
          }
          return true;
        };
        for (const std::string mode : {"", ".base", ".level", ".grad"}) {
          for (const bool whole : {false, true}) {
            if (whole && cube) continue;
            const std::string zeros = name == "1d" || name == "a1d"   ? "{%none}"
                                      : name == "2d" || name == "a2d" ? "{%none, %none}"
                                                                      : "{%none, %none, %none, %none}";
            const std::string more = mode == ".level"  ? (whole ? ", 0" : ", %none")
                                     : mode == ".grad" ? ", " + zeros + ", " + zeros
                                                       : "";
            const auto in = each_texel(g, whole);
            const auto out = run(before + "tex" + mode + "." + name + vector + "." + type +
                                     (whole ? ".s32 " : ".f32 ") + to + ", " + at + more + ";" + after,
                                 texture, in);
            CAPTURE(name, mode, type, whole);
            // Not judged: for whole numbers an H200 reads nothing from a 1-D array, and with gradients the first texel.
            if (whole && (name == "1d" || mode == ".grad")) continue;
            for (u32 k = 0; k < in.size(); ++k) {
              CAPTURE(k);
              CHECK(good(out[k], {4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3}));
            }
          }
        }
        if (type == "f16x2" || type == "f16" || name == "1d" || name == "3d" || name == "a1d") continue;
        // Between the four in the middle: of lower left, lower right, upper right, upper left, one channel.
        std::vector<std::array<u32, 4>> in;
        for (u32 z = 0; z < g.depth; ++z) {
          const float d6[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
          if (cube)
            in.push_back({z / 6, word(d6[z % 6][0]), word(d6[z % 6][1]), word(d6[z % 6][2])});
          else
            in.push_back({z, word(2.0f), word(2.0f), 0});
        }
        for (u32 c = 0; c < 4; ++c) {
          const auto out =
              run(before + "tld4." + "rgba"[c] + "." + name + ".v4." + type + ".f32 " + to + ", " + at + ";" + after,
                  texture, in);
          CAPTURE(name, type, c);
          for (u32 z = 0; z < g.depth; ++z) {
            const u32 first = 4 * 16 * z + c;
            CHECK(good(out[z], {first + 4 * 9, first + 4 * 10, first + 4 * 6, first + 4 * 5}));
          }
        }
      }
      CU_CHECK(cuTexObjectDestroy(texture));
    }
  }
}

TEST_CASE("txq and suq return each property") {
  const Device device;
  const Small& g = kSmall[4];
  const Numbered texels(g, CU_AD_FORMAT_FLOAT, 2, CUDA_ARRAY3D_SURFACE_LDST);
  const CUDA_RESOURCE_DESC r = resource(texels.array);
  const CUDA_TEXTURE_DESC d = sampling(kGeometries[1], {CU_TR_ADDRESS_MODE_BORDER, true, true});
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  CU_CHECK(cuTexObjectCreate(&texture, &r, &d, nullptr));
  CU_CHECK(cuSurfObjectCreate(&surface, &r));
  const auto ask = [&](const std::string& what, u64 object) { return run(what, object, {{0, 0, 0, 0}})[0][0]; };
  CHECK(ask("txq.width.b32 %d0, [%t];", texture) == g.width);
  CHECK(ask("txq.height.b32 %d0, [%t];", texture) == g.height);
  CHECK(ask("txq.level.width.b32 %d0, [%t], 0;", texture) == g.width);
  CHECK(ask("txq.level.height.b32 %d0, [%t], 0;", texture) == g.height);
  CHECK(ask("suq.width.b32 %d0, [%t];", surface) == g.width);
  CHECK(ask("suq.height.b32 %d0, [%t];", surface) == g.height);
  // The rest has not been asked of a GPU.
  if (device.simulated()) {
    const struct {
      const char* question;
      u32 answer;
    } of_texture[] = {{"array_size", 3},
                      {"num_samples", 1},
                      {"num_mipmap_levels", 1},
                      {"normalized_coords", 1},
                      {"force_unnormalized_coords", 0},
                      {"filter_mode", 1},
                      {"channel_data_type", 0x10de},
                      {"channel_order", 0x10b2},
                      {"addr_mode_0", 3},
                      {"addr_mode_1", 3},
                      {"addr_mode_2", 1},
                      {"depth", 3},
                      {"level.depth", 3}},
      of_surface[] = {{"array_size", 3},
                      {"depth", 3},
                      {"channel_data_type", 0x10de},
                      {"channel_order", 0x10b2},
                      {"memory_layout", 0}};
    for (const auto& q : of_texture) {
      CAPTURE(q.question);
      const bool level = q.question[0] == 'l';
      CHECK(ask(std::string("txq.") + q.question + ".b32 %d0, [%t]" + (level ? ", 0;" : ";"), texture) == q.answer);
    }
    for (const auto& q : of_surface) {
      CAPTURE(q.question);
      CHECK(ask(std::string("suq.") + q.question + ".b32 %d0, [%t];", surface) == q.answer);
    }
  }
  CU_CHECK(cuTexObjectDestroy(texture));
  CU_CHECK(cuSurfObjectDestroy(surface));
}

namespace {
constexpr const char* kOutside[] = {".trap", ".clamp", ".zero"};  // what there is to do beyond a surface's end
CUsurfObject surface_of(const Numbered& texels) {
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC r = resource(texels.array);
  CU_CHECK(cuSurfObjectCreate(&surface, &r));
  return surface;
}
}  // namespace

TEST_CASE("each form of suld and sust reaches the bytes that it names, in each geometry and type") {
  const Device device;
  for (std::size_t n = 0; n < kFlat; ++n) {
    const Small& g = kSmall[n];
    const std::string name = g.name, at = std::string("[%t, ") + g.coordinates + "]";
    // .b: x in bytes. Each width at its turn in a texel of 16 bytes.
    u32 k = 0;
    for (const std::string vector : {"", ".v2", ".v4"}) {
      for (const std::string type : {"b8", "b16", "b32", "b64"}) {
        const u32 elements = vector.empty() ? 1 : u32(vector[2] - '0'), bytes = u32(std::stoul(type.substr(1))) / 8,
                  size = elements * bytes;
        if (size > 16) continue;
        const char *loads[] = {"", ".ca", ".cg", ".cs", ".cv"}, *stores[] = {"", ".wb", ".cg", ".cs", ".wt"};
        for (u32 turn = 0; turn < 5; ++turn, ++k) {
          const Numbered texels(g, CU_AD_FORMAT_UNSIGNED_INT32, 4, CUDA_ARRAY3D_SURFACE_LDST);
          const CUsurfObject surface = surface_of(texels);
          auto in = each_texel(g, true);
          const u32 offset = k * size % 16;
          for (auto& i : in) i[1] = i[1] * 16 + offset;
          const std::string reg = type == "b64" ? "%w" : "%d", mode = kOutside[k % 3];
          std::string names = reg + "0";
          for (u32 e = 1; e < elements; ++e) names += ", " + reg + std::to_string(e);
          if (elements > 1) names = "{" + names + "}";
          const std::string before = ".reg .b64 %w<4>;\n",
                            after = type != "b64"   ? ""
                                    : elements == 1 ? "\nmov.b64 {%d0, %d1}, %w0;"
                                                    : "\nmov.b64 {%d0, %d1}, %w0; mov.b64 {%d2, %d3}, %w1;";
          const auto out = run(before + "suld.b." + name + loads[turn] + vector + "." + type + mode + " " + names +
                                   ", " + at + ";" + after,
                               surface, in);
          const std::string values = type == "b64"
                                         ? "mov.b64 %w0, 0x1817161514131211; mov.b64 %w1, 0x2827262524232221;\n"
                                         : "mov.b32 %d0, 0x14131211; mov.b32 %d1, 0x24232221; mov.b32 %d2, 0x34333231; "
                                           "mov.b32 %d3, 0x44434241;\n";
          run(before + values + "sust.b." + name + stores[turn] + vector + "." + type + mode + " " + at + ", " + names +
                  ";",
              surface, in);
          const auto now = texels.words(g, 4);
          CAPTURE(name, vector, type, turn);
          bool loaded = true, stored = true;
          for (u32 t = 0; t < texels.texels; ++t) {
            u8 raw[16];
            for (u32 w = 0; w < 4; ++w) std::memcpy(raw + 4 * w, std::array<u32, 1>{Numbered::number(t, w)}.data(), 4);
            for (u32 e = 0; e < elements; ++e) {
              u64 want = 0, got = 0;
              std::memcpy(&want, raw + offset + e * bytes, bytes);
              std::memcpy(&got, type == "b64" ? &out[t][2 * e] : &out[t][e], type == "b64" ? 8 : 4);
              loaded = loaded && got == want;
              for (u32 b = 0; b < bytes; ++b) raw[offset + e * bytes + b] = u8((e + 1) * 16 + b + 1);
            }
            stored = stored && std::memcmp(raw, &now[4 * t], 16) == 0;
          }
          CHECK(loaded);
          CHECK(stored);
          CU_CHECK(cuSurfObjectDestroy(surface));
        }
      }
    }
    // .p: x in texels, of which each channel gets its word.
    for (u32 channels : {1u, 2u, 4u}) {
      for (const char* mode : kOutside) {
        const Numbered texels(g, CU_AD_FORMAT_UNSIGNED_INT32, channels, CUDA_ARRAY3D_SURFACE_LDST);
        const CUsurfObject surface = surface_of(texels);
        const std::string data = channels == 1   ? "%d0"
                                 : channels == 2 ? "{%d0, %d1}"
                                                 : "{%d0, %d1, %d2, %d3}",
                          vector = channels == 1 ? "" : ".v" + std::to_string(channels);
        run("mad.lo.u32 %d0, %thread, 8, 5; add.u32 %d1, %d0, 1; add.u32 %d2, %d0, 2; add.u32 %d3, %d0, 3;\nsust.p." +
                name + vector + ".b32" + mode + " " + at + ", " + data + ";",
            surface, each_texel(g, true));
        const auto now = texels.words(g, channels);
        CAPTURE(name, channels, mode);
        bool stored = true;
        for (u32 w = 0; w < now.size(); ++w) stored = stored && now[w] == w / channels * 8 + 5 + w % channels;
        CHECK(stored);
        CU_CHECK(cuSurfObjectDestroy(surface));
      }
    }
  }
}

TEST_CASE("each form of sured changes the bytes that it names, in each geometry and type") {
  const Device device;
  for (std::size_t n = 0; n < 3; ++n) {
    const Small& g = kSmall[n];
    const std::string name = g.name, at = std::string("[%t, ") + g.coordinates + "]";
    // Each thread has a texel of its own.
    for (const bool formatted : {false, true}) {
      for (const std::string op : {"add", "min", "max", "and", "or"}) {
        for (const std::string type : {"u32", "s32", "u64", "s64", "b32", "b64"}) {
          const bool ordered = op == "min" || op == "max", logic = op == "and" || op == "or",
                     wide = type.substr(1) == "64";
          if (formatted ? type != "b32" && !(ordered && type == "b64")
                        : logic != (type == "b32") || type == "b64" || (op == "add" && type == "s64"))
            continue;
          for (const char* mode : kOutside) {
            const Numbered texels(g, CU_AD_FORMAT_UNSIGNED_INT32, wide ? 2 : 1, CUDA_ARRAY3D_SURFACE_LDST);
            const CUsurfObject surface = surface_of(texels);
            auto in = each_texel(g, true);
            if (!formatted) {
              for (auto& i : in) i[1] *= wide ? 8 : 4;
            }
            const std::string value = wide ? "mov.b64 %w, 0xffffffff00000012;\n" : "mov.b32 %d0, 0xfffffff2;\n";
            run(".reg .b64 %w;\n" + value + "sured." + (formatted ? "p." : "b.") + op + "." + name + "." + type + mode +
                    " " + at + ", " + (wide ? "%w;" : "%d0;"),
                surface, in);
            const auto now = texels.words(g, wide ? 2 : 1);
            CAPTURE(name, formatted, op, type, mode);
            bool good = true;
            for (u32 t = 0; t < texels.texels; ++t) {
              const u64 old =
                  wide ? Numbered::number(t, 0) | u64{Numbered::number(t, 1)} << 32 : Numbered::number(t, 0);
              const u64 x = wide ? 0xffffffff00000012u : 0xfffffff2u;
              const bool negative = type[0] == 's';  // the operand is less than all that is there
              const u64 want = op == "add"                 ? old + x
                               : op == "and"               ? old & x
                               : op == "or"                ? old | x
                               : (op == "min") == negative ? x
                                                           : old;
              u64 got = now[wide ? 2 * t : t];
              if (wide) got |= u64{now[2 * t + 1]} << 32;
              good = good && got == (wide ? want : u32(want));
            }
            CHECK(good);
            CU_CHECK(cuSurfObjectDestroy(surface));
          }
        }
      }
    }
  }
}
