// Textures and surfaces. PTX ISA, "Texture Instructions" and "Surface Instructions"; how coordinates become texels is
// in the CUDA programming guide, "Texture Fetching".
//
// Filtering works in the guide's fixed point, eight bits of fraction. All textures have one mipmap level, so the level
// of detail and gradients choose that one whatever they are. Across the edges of a cube's faces nothing is filtered.
#include "common/simulator/exec/access.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/lanes.hpp"
#include "common/simulator/memory/textures.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudasim {
namespace {

enum Geometry : u32 { k1d, k2d, k3d, kLayered1d, kLayered2d, kCube, kLayeredCube };
constexpr std::pair<std::string_view, u32> kGeometries[] = {{"1d", k1d},
                                                            {"2d", k2d},
                                                            {"3d", k3d},
                                                            {"a1d", kLayered1d},
                                                            {"a2d", kLayered2d},
                                                            {"cube", kCube},
                                                            {"acube", kLayeredCube}};

u32 geometry_of(const Form& form) {
  for (const auto& [name, geometry] : kGeometries) {
    if (form.has(name)) return geometry;
  }
  return k1d;
}
u32 dimensions(u32 geometry) { return geometry == k1d || geometry == kLayered1d ? 1 : geometry == k3d ? 3 : 2; }
// How many coordinate registers a row's operand has.
u32 coordinates(u32 geometry) {
  constexpr u32 kCount[] = {1, 2, 4, 2, 4, 4, 4};
  return kCount[geometry];
}
bool layered(u32 geometry) { return geometry == kLayered1d || geometry == kLayered2d || geometry == kLayeredCube; }

using Texel = std::array<u32, 4>;  // results as registers get them

const Slot* slots(const Instruction& i) { return i.wide ? i.wide : i.slot; }

// The object that a lane's handle names.
const Texture& texture_of(const Warp& warp, Slot slot, u32 lane, std::shared_ptr<const Texture>& held,
                          u64& held_handle) {
  const u64 handle = warp.in<u64>(slot)[lane];
  if (!held || handle != held_handle) held = find_texture(handle), held_handle = handle;
  if (held) return *held;
  Fault fault;
  fault.kind = FaultKind::illegal_address;
  fault.what = "use of a texture or surface that does not exist";
  fault.address = handle;
  fault.lane = lane;
  throw fault;
}

// One channel's bits, as the register gets them.
u32 channel_value(const Texture& t, u32 raw) {
  const bool keep = t.as_integers;
  switch (t.channel) {
    case Type::u8: return keep ? raw : bits_of(float(raw) / 255.0f);
    case Type::u16: return keep ? raw : bits_of(float(raw) / 65535.0f);
    case Type::s8: return keep ? u32(i32(i8(raw))) : bits_of(std::max(float(i8(raw)) / 127.0f, -1.0f));
    case Type::s16: return keep ? u32(i32(i16(raw))) : bits_of(std::max(float(i16(raw)) / 32767.0f, -1.0f));
    case Type::f16: return bits_of(from_f16(u16(raw)));
    default: return raw;
  }
}
bool gives_floats(const Texture& t) { return is_float(t.channel) || (!t.as_integers && bits(t.channel) < 32); }

// Absent channels read as 0, 0, 1.
Texel read_texel(Warp& warp, u32 lane, const Texture& t, u32 x, u32 y, u32 z) {
  const u32 size = bytes(t.channel);
  const u64 address = t.address + z * t.slice + y * t.pitch + u64{x} * t.texel_bytes();
  const std::byte* at = access(warp, lane, Space::global, address, t.texel_bytes(), Access::read);
  Texel texel = {0, 0, 0, gives_floats(t) ? bits_of(1.0f) : 1u};
  for (u32 k = 0; k < t.channels; ++k) {
    u32 raw = 0;
    std::memcpy(&raw, at + k * size, size);
    texel[k] = channel_value(t, raw);
  }
  return texel;
}
Texel border(const Texture& t) {
  Texel texel;
  for (u32 k = 0; k < 4; ++k) texel[k] = gives_floats(t) ? bits_of(t.border[k]) : u32(i64(t.border[k]));
  return texel;
}

// One axis: the texels on both sides of a coordinate, -1: outside, and the weight of the second, in 256ths.
struct Axis {
  i32 first = 0, second = 0;
  u32 weight = 0;
};
i32 modulo(i32 a, i32 n) { return (a % n + n) % n; }
i32 index_at(i32 i, i32 n, Addressing mode) {
  switch (mode) {
    case Addressing::wrap: return modulo(i, n);
    case Addressing::mirror: return modulo(i, 2 * n) < n ? modulo(i, 2 * n) : 2 * n - 1 - modulo(i, 2 * n);
    case Addressing::border: return i < 0 || i >= n ? -1 : i;
    default: return std::clamp(i, 0, n - 1);
  }
}
Axis axis_at(float coordinate, u32 size, Addressing mode, bool normalized, bool linear) {
  constexpr float kFar = 0x1p24f;
  if (!normalized && (mode == Addressing::wrap || mode == Addressing::mirror)) mode = Addressing::clamp;
  float x = coordinate != coordinate ? 0.0f : coordinate;
  if (normalized) {
    // Far away only the fraction matters to the repeating modes.
    if (mode == Addressing::wrap) x = std::isinf(x) ? 0.0f : x - std::floor(x);
    if (mode == Addressing::mirror) x = std::isinf(x) ? 0.0f : x - 2.0f * std::floor(x / 2.0f);
    x *= float(size);
  }
  x = std::clamp(x, -kFar, kFar);
  const i32 n = i32(size);
  if (!linear) {
    const i32 i = index_at(i32(std::floor(x)), n, mode);
    return {i, i, 0};
  }
  const i64 fixed = i64(std::floor((double(x) - 0.5) * 256.0 + 0.5));
  const i32 i = i32(fixed >> 8);
  return {index_at(i, n, mode), index_at(i + 1, n, mode), u32(fixed & 255)};
}
// Whole-number coordinates name texels.
Axis axis_at(i32 coordinate, u32 size, Addressing mode) {
  const i32 i = index_at(coordinate, i32(size), mode == Addressing::border ? mode : Addressing::clamp);
  return {i, i, 0};
}

struct Point {
  Axis axis[3];
  u32 layer = 0;
  bool outside = false;  // of a plain array
};

// The face of a cube that a direction meets, and where; the guide's table of cubemaps.
u32 face_of(float x, float y, float z, float& s, float& t) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  u32 face;
  float m;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
  }
  s = (s / m + 1) / 2;
  t = (t / m + 1) / 2;
  return face;
}

