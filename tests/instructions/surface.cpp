// Surfaces on the device at hand: what is read and written where, in which format, and what lies outside.
#include "tests/catch.hpp"
#include "tests/instructions/texture.hpp"

namespace {
using namespace instructions;
}  // namespace

TEST_CASE("surfaces are read and written by byte, and what lies outside is clamped or ignored") {
  const Device device;
  for (const Geometry& g : kGeometries) {
    const Filled f(g, 1, CUDA_ARRAY3D_SURFACE_LDST);
    const Surface surface(f.array.resource());
    Words in;
    for (u32 z = 0; z < f.size().depth; ++z) {
      for (u32 y = 0; y < f.size().height; ++y) {
        for (i32 x = -1; x <= i32(kWidth); ++x) in.push_back({z, u32(4 * x), y, z});
      }
    }
    const std::string at = std::string(g.name) + ".b32", where = std::string("[%t, ") + g.coordinates + "]";
    const Words zeros = run("suld.b." + at + ".zero %d0, " + where + ";", surface, in);
    const Words clamped = run("suld.b." + at + ".clamp {%d0}, " + where + ";", surface, in);
    run("add.u32 %d0, %x, 1000;\nsust.b." + at + ".zero " + where + ", %d0;", surface, in);
    const Words after = run("suld.b." + at + ".zero %d0, " + where + ";", surface, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const i32 x = i32(in[k][1]) / 4;
      const bool inside = x >= 0 && x < i32(kWidth);
      CAPTURE(g.name, k, x);
      CHECK(zeros[k][0] == (inside ? word(f.at(u32(x), in[k][2], in[k][3])) : 0));
      CHECK(clamped[k][0] == word(f.at(u32(std::clamp(x, 0, i32(kWidth) - 1)), in[k][2], in[k][3])));
      CHECK(after[k][0] == (inside ? in[k][1] + 1000 : 0));
    }
  }
}

namespace {

void store_in_format(CUarray_format format, u32 value, u32 want) {
  const u32 bytes = bytes_of(format);
  std::vector<u8> raw(8 * bytes);
  const Array array({8}, format, 1, CUDA_ARRAY3D_SURFACE_LDST, raw);
  const Surface surface(array.resource());
  run("sust.p.1d.b32.zero [%t, {%x}], %y;", surface, {{0, 3, value, 0}, {0, 8, value, 0}, {0, u32(-1), value, 0}});
  array.read(raw.data());
  CAPTURE(int(format));
  for (u32 k = 0; k < 8; ++k) {
    u32 got = 0;
    std::memcpy(&got, &raw[k * bytes], bytes);
    CHECK(got == (k == 3 ? want : 0));
  }
}

void reduce(const std::string& form, CUarray_format format, u32 old, u32 value, u32 want) {
  const Array array({4, 2}, format, 1, CUDA_ARRAY3D_SURFACE_LDST, std::vector<u32>(8, old));
  const Surface surface(array.resource());
  const u32 x = form[6] == 'p' ? 2 : 8;
  run(form + " [%t, {%x, %y}], %z;", surface, Words(32, {0, x, 1, value}));
  const Words after = run("suld.b.2d.b32.zero %d0, [%t, {%x, %y}];", surface, {{0, 8, 1, 0}, {0, 8, 0, 0}});
  CAPTURE(form);
  CHECK(after[0][0] == want);
  CHECK(after[1][0] == old);
}

}  // namespace

TEST_CASE("sust.p converts to the surface's format, sured combines with what is there") {
  const Device device;
  store_in_format(CU_AD_FORMAT_UNSIGNED_INT8, 200, 200);
  store_in_format(CU_AD_FORMAT_SIGNED_INT16, u32(-300), 0xfed4);
  store_in_format(CU_AD_FORMAT_UNSIGNED_INT32, 0x12345678, 0x12345678);
  store_in_format(CU_AD_FORMAT_HALF, word(1.5f), 0x3e00);
  store_in_format(CU_AD_FORMAT_HALF, 0x3c003c00, 0x2001);
  store_in_format(CU_AD_FORMAT_HALF, word(65536.0f), 0x7bff);
  store_in_format(CU_AD_FORMAT_FLOAT, word(-7.0f), word(-7.0f));
  reduce("sured.b.add.2d.u32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 5, 7, 5 + 32 * 7);
  reduce("sured.b.min.2d.s32.trap", CU_AD_FORMAT_SIGNED_INT32, 5, u32(-7), u32(-7));
  reduce("sured.b.max.2d.u32.clamp", CU_AD_FORMAT_UNSIGNED_INT32, 5, u32(-7), u32(-7));
  reduce("sured.b.and.2d.b32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 0xff, 0xf0f, 0xf);
  reduce("sured.b.or.2d.b32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 0xf0, 0xf0f, 0xfff);
  reduce("sured.p.add.2d.b32.zero", CU_AD_FORMAT_SIGNED_INT32, 5, u32(-1), u32(5 - 32));
  reduce("sured.p.max.2d.b32.zero", CU_AD_FORMAT_SIGNED_INT32, 5, u32(-1), 5);
  reduce("sured.p.min.2d.b32.zero", CU_AD_FORMAT_UNSIGNED_INT32, 5, u32(-1), 5);
}
