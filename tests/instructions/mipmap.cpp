// Mipmapped textures on the device at hand: which level is read, by number, bias, bounds, gradients and anisotropy.
#include "tests/catch.hpp"
#include "tests/instructions/texture.hpp"

namespace {

using namespace instructions;

// 64 × 64 texels and its halvings, each level filled with its number; what is asked for says which level it comes from.
struct Levels : Owner<CUmipmappedArray, cuMipmappedArrayDestroy> {
  explicit Levels(unsigned count) {
    CUDA_ARRAY3D_DESCRIPTOR d{};
    d.Width = d.Height = 64;
    d.Format = CU_AD_FORMAT_FLOAT;
    d.NumChannels = 1;
    CU_CHECK(cuMipmappedArrayCreate(&handle, &d, count));
    for (unsigned l = 0; l < count; ++l) {
      const u32 side = 64u >> l;
      CUarray level = nullptr;
      CU_CHECK(cuMipmappedArrayGetLevel(&level, handle, l));
      copy(level, {side, side}, 4, std::vector<float>(side * side, float(l)).data(), nullptr);
    }
  }
  CUDA_RESOURCE_DESC resource() const {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = handle;
    return r;
  }
};
CUDA_TEXTURE_DESC of_levels(bool linear, float bias, float least, float most) {
  CUDA_TEXTURE_DESC d = sampling(2, {CU_TR_ADDRESS_MODE_CLAMP, true, true});
  d.mipmapFilterMode = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  d.mipmapLevelBias = bias;
  d.minMipmapLevelClamp = least;
  d.maxMipmapLevelClamp = most;
  return d;
}
// A gradient of %l along x, and one of %z along y.
const std::string kGraded = four("tex.grad.2d.v4.f32.f32", "{%x, %y}", ", {%l, 0f00000000}, {0f00000000, %z}");

}  // namespace

TEST_CASE("a level of a mipmapped texture is chosen by number, bias and bounds, or mixed from two") {
  const Device device;
  const Levels levels(5);
  const struct {
    bool linear;
    float bias, least, most;
  } how[] = {{false, 0, 0, 99}, {true, 0, 0, 99}, {true, 0.75f, 0, 99}, {true, 0, 0.5f, 2.25f}, {false, -0.75f, 1, 3}};
  for (const auto& h : how) {
    const Texture texture(levels.resource(), of_levels(h.linear, h.bias, h.least, h.most));
    Words in;
    for (int k = -20; k < 100; ++k) in.push_back({0, word(0.3f), word(0.6f), word(float(k) / 16 + 0.03125f)});
    const Words out = run(four("tex.level.2d.v4.f32.f32", "{%x, %y}", ", %z"), texture, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const float asked = real(in[k][3]) + h.bias;
      const float level = std::min(std::max(std::min(std::max(asked, h.least), h.most), 0.0f), 4.0f);
      CAPTURE(h.linear, h.bias, h.least, h.most, asked);
      CHECK(real(out[k][0]) == (h.linear ? level : std::floor(level + 0.5f)));
    }
  }
}

TEST_CASE("gradients choose the level by the longer one's length in texels") {
  const Device device;
  const Levels levels(5);
  const Texture texture(levels.resource(), of_levels(true, 0, 0, 99));
  Words in;
  for (int k = -2; k < 7; ++k) {
    in.push_back({word(std::ldexp(1.0f, k) / 64), word(0.3f), word(0.6f), word(0)});
    in.push_back({word(0), word(0.3f), word(0.6f), word(std::ldexp(-1.0f, k) / 64)});
  }
  const Words out = run(kGraded, texture, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    CAPTURE(k);
    CHECK(real(out[k][0]) == float(std::clamp(int(k / 2) - 2, 0, 4)));
  }
}

TEST_CASE("a plain tex reads the first level that its bounds allow, whatever the bias") {
  const Device device;
  const Levels levels(5);
  for (const auto& [bias, least, most, want] :
       {std::array{0.75f, 0.0f, 99.0f, 0.0f}, {0.0f, 0.5f, 2.25f, 0.5f}, {1.0f, 3.0f, 1.0f, 3.0f}}) {
    const Texture texture(levels.resource(), of_levels(true, bias, least, most));
    for (const std::string form : {"tex.2d", "tex.base.2d"}) {
      const Words out = run(four(form + ".v4.f32.f32", "{%x, %y}"), texture, {{0, word(0.3f), word(0.6f), 0}});
      CAPTURE(form, bias, least, most);
      CHECK(real(out[0][0]) == want);
    }
  }
}

TEST_CASE("anisotropy takes a footprint's shorter side for the level, as far as its ratio goes") {
  const Device device;
  const Levels levels(5);
  // A footprint of 8 × 1 texels: the level is that of 8 / n texels, n the allowed ratio.
  for (const auto& [ratio, level] : {std::pair(1u, 3.0f), {2u, 2.0f}, {4u, 1.0f}, {8u, 0.0f}, {16u, 0.0f}}) {
    CUDA_TEXTURE_DESC d = of_levels(true, 0, 0, 99);
    d.maxAnisotropy = ratio;
    const Texture texture(levels.resource(), d);
    const u32 middle = word(0.5f), eight = word(8.0f / 64), one = word(1.0f / 64);
    const Words out = run(kGraded, texture, {{eight, middle, middle, one}, {one, middle, middle, eight}});
    CAPTURE(ratio);
    for (const auto& o : out) CHECK(std::fabs(real(o[0]) - level) < 0.3f);  // how near, no manual says
  }
}

TEST_CASE("txq tells a level's size and how many there are; a view shows some of them") {
  const Device device;
  const Levels levels(5);
  const CUDA_TEXTURE_DESC d = of_levels(true, 0, 0, 99);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
  view.width = view.height = 64;  // of the whole, whichever levels it shows
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 3;
  CUDA_TEXTURE_DESC point = d;
  point.filterMode = point.mipmapFilterMode = CU_TR_FILTER_MODE_POINT;
  point.flags |= CU_TRSF_READ_AS_INTEGER;
  const Texture whole(levels.resource(), d), part(levels.resource(), point, &view);
  const Words in = {{0, word(0.5f), word(0.5f), word(1)}};
  const Words sizes =
      run("txq.width.b32 %d0, [%t];\ntxq.level.width.b32 %d1, [%t], 2;\ntxq.depth.b32 %d2, [%t];", whole, in);
  CHECK(sizes[0][0] == 64);
  CHECK(sizes[0][1] == 16);
  CHECK(sizes[0][2] == 0);
  if (device.simulated()) {  // a GPU's driver does not compile this one
    CHECK(run("txq.num_mipmap_levels.b32 %d0, [%t];", whole, in)[0][0] == 5);
  }
  const Words seen = run(four("tex.level.2d.v4.u32.f32", "{%x, %y}", ", %z"), part, in);
  CHECK(real(seen[0][0]) == 2.0f);
  CUDA_RESOURCE_VIEW_DESC told{};
  CHECK(cuTexObjectGetResourceViewDesc(&told, part) == CUDA_SUCCESS);
  CHECK(told.lastMipmapLevel == 3);
}