Point point_at(const Warp& warp, u32 lane, const Texture& t, u32 geometry, const Slot* c, bool whole) {
  Point p;
  u32 used = 0;
  if (layered(geometry)) {
    const u32 layers = geometry == kLayeredCube ? t.depth / 6 : t.depth;
    p.layer = std::min(warp.in<u32>(c[used++])[lane], layers - 1);
  }
  const u32 sizes[] = {t.width, t.height, t.depth};
  if (geometry == kCube || geometry == kLayeredCube) {
    float s = 0, v = 0;
    const u32 face = face_of(warp.in<float>(c[used])[lane], warp.in<float>(c[used + 1])[lane],
                             warp.in<float>(c[used + 2])[lane], s, v);
    p.layer = p.layer * 6 + face;
    p.axis[0] = axis_at(s, t.width, Addressing::clamp, true, t.linear);
    p.axis[1] = axis_at(v, t.height, Addressing::clamp, true, t.linear);
    return p;
  }
  for (u32 k = 0; k < dimensions(geometry); ++k) {
    const Slot slot = c[used + k];
    if (t.linear_memory) {
      const i64 i = whole ? i64{warp.in<i32>(slot)[lane]}
                          : i64(std::floor(std::clamp(warp.in<float>(slot)[lane], -0x1p30f, 0x1p30f)));
      p.outside = i < 0 || i >= sizes[k];
      p.axis[k].first = p.axis[k].second = p.outside ? 0 : i32(i);
    } else if (whole) {
      p.axis[k] = axis_at(warp.in<i32>(slot)[lane], sizes[k], t.addressing[k]);
    } else {
      p.axis[k] = axis_at(warp.in<float>(slot)[lane], sizes[k], t.addressing[k], t.normalized, t.linear);
    }
  }
  return p;
}
Texel corner(Warp& warp, u32 lane, const Texture& t, u32 geometry, const Point& p, u32 which) {
  u32 at[3] = {0, 0, 0};
  for (u32 k = 0; k < dimensions(geometry); ++k) {
    const i32 i = which >> k & 1 ? p.axis[k].second : p.axis[k].first;
    if (i < 0) return border(t);
    at[k] = u32(i);
  }
  if (layered(geometry) || geometry == kCube) at[2] = p.layer;
  return read_texel(warp, lane, t, at[0], at[1], at[2]);
}
Texel sample(Warp& warp, u32 lane, const Texture& t, u32 geometry, const Point& p) {
  if (p.outside) return {0, 0, 0, 0};
  const u32 axes = dimensions(geometry);
  if (!t.linear) return corner(warp, lane, t, geometry, p, 0);
  float sum[4] = {};
  for (u32 which = 0; which < 1u << axes; ++which) {
    float weight = 1;
    for (u32 k = 0; k < axes; ++k) weight *= float(which >> k & 1 ? p.axis[k].weight : 256 - p.axis[k].weight) / 256.0f;
    if (weight == 0) continue;
    const Texel texel = corner(warp, lane, t, geometry, p, which);
    for (u32 k = 0; k < 4; ++k) sum[k] += weight * float_of(texel[k]);
  }
  return {bits_of(sum[0]), bits_of(sum[1]), bits_of(sum[2]), bits_of(sum[3])};
}

