// Textures on the device at hand: every geometry, address mode and filter against the programming guide's formulas, at
// coordinates whose fractions are multiples of 1/16, so that the fixed point of filtering is exact.
#include "tests/instructions/texture.hpp"
#include "tests/catch.hpp"

namespace {

using namespace instructions;

#include "tests/instructions/cube_answers.inc"

constexpr u32 kPoints = 256;

// The guide's "Texture Fetching", for one axis: texel indices (-1: the border) and their weights.
using Weighted = std::array<std::pair<int, double>, 2>;
Weighted along(double coordinate, u32 size, const Sampling& s) {
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
  if (!s.linear) {
    const int nearest = resolve(int(std::floor(x)));
    return {{{nearest, 1.0}, {nearest, 0.0}}};
  }
  const double shifted = x - 0.5, whole = std::floor(shifted), fraction = shifted - whole;
  return {{{resolve(int(whole)), 1 - fraction}, {resolve(int(whole) + 1), fraction}}};
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
float expected(const Filled& f, const Geometry& g, const Sampling& s, const std::array<u32, 4>& in, u32 channel) {
  const int slice = g.layered ? int(std::min(in[0], kLayers - 1)) : 0;
  const Weighted xs = along(real(in[1]), f.size().width, s);
  const Weighted ys = g.axes > 1 ? along(real(in[2]), f.size().height, s) : Weighted{{{0, 1.0}, {0, 0.0}}};
  const Weighted zs = g.axes > 2 ? along(real(in[3]), f.size().depth, s) : Weighted{{{slice, 1.0}, {slice, 0.0}}};
  const std::vector<double> weight = weights(g.axes, xs[1].second, ys[1].second, zs[1].second);
  double sum = 0;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    const int x = xs[k & 1].first, y = ys[k >> 1 & 1].first, z = zs[k >> 2 & 1].first;
    if (x >= 0 && y >= 0 && z >= 0) sum += weight[k] * double(f.at(u32(x), u32(y), u32(z), channel));
  }
  return float(sum);
}

// Points in and around the texture, in sixteenths of a texel.
Words points(const Size& size, const Sampling& s) {
  Words in;
  std::mt19937 random(11);
  const auto coordinate = [&](u32 texels) {
    const float at = float(int(random() % (texels * 64)) - int(texels * 24)) / 16.0f;
    return word(s.normalized ? at / float(texels) : at);
  };
  for (u32 k = 0; k < kPoints; ++k) {
    in.push_back({u32(random() % kLayers), coordinate(size.width), coordinate(size.height), coordinate(size.depth)});
  }
  return in;
}

void sample(const Filled& f, const Geometry& g, const Sampling& s) {
  const Texture texture(f.array.resource(), sampling(g.axes, s));
  const Words in = points(f.size(), s);
  const bool level = f.channels == 4;  // the same, asked for differently
  const std::string form = std::string(level ? "tex.level." : "tex.") + g.name + ".v4.f32.f32";
  const Words out = run(four(form, g.coordinates, level ? ", 0f00000000" : ""), texture, in);
  CAPTURE(g.name, f.channels, s.linear, s.normalized, int(s.mode));
  for (u32 k = 0; k < kPoints; ++k) {
    CAPTURE(k, in[k][0], real(in[k][1]), real(in[k][2]), real(in[k][3]));
    for (u32 channel = 0; channel < f.channels; ++channel) {
      REQUIRE(real(out[k][channel]) == expected(f, g, s, in[k], channel));
    }
  }
}

}  // namespace

TEST_CASE("textures are sampled by the programming guide's formulas") {
  const Device device;
  for (const Geometry& g : kGeometries) {
    for (const u32 channels : {1u, 4u}) {
      const Filled f(g, channels);
      for (const bool linear : {false, true}) {
        for (const bool normalized : {false, true}) {
          for (const CUaddress_mode mode : {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER,
                                            CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR}) {
            sample(f, g, {mode, linear, normalized});
          }
        }
      }
    }
  }
}

