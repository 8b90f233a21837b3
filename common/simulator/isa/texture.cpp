// Texture instructions. PTX ISA, "Texture Instructions"; how coordinates become texels is in sampling.cpp.
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/lanes.hpp"
#include "common/simulator/isa/sampling.hpp"

#include <algorithm>
#include <utility>

namespace cudasim {
namespace {

// Instruction::control: geometry; 8: whole-number coordinates; 4–5: which level; 6–7: what is written; 8: offsets.
enum Output : u32 { kWords, kHalves, kPairsOfHalves };
constexpr u32 kWhole = 8, kLevelAt = 4, kOutputAt = 6, kOffsets = 256;

// How many registers an offset or a gradient has.
u32 vector_of(u32 geometry) { return is_cube(geometry) || geometry == k3d ? 4 : dimensions(geometry); }

// What a .samplerref variable says; `sampler` says the rest.
Sampler sampler_at(Warp& warp, u32 lane, u64 address, Sampler sampler) {
  SamplerState state;
  std::memcpy(&state, access(warp, lane, Space::global, address, sizeof state, Access::read), sizeof state);
  for (u32 k = 0; k < 3; ++k) sampler.addressing[k] = Addressing(state.addressing[k] & 3);
  sampler.linear = state.linear != 0;
  if (state.unnormalized != 0) sampler.normalized = false;
  return sampler;
}

// In independent mode the sampler is an operand of its own: another texture object's, or a .samplerref variable.
Sampler sampler_of(Warp& warp, u32 lane, const Texture& t, Slot slot) {
  if (slot == kNoSlot) return t.sampler;
  const u64 handle = warp.in<u64>(slot)[lane];
  const auto other = find_texture(handle);
  return other ? other->sampler : sampler_at(warp, lane, handle, t.sampler);
}

// The coordinates that start at `c`.
void take_coordinates(const Warp& warp, u32 lane, u32 geometry, bool whole, const Slot* c, Sample& s) {
  s.whole = whole;
  if (layered(geometry)) s.layer = warp.in<u32>(*c++)[lane];
  for (u32 k = 0; k < (is_cube(geometry) ? 3 : dimensions(geometry)); ++k) {
    if (whole)
      s.texel[k] = warp.in<i32>(c[k])[lane];
    else
      s.at[k] = warp.in<float>(c[k])[lane];
  }
}
void take_offsets(const Warp& warp, u32 lane, u32 geometry, const Slot* o, Sample& s) {
  // Four bits of each, with a sign.
  for (u32 k = 0; k < dimensions(geometry); ++k) s.offset[k] = i32(warp.in<u32>(o[k])[lane] << 28) >> 28;
}

void write_texels(Warp& warp, const Slot* o, u32 output, const Texel* result) {
  for (u32 k = 0; k < (output == kPairsOfHalves ? 2u : 4u); ++k) {
    if (o[k] == kNoSlot) continue;
    const auto half = [&](u32 lane, u32 which) { return to_f16(float_of(result[lane][which])); };
    if (output == kWords) {
      u32* d = warp.out<u32>(o[k]);
      for_lanes(warp.mask, [&](u32 lane) { d[lane] = result[lane][k]; });
    } else if (output == kHalves) {
      u16* d = warp.out<u16>(o[k]);
      for_lanes(warp.mask, [&](u32 lane) { d[lane] = half(lane, k); });
    } else {
      u32* d = warp.out<u32>(o[k]);
      for_lanes(warp.mask, [&](u32 lane) { d[lane] = half(lane, 2 * k) | u32{half(lane, 2 * k + 1)} << 16; });
    }
  }
}
// d|p: whether the texels were in memory. They always are.
void write_residency(Warp& warp, Slot p) {
  if (p != kNoSlot) *warp.out<u32>(p) |= warp.mask;
}

// tex: slots d…, p, the object, the sampler, coordinates, level or gradients, offsets.
void run_tex(Warp& warp, const Instruction& i) {
  const u32 geometry = i.control & 7, output = i.control >> kOutputAt & 3;
  const auto level = Sample::Level(i.control >> kLevelAt & 3);
  const Slot* d = slots(i);
  const Slot* o = d + (output == kPairsOfHalves ? 2 : 4);
  const Slot* c = o + 3;
  const Slot* more = c + coordinates(geometry);
  TextureOperand object(warp, i, o[1]);
  Texel result[kWarpSize] = {};
  for (const u32 lane : set_bits(warp.mask)) {
    const Texture& t = object.of(lane);
    Sample s;
    s.level = level;
    take_coordinates(warp, lane, geometry, i.control & kWhole, c, s);
    const Slot* next = more;
    if (level == Sample::given) {
      s.lod = i.control & kWhole ? float(warp.in<i32>(*next)[lane]) : warp.in<float>(*next)[lane];
      ++next;
    } else if (level == Sample::gradients) {
      for (float* gradient : {s.dx, s.dy}) {
        for (u32 k = 0; k < std::min(vector_of(geometry), 3u); ++k) gradient[k] = warp.in<float>(next[k])[lane];
        next += vector_of(geometry);
      }
    }
    if (i.control & kOffsets) take_offsets(warp, lane, geometry, next, s);
    result[lane] = sample(warp, lane, t, sampler_of(warp, lane, t, o[2]), geometry, s);
  }
  write_texels(warp, d, output, result);
  write_residency(warp, o[0]);
}
u32 output_of(const Form& form) {
  return form.type[0] == Type::f16 ? kHalves : form.type[0] == Type::f16x2 ? kPairsOfHalves : kWords;
}
// Operand 5 and on: level or gradients, offsets, and what a depth texture is compared with, which CUDA has none of.
Bound bind_tex(const Form& form) {
  const Geometry geometry = geometry_of(form);
  const auto level = form.has("level") ? Sample::given : form.has("grad") ? Sample::gradients : Sample::base;
  const u32 next = level == Sample::given ? 6 : level == Sample::gradients ? 7 : 5;
  const bool offsets = !is_cube(geometry) && form.width[next] != 0;
  const u32 comparison = next + (is_cube(geometry) ? 0 : 1);
  if (level != Sample::gradients && form.width[comparison] != 0) return nullptr;
  return {run_tex, geometry | (form.type[1] == Type::s32 ? kWhole : 0) | u32{level} << kLevelAt |
                       output_of(form) << kOutputAt | (offsets ? kOffsets : 0)};
}

// tld4: slots d…, p, the object, the sampler, coordinates, offsets. Control as above, the channel in the level's place.
void run_tld4(Warp& warp, const Instruction& i) {
  const u32 geometry = i.control & 7;
  const Slot* o = slots(i);
  TextureOperand object(warp, i, o[5]);
  Texel result[kWarpSize] = {};
  for (const u32 lane : set_bits(warp.mask)) {
    const Texture& t = object.of(lane);
    Sample s;
    take_coordinates(warp, lane, geometry, false, o + 7, s);
    if (i.control & kOffsets) take_offsets(warp, lane, geometry, o + 7 + coordinates(geometry), s);
    result[lane] = gather(warp, lane, t, sampler_of(warp, lane, t, o[6]), geometry, s, i.control >> kLevelAt & 3);
  }
  write_texels(warp, o, i.control >> kOutputAt & 3, result);
  write_residency(warp, o[4]);
}
Bound bind_tld4(const Form& form) {
  const Geometry geometry = geometry_of(form);
  const u32 channel = form.has("g") ? 1u : form.has("b") ? 2u : form.has("a") ? 3u : 0u;
  const bool offsets = !is_cube(geometry) && form.width[5] != 0;
  if (form.width[is_cube(geometry) ? 5 : 6] != 0) return nullptr;
  return {run_tld4, geometry | channel << kLevelAt | output_of(form) << kOutputAt | (offsets ? kOffsets : 0)};
}

// Queries
enum Query : u32 {
  kWidth,
  kHeight,
  kDepth,
  kLayers,
  kLevels,
  kSamples,
  kNormalized,
  kDataType,
  kOrder,
  kFilter,
  kUnnormalized,
  kMode0,
  kMode1,
  kMode2,
  kLayout
};
constexpr std::pair<std::string_view, u32> kQueries[] = {{"width", kWidth},
                                                         {"height", kHeight},
                                                         {"depth", kDepth},
                                                         {"array_size", kLayers},
                                                         {"num_mipmap_levels", kLevels},
                                                         {"num_samples", kSamples},
                                                         {"normalized_coords", kNormalized},
                                                         {"channel_data_type", kDataType},
                                                         {"channel_order", kOrder},
                                                         {"filter_mode", kFilter},
                                                         {"force_unnormalized_coords", kUnnormalized},
                                                         {"addr_mode_0", kMode0},
                                                         {"addr_mode_1", kMode1},
                                                         {"addr_mode_2", kMode2},
                                                         {"memory_layout", kLayout}};
u32 answer(const Texture& t, u32 query, u32 level) {
  const TextureLevel& at = t.levels[std::min<std::size_t>(level, t.levels.size() - 1)];
  switch (query) {
    case kWidth: return at.width;
    case kHeight: return at.height;
    case kDepth: return at.depth == 1 ? 0 : at.depth;  // as an H200 has it
    case kLayers: return at.depth;
    case kLevels: return u32(t.levels.size());
    case kSamples: return 1;
    case kNormalized: return t.sampler.normalized;
    case kDataType: return channel_data_type(t);
    case kOrder: return channel_order(t);
    case kFilter: return t.sampler.linear;
    case kUnnormalized: return !t.sampler.normalized;
    case kLayout: return 0;  // the layout of an array is opaque
    default: return u32(t.sampler.addressing[query - kMode0]);
  }
}
constexpr u32 kOfLevel = 16;
// What is asked of samplers is asked of a texture object, a .texref, or a .samplerref.
void run_sampler_query(Warp& warp, const Instruction& i) {
  u32* d = warp.out<u32>(i.slot[0]);
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 handle = address_of(warp, i, i.slot[1], false, lane);
    Texture sampler;
    sampler.sampler.normalized = true;
    if (const auto texture = find_texture(handle))
      sampler.sampler = texture->sampler;
    else
      sampler.sampler = sampler_at(warp, lane, handle, sampler.sampler);
    d[lane] = answer(sampler, i.control & 15, 0);
  }
}
void run_query(Warp& warp, const Instruction& i) {
  TextureOperand object(warp, i, i.slot[1]);
  u32* d = warp.out<u32>(i.slot[0]);
  for (const u32 lane : set_bits(warp.mask)) {
    d[lane] = answer(object.of(lane), i.control & 15, i.control & kOfLevel ? warp.in<u32>(i.slot[2])[lane] : 0);
  }
}
Bound bind_query(const Form& form) {
  for (const auto& [name, query] : kQueries) {
    if (!form.has(name)) continue;
    const bool of_sampler = query == kFilter || query == kUnnormalized || (query >= kMode0 && query <= kMode2);
    return {of_sampler ? run_sampler_query : run_query, query | (form.has("level") ? kOfLevel : 0)};
  }
  return nullptr;
}

#define OUTPUTS(mode, geometry, types, operands)                                                         \
  {"tex" mode "." geometry ".v4.f32|s32|u32|f16." types, "={t0}4 |pred [m] b64? " operands, bind_tex}, { \
    "tex" mode "." geometry ".v2.f16x2." types, "={t0}2 |pred [m] b64? " operands, bind_tex              \
  }
#define TEX(geometry, coordinates, offsets)                                  \
  OUTPUTS("{.base}", geometry, "f32|s32", coordinates " " offsets "? f32?"), \
      OUTPUTS(".level", geometry, "f32|s32", coordinates " t1 " offsets "? f32?")
#define CUBE(geometry)                                                                                       \
  OUTPUTS("{.base}", geometry, "f32", "{b32}4 f32?"), OUTPUTS(".level", geometry, "f32", "{b32}4 f32 f32?"), \
      OUTPUTS(".grad", geometry, "f32", "{b32}4 {f32}4 {f32}4")
#define GRAD(geometry, coordinates, gradients, offsets) \
  OUTPUTS(".grad", geometry, "f32|s32", coordinates " " gradients " " gradients " " offsets "?")
#define GATHER(geometry, coordinates, offsets) \
  {"tld4.r|g|b|a." geometry ".v4.f32|s32|u32.f32", "={t0}4 |pred [m] b64? " coordinates offsets " f32?", bind_tld4}

constexpr Row kRows[] = {
    TEX("1d", "{t1}1", "{s32}1"),
    TEX("2d", "{t1}2", "{s32}2"),
    TEX("3d", "{t1}4", "{s32}4"),
    TEX("a1d", "{b32}2", "{s32}1"),
    TEX("a2d", "{b32}4", "{s32}2"),
    CUBE("cube"),
    CUBE("acube"),
    GRAD("1d", "{t1}1", "{f32}1", "{s32}1"),
    GRAD("2d", "{t1}2", "{f32}2", "{s32}2"),
    GRAD("3d", "{t1}4", "{f32}4", "{s32}4"),
    GRAD("a1d", "{b32}2", "{f32}1", "{s32}1"),
    GRAD("a2d", "{b32}4", "{f32}2", "{s32}2"),
    GATHER("2d", "{t1}2", " {s32}2?"),
    GATHER("a2d", "{b32}4", " {s32}2?"),
    GATHER("cube", "{b32}4", ""),
    GATHER("acube", "{b32}4", ""),
    {"txq.width|height|depth|array_size|num_mipmap_levels|num_samples|normalized_coords|channel_data_type|"
     "channel_order|filter_mode|force_unnormalized_coords|addr_mode_0|addr_mode_1|addr_mode_2.b32",
     "=b32 [m]", bind_query},
    {"txq.level.width|height|depth.b32", "=b32 [m] b32", bind_query},
    {"suq.width|height|depth|array_size|channel_data_type|channel_order|memory_layout.b32", "=b32 [m]", bind_query},
};

}  // namespace

std::span<const Row> texture_rows() { return kRows; }

}  // namespace cudasim