// tex: slots d0 … d3, the object, coordinates. Control: geometry; 8: whole-number coordinates.
void run_tex(Warp& warp, const Instruction& i) {
  const Slot* o = slots(i);
  const u32 geometry = i.control & 7;
  std::shared_ptr<const Texture> held;
  u64 handle = 0;
  Texel result[kWarpSize];
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = u32(std::countr_zero(rest));
    const Texture& t = texture_of(warp, o[4], lane, held, handle);
    result[lane] = sample(warp, lane, t, geometry, point_at(warp, lane, t, geometry, o + 5, i.control & 8));
  }
  for (u32 k = 0; k < 4; ++k) {
    if (o[k] == kNoSlot) continue;
    u32* d = warp.out<u32>(o[k]);
    for_lanes(warp.mask, [&](u32 lane) { d[lane] = result[lane][k]; });
  }
}
Bound bind_tex(const Form& form) { return {run_tex, geometry_of(form) | (form.type[1] == Type::s32 ? 8u : 0)}; }

// tld4: one channel of the four texels that bilinear filtering would use. Control: which channel.
void run_tld4(Warp& warp, const Instruction& i) {
  const Slot* o = slots(i);
  std::shared_ptr<const Texture> held;
  u64 handle = 0;
  Texel result[kWarpSize];
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = u32(std::countr_zero(rest));
    const Texture& t = texture_of(warp, o[4], lane, held, handle);
    Point p;
    p.axis[0] = axis_at(warp.in<float>(o[5])[lane], t.width, t.addressing[0], t.normalized, true);
    p.axis[1] = axis_at(warp.in<float>(o[6])[lane], t.height, t.addressing[1], t.normalized, true);
    constexpr u32 kOrder[] = {2, 3, 1, 0};  // lower left, lower right, upper right, upper left
    for (u32 k = 0; k < 4; ++k) result[lane][k] = corner(warp, lane, t, k2d, p, kOrder[k])[i.control];
  }
  for (u32 k = 0; k < 4; ++k) {
    u32* d = warp.out<u32>(o[k]);
    for_lanes(warp.mask, [&](u32 lane) { d[lane] = result[lane][k]; });
  }
}
Bound bind_tld4(const Form& form) {
  return {run_tld4, form.has("g") ? 1u : form.has("b") ? 2u : form.has("a") ? 3u : 0u};
}