TEST_CASE("a texture over plain memory reads texels by number, and zero outside of it") {
  const Device device;
  const struct {
    CUarray_format format;
    unsigned flags;
    const char* type;
    float (*value)(u32 raw);
  } formats[] = {
      {CU_AD_FORMAT_FLOAT, 0, "f32", [](u32 raw) { return real(raw); }},
      {CU_AD_FORMAT_UNSIGNED_INT8, 0, "f32", [](u32 raw) { return float(u8(raw)) / 255; }},
      {CU_AD_FORMAT_SIGNED_INT8, 0, "f32", [](u32 raw) { return std::max(float(i8(raw)) / 127, -1.0f); }},
      {CU_AD_FORMAT_UNSIGNED_INT16, 0, "f32", [](u32 raw) { return float(u16(raw)) / 65535; }},
      {CU_AD_FORMAT_SIGNED_INT16, 0, "f32", [](u32 raw) { return std::max(float(i16(raw)) / 32767, -1.0f); }},
      {CU_AD_FORMAT_UNSIGNED_INT8, CU_TRSF_READ_AS_INTEGER, "u32", [](u32 raw) { return real(u8(raw)); }},
      {CU_AD_FORMAT_SIGNED_INT16, CU_TRSF_READ_AS_INTEGER, "s32", [](u32 raw) { return real(u32(i32(i16(raw)))); }},
      {CU_AD_FORMAT_SIGNED_INT32, CU_TRSF_READ_AS_INTEGER, "s32", [](u32 raw) { return real(raw); }},
  };
  std::mt19937 random(5);
  std::vector<u32> words(64);
  for (u32& w : words) w = word(float(random() % 1000)) ^ u32(random() & 0xff);
  const cu::Memory memory(words.size() * 4);
  CU_CHECK(cuMemcpyHtoD(memory.address, words.data(), words.size() * 4));
  for (const auto& f : formats) {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_LINEAR;
    r.res.linear.devPtr = memory.address;
    r.res.linear.format = f.format;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = words.size() * 4;
    CUDA_TEXTURE_DESC d{};
    d.flags = f.flags;
    const Texture texture(r, d);
    Words in;
    const i32 bytes = i32(bytes_of(f.format)), texels = i32(words.size() * 4) / bytes;
    for (i32 k = 0; k < 96; ++k) in.push_back({0, u32(k - 16 + (k % 2) * (texels - 64)), 0, 0});
    const Words out = run(four(std::string("tex.1d.v4.") + f.type + ".s32", "{%x}"), texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const i32 i = i32(in[k][1]);
      CAPTURE(f.type, bytes, i);
      u32 raw = 0;
      const bool inside = i >= 0 && i < texels;
      if (inside) std::memcpy(&raw, reinterpret_cast<const char*>(words.data()) + i * bytes, std::size_t(bytes));
      const u32 want = inside ? word(f.value(raw)) : 0;
      REQUIRE((out[k][0] == want || std::fabs(real(out[k][0]) - real(want)) < 1e-7f));
    }
  }
}

// The texels are 10 y² + 3 x², the expected values an H200's.
TEST_CASE("a linear filter works on whole numbers, too") {
  const Device device;
  const struct {
    CUarray_format format;
    std::array<u32, 11> answers;
  } formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, {0, 7, 7, 13, 15, 18, 62, 37, 193, 5, 152}},
                 {CU_AD_FORMAT_UNSIGNED_INT16, {0, 7, 7, 13, 15, 18, 62, 37, 193, 5, 152}},
                 {CU_AD_FORMAT_UNSIGNED_INT32, {0, 6, 7, 13, 15, 17, 62, 37, 192, 5, 152}}};
  const float where[][2] = {{0, 0},         {1, 1},         {1.25f, 1}, {1.5f, 1.5f}, {1.75f, 1.5f}, {2, 1.5f},
                            {2.25f, 2.75f}, {3.99f, 0.01f}, {7, 3},     {-1, 1},      {9, 1}};
  constexpr u32 kPitch = 512;
  const cu::Memory memory(kPitch * kHeight);
  for (const auto& f : formats) {
    const u32 bytes = bytes_of(f.format);
    std::vector<u8> texels(kPitch * kHeight);
    for (u32 y = 0; y < kHeight; ++y) {
      for (u32 x = 0; x < kWidth; ++x) {
        const u32 value = 10 * y * y + 3 * x * x;
        std::memcpy(&texels[y * kPitch + x * bytes], &value, bytes);
      }
    }
    CU_CHECK(cuMemcpyHtoD(memory.address, texels.data(), texels.size()));
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_PITCH2D;
    r.res.pitch2D.devPtr = memory.address;
    r.res.pitch2D.format = f.format;
    r.res.pitch2D.numChannels = 1;
    r.res.pitch2D.width = kWidth;
    r.res.pitch2D.height = kHeight;
    r.res.pitch2D.pitchInBytes = kPitch;
    CUDA_TEXTURE_DESC d = sampling(2, {CU_TR_ADDRESS_MODE_CLAMP, true, false});
    d.flags = CU_TRSF_READ_AS_INTEGER;
    const Texture texture(r, d);
    Words in;
    for (const auto& at : where) in.push_back({0, word(at[0]), word(at[1]), 0});
    const Words out = run(four("tex.2d.v4.u32.f32", "{%x, %y}"), texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      CAPTURE(bytes, where[k][0], where[k][1]);
      CHECK(out[k][0] == f.answers[k]);
    }
  }
}