// Queries
enum Query : u32 { kWidth, kHeight, kDepth, kLayers, kLevels, kNormalized };
void run_query(Warp& warp, const Instruction& i) {
  std::shared_ptr<const Texture> held;
  u64 handle = 0;
  u32* d = warp.out<u32>(i.slot[0]);
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = u32(std::countr_zero(rest));
    const Texture& t = texture_of(warp, i.slot[1], lane, held, handle);
    const u32 answers[] = {t.width, t.height, t.depth, t.depth, 1, u32{t.normalized}};
    d[lane] = answers[i.control];
  }
}
Bound bind_query(const Form& form) {
  constexpr std::pair<std::string_view, u32> kQueries[] = {{"width", kWidth},
                                                           {"height", kHeight},
                                                           {"depth", kDepth},
                                                           {"array_size", kLayers},
                                                           {"num_mipmap_levels", kLevels},
                                                           {"normalized_coords", kNormalized}};
  for (const auto& [name, query] : kQueries) {
    if (form.has(name)) return {run_query, query};
  }
  return nullptr;
}

// Surfaces: x in bytes, y, z and layers in whole numbers. Control: geometry; 3–4: what happens outside; 5–7: elements;
// 8–9: bytes of an element, as a power of two; 10–11: of a register.
enum Outside : u32 { kTrap, kClamp, kZeros };
struct Surface {
  u32 geometry, outside, elements, bytes, register_bytes;
};
Surface surface(u32 control) {
  return {control & 7, control >> 3 & 3, control >> 5 & 7, 1u << (control >> 8 & 3), 1u << (control >> 10 & 3)};
}
// Where a lane's access begins; 0: outside, and to be ignored.
u64 surface_address(const Warp& warp, u32 lane, const Texture& t, const Surface& s, const Slot* c) {
  u32 used = layered(s.geometry) ? 1 : 0;
  i64 at[3] = {0, 0, 0};
  for (u32 k = 0; k < dimensions(s.geometry); ++k) at[k] = warp.in<i32>(c[used + k])[lane];
  if (used) at[2] = warp.in<i32>(c[0])[lane];
  const u32 size = s.elements * s.bytes;
  const i64 most[] = {i64{t.width} * t.texel_bytes() - size, i64{t.height} - 1, i64{t.depth} - 1};
  bool outside = false;
  for (u32 k = 0; k < 3; ++k) {
    outside |= at[k] < 0 || at[k] > most[k];
    at[k] = std::clamp<i64>(at[k], 0, std::max<i64>(most[k], 0));
  }
  if (outside && s.outside == kTrap) {
    Fault fault;
    fault.kind = FaultKind::trap;
    fault.what = "access outside of a surface";
    fault.lane = lane;
    throw fault;
  }
  if (outside && s.outside == kZeros) return 0;
  return t.address + u64(at[2]) * t.slice + u64(at[1]) * t.pitch + u64(at[0]);
}
template <bool kStore>
void run_surface(Warp& warp, const Instruction& i) {
  const Surface s = surface(i.control);
  const Slot* o = slots(i);
  const Slot object = kStore ? o[0] : o[s.elements];
  const Slot* at = kStore ? o + 1 : o + s.elements + 1;
  const Slot* data = kStore ? at + coordinates(s.geometry) : o;
  std::shared_ptr<const Texture> held;
  u64 handle = 0;
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = u32(std::countr_zero(rest));
    const Texture& t = texture_of(warp, object, lane, held, handle);
    const u64 address = surface_address(warp, lane, t, s, at);
    if (kStore && address == 0) continue;
    std::byte* memory = address == 0 ? nullptr
                                     : access(warp, lane, Space::global, address, s.elements * s.bytes, s.bytes,
                                              kStore ? Access::write : Access::read, nullptr);
    for (u32 k = 0; k < s.elements; ++k) {
      if (kStore) {
        std::memcpy(memory + k * s.bytes, warp.in<std::byte>(data[k]) + lane * s.register_bytes, s.bytes);
      } else {
        std::byte* in_register = warp.out<std::byte>(data[k]) + lane * s.register_bytes;
        std::memset(in_register, 0, s.register_bytes);
        if (memory) std::memcpy(in_register, memory + k * s.bytes, s.bytes);
      }
    }
  }
}
template <bool kStore>
Bound bind_surface(const Form& form) {
  const u32 outside = form.has("trap") ? u32{kTrap} : form.has("clamp") ? u32{kClamp} : u32{kZeros};
  const u32 size = bytes(form.type[0]), wide = std::max<u32>(form.width[kStore ? 2 : 0], size);
  return {run_surface<kStore>, geometry_of(form) | outside << 3 | form.vector << 5 | u32(std::countr_zero(size)) << 8 |
                                   u32(std::countr_zero(wide)) << 10};
}

#define TEX(geometry, coordinates)                                                             \
  {"tex." geometry ".v4.f32|s32|u32.f32|s32", "={t0}4 [m] " coordinates, bind_tex}, {          \
    "tex.level." geometry ".v4.f32|s32|u32.f32|s32", "={t0}4 [m] " coordinates " t1", bind_tex \
  }
#define CUBE(geometry)                                                             \
  {"tex." geometry ".v4.f32|s32|u32.f32", "={t0}4 [m] {b32}4", bind_tex}, {        \
    "tex.level." geometry ".v4.f32|s32|u32.f32", "={t0}4 [m] {b32}4 f32", bind_tex \
  }
#define GRAD(geometry, coordinates, gradients) \
  { "tex.grad." geometry ".v4.f32|s32|u32.f32", "={t0}4 [m] " coordinates " " gradients " " gradients, bind_tex }
#define SURFACE(geometry, coordinates)                                                                                \
  {"suld.b." geometry "{.ca|cg|cs|cv}{.v2|v4}.b8|b16|b32.trap|clamp|zero", "={t0~}v [m] " coordinates,                \
   bind_surface<false>},                                                                                              \
      {"suld.b." geometry "{.ca|cg|cs|cv}{.v2}.b64.trap|clamp|zero", "={t0}v [m] " coordinates, bind_surface<false>}, \
      {"sust.b." geometry "{.wb|cg|cs|wt}{.v2|v4}.b8|b16|b32.trap|clamp|zero", "[m] " coordinates " {t0~}v",          \
       bind_surface<true>},                                                                                           \
  {                                                                                                                   \
    "sust.b." geometry "{.wb|cg|cs|wt}{.v2}.b64.trap|clamp|zero", "[m] " coordinates " {t0}v", bind_surface<true>     \
  }

constexpr Row kRows[] = {
    TEX("1d", "{t1}1"),
    TEX("2d", "{t1}2"),
    TEX("3d", "{t1}4"),
    TEX("a1d", "{b32}2"),
    TEX("a2d", "{b32}4"),
    CUBE("cube"),
    CUBE("acube"),
    GRAD("1d", "{t1}1", "{f32}1"),
    GRAD("2d", "{t1}2", "{f32}2"),
    GRAD("3d", "{t1}4", "{f32}4"),
    GRAD("a1d", "{b32}2", "{f32}1"),
    GRAD("a2d", "{b32}4", "{f32}2"),
    {"tld4.r|g|b|a.2d.v4.f32|s32|u32.f32", "={t0}4 [m] {t1}2", bind_tld4},
    {"txq.width|height|depth|array_size|num_mipmap_levels|normalized_coords.b32", "=b32 [m]", bind_query},
    {"suq.width|height|depth|array_size.b32", "=b32 [m]", bind_query},
    SURFACE("1d", "{s32}1"),
    SURFACE("2d", "{s32}2"),
    SURFACE("3d", "{s32}4"),
    SURFACE("a1d", "{b32}2"),
    SURFACE("a2d", "{b32}4"),
};

}  // namespace

std::span<const Row> texture_rows() { return kRows; }

}  // namespace cudasim