namespace {
constexpr u32 kSide = 4;  // of a cube map
Array cube_of(const std::vector<float>& texels) {
  return {{kSide, kSide, 6}, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP, texels};
}
const std::string kCube = four("tex.cube.v4.f32.f32", "{%x, %y, %z, %z}");
}  // namespace

TEST_CASE("a cube map is sampled by direction") {
  const Device device;
  std::vector<float> texels(kSide * kSide * 6);
  for (std::size_t k = 0; k < texels.size(); ++k) texels[k] = float(k);
  const Array array = cube_of(texels);
  const Texture texture(array.resource(), sampling(2, {CU_TR_ADDRESS_MODE_CLAMP, false, true}));
  Words in;
  for (u32 face = 0; face < 6; ++face) {
    for (u32 texel = 0; texel < kSide * kSide; ++texel) {
      const float s = 2 * (float(texel % kSide) + 0.5f) / kSide - 1, t = 2 * (float(texel / kSide) + 0.5f) / kSide - 1;
      in.push_back(direction(face, s, t));
    }
  }
  const Words out = run(kCube, texture, in);
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
  const Words faces = run(kCube, texture, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    CAPTURE(k);
    CHECK(u32(real(faces[k][0])) / (kSide * kSide) == edges[k].face);
  }
}

TEST_CASE("a seamless cube map is filtered across its edges as an H200 does it") {
  const Device device;
  constexpr u32 kGrid = 12;
  std::vector<float> texels;
  for (u32 k = 0; k < kSide * kSide * 6; ++k) texels.push_back(float(1 + k / 16 * 100 + k / 4 % 4 * 10 + k % 4));
  const Array array = cube_of(texels);
  const float grid[kGrid] = {-1.0f, -0.97f, -0.9f, -0.8f, -0.75f, -0.4f, 0.0f, 0.3f, 0.75f, 0.85f, 0.95f, 1.0f};
  CUDA_TEXTURE_DESC how = sampling(2, {CU_TR_ADDRESS_MODE_CLAMP, true, true});
  for (const bool seamless : {false, true}) {
    how.flags = CU_TRSF_NORMALIZED_COORDINATES | (seamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    const Texture texture(array.resource(), how);
    for (u32 face = 0; face < 6; ++face) {
      Words in;
      for (const float t : grid) {
        for (const float s : grid) in.push_back(direction(face, s, t));
      }
      const Words out = run(kCube, texture, in);
      for (u32 n = 0; n < kGrid * kGrid; ++n) {
        CAPTURE(seamless, face, n / kGrid, n % kGrid);
        const float want = kCubeAnswers[seamless][face * kGrid * kGrid + n];
        CHECK(std::fabs(real(out[n][0]) - want) <= want * 1e-5f);  // six digits were written down
      }
    }
  }
  // The flag is for cubes; it does not matter whether their coordinates are normalized.
  const Array plain({kSide, kSide}, CU_AD_FORMAT_FLOAT, 1);
  const CUDA_RESOURCE_DESC r = plain.resource();
  CUtexObject texture = 0;
  CHECK(cuTexObjectCreate(&texture, &r, &how, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("tld4 gathers a channel of four texels, txq and suq tell sizes, gradients change nothing") {
  const Device device;
  const Filled f(kGeometries[1], 4, CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_SURFACE_LDST);
  const Texture texture(f.array.resource(), sampling(2, {CU_TR_ADDRESS_MODE_CLAMP, false, false}));
  const Surface surface(f.array.resource());
  const Words in = {{0, word(3.25f), word(2.0f), 0}, {0, word(0.25f), word(3.75f), 0}};
  for (u32 channel = 0; channel < 4; ++channel) {
    const Words out = run(four(std::string("tld4.") + "rgba"[channel] + ".2d.v4.f32.f32", "{%x, %y}"), texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const auto at = [&](u32 c, u32 size, int next) {
        return u32(std::clamp(int(std::floor(real(c) - 0.5f)) + next, 0, int(size) - 1));
      };
      const auto texel = [&](int i, int j) {
        return f.at(at(in[k][1], kWidth, i), at(in[k][2], kHeight, j), 0, channel);
      };
      CHECK(real(out[k][0]) == texel(0, 1));
      CHECK(real(out[k][1]) == texel(1, 1));
      CHECK(real(out[k][2]) == texel(1, 0));
      CHECK(real(out[k][3]) == texel(0, 0));
    }
  }
  const Words sizes = run("txq.width.b32 %d0, [%t];\ntxq.height.b32 %d1, [%t];", texture, in);
  CHECK(sizes[0][0] == kWidth);
  CHECK(sizes[0][1] == kHeight);
  const Words of_surface = run("suq.width.b32 %d0, [%t];\nsuq.height.b32 %d1, [%t];", surface, in);
  CHECK(of_surface[0][0] == kWidth);
  CHECK(of_surface[0][1] == kHeight);
  const Words plain = run(four("tex.2d.v4.f32.f32", "{%x, %y}"), texture, in);
  const Words graded = run(four("tex.grad.2d.v4.f32.f32", "{%x, %y}", ", {%x, %y}, {%y, %x}"), texture, in);
  CHECK(plain == graded);
}

TEST_CASE("between texels of 8 and 16 bits a filter computes in 16 bits, between halves in halves") {
  const Device device;
  const struct {
    CUarray_format format;
    u32 raw[2];
    u32 want;  // an H200's result
  } cases[] = {{CU_AD_FORMAT_UNSIGNED_INT8, {0, 1}, 0x3b010081},
               {CU_AD_FORMAT_UNSIGNED_INT16, {7, 1038}, 0x3c02c083},
               {CU_AD_FORMAT_HALF, {0x3c00, 0x3c71}, 0x3f872000}};
  for (const auto& c : cases) {
    const u32 bytes = bytes_of(c.format);
    std::vector<u8> texels(2 * bytes);
    for (u32 k = 0; k < 2; ++k) std::memcpy(&texels[k * bytes], &c.raw[k], bytes);
    const Array array({2}, c.format, 1, 0, texels);
    const Texture texture(array.resource(), sampling(1, {CU_TR_ADDRESS_MODE_CLAMP, true, false}));
    const Words out = run(four("tex.1d.v4.f32.f32", "{%x}"), texture, {{0, word(1.0f), 0, 0}});
    CAPTURE(int(c.format), c.raw[1]);
    CHECK(out[0][0] == c.want);
  }
}

TEST_CASE("sRGB texels are read as light, alpha as it is") {
  const Device device;
  std::vector<u8> texels(1024);
  for (std::size_t k = 0; k < texels.size(); ++k) texels[k] = u8(k / 4);
  const Array array({256}, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0, texels);
  CUDA_TEXTURE_DESC how = sampling(1, {CU_TR_ADDRESS_MODE_CLAMP, false, false});
  how.flags |= CU_TRSF_SRGB;
  const Texture texture(array.resource(), how);
  Words in;
  for (u32 k = 0; k < 256; ++k) in.push_back({0, word(float(k) + 0.5f), 0, 0});
  const Words out = run(four("tex.1d.v4.f32.f32", "{%x}"), texture, in);
  for (u32 k = 0; k < 256; ++k) {
    const double c = k / 255.0, light = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    CAPTURE(k);
    CHECK(std::fabs(double(real(out[k][0])) - light) <= std::max(light / 128, 1.0 / 16384));  // as near as an H200 is
    CHECK(std::fabs(double(real(out[k][3])) - c) < 1e-6);
  }
}

TEST_CASE("texels come as halves, offsets move the coordinates, a predicate says that they were there") {
  const Device device;
  const Filled f(kGeometries[1], 4);
  const Texture texture(f.array.resource(), sampling(2, {CU_TR_ADDRESS_MODE_CLAMP, false, false}));
  const Words in = {{0, word(3.5f), word(2.5f), 0}, {0, word(0.5f), word(0.5f), 0}};
  const Words halves = run("tex.2d.v2.f16x2.f32 {%d0, %d1}, [%t, {%x, %y}];", texture, in);
  const Words one_by_one =
      run(".reg .b16 %h<4>;\ntex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t, {%x, %y}];\nmov.b32 %d0, {%h0, %h1};\n"
          "mov.b32 %d1, {%h2, %h3};",
          texture, in);
  CHECK(halves == one_by_one);
  const Words moved = run("mov.b32 %l, -2;\n" + four("tex.2d.v4.f32.f32", "{%x, %y}", ", {%l, 1}"), texture, in);
  const Words there =
      run(".reg .pred %p;\ntex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}|%p, [%t, {%x, %y}];\nselp.b32 %d1, 1, 0, %p;",
          texture, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    const int x = int(real(in[k][1])), y = int(real(in[k][2]));
    CHECK(real(moved[k][0]) == f.at(u32(std::max(x - 2, 0)), u32(y + 1)));
    CHECK(there[k][1] == 1);
  }
}
