// How coordinates become texels.
//
// Filtering works in the guide's fixed point, eight bits of fraction, between levels, too. Across the edges of a cube's
// faces nothing is filtered. How a footprint with two different sides is sampled the manuals leave open: here it is
// much as OpenGL's EXT_texture_filter_anisotropic proposes, N samples along the longer side, N the sides' ratio. The
// level that gradients choose is the exact one, from which an H200 strays by up to an eighth: it estimates lengths and
// logarithms.
#include "common/simulator/isa/sampling.hpp"

#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/floats.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cudasim {
namespace {

constexpr std::pair<std::string_view, Geometry> kGeometries[] = {{"1d", k1d},
                                                                 {"2d", k2d},
                                                                 {"3d", k3d},
                                                                 {"a1d", kLayered1d},
                                                                 {"a2d", kLayered2d},
                                                                 {"cube", kCube},
                                                                 {"acube", kLayeredCube}};

// sRGB's curve, from what is stored to light: the upper halves of the floats that an H200 has for it, which are within
// eight bits of the curve.
constexpr u16 kLight[256] = {
#include "common/simulator/isa/srgb.inc"
};

// One channel's bits, as the register gets them.
u32 channel_value(const Texture& t, u32 raw, u32 which) {
  const bool keep = t.as_integers;
  switch (t.channel) {
    case Type::u8:
      if (t.srgb && which < 3) return u32{kLight[raw]} << 16;
      return keep ? raw : bits_of(float(raw) / 255.0f);
    case Type::u16: return keep ? raw : bits_of(float(raw) / 65535.0f);
    case Type::s8: return keep ? u32(i32(i8(raw))) : bits_of(std::max(float(i8(raw)) / 127.0f, -1.0f));
    case Type::s16: return keep ? u32(i32(i16(raw))) : bits_of(std::max(float(i16(raw)) / 32767.0f, -1.0f));
    case Type::f16: return bits_of(from_f16(u16(raw)));
    default: return raw;
  }
}

// Absent channels read as 0, 0, 1.
Texel read_texel(Warp& warp, u32 lane, const Texture& t, const TextureLevel& level, u32 x, u32 y, u32 z) {
  const u32 size = bytes(t.channel);
  const u64 address = level.address + z * level.slice + y * level.pitch + u64{x} * t.texel_bytes();
  const std::byte* at = access(warp, lane, Space::global, address, t.texel_bytes(), Access::read);
  Texel texel = {0, 0, 0, gives_floats(t) ? bits_of(1.0f) : 1u};
  for (u32 k = 0; k < t.channels; ++k) {
    const u32 raw = u32(raw_element(at + k * size, size));
    texel[k] = channel_value(t, raw, k);
  }
  return texel;
}
// A border's colour is kept as a texel would be: 0.5 is 127 of 255 on an H200.
float as_byte(float value) { return std::ceil(std::clamp(value, 0.0f, 1.0f) * 255.0f - 0.5f) / 255.0f; }

Texel border(const Texture& t, const Sampler& s) {
  Texel texel;
  for (u32 k = 0; k < 4; ++k) {
    const float value = t.channel == Type::u8 ? as_byte(s.border[k]) : s.border[k];
    texel[k] = gives_floats(t) ? bits_of(value) : u32(i64(s.border[k]));
  }
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
Axis axis_at(float coordinate, u32 size, Addressing mode, bool normalized, bool linear, i32 offset) {
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
    const i32 i = index_at(i32(std::floor(x)) + offset, n, mode);
    return {i, i, 0};
  }
  const i64 fixed = i64(std::floor((double(x) - 0.5) * 256.0 + 0.5));
  const i32 i = i32(fixed >> 8) + offset;
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

// The face of a cube that a direction meets; the guide's table of cubemaps. `c`: the two coordinates on the face, and
// the distance that divides them, of the direction or of its derivative.
u32 face_of(const float* v) {
  const float ax = std::fabs(v[0]), ay = std::fabs(v[1]), az = std::fabs(v[2]);
  if (az >= ax && az >= ay) return v[2] >= 0 ? 4 : 5;  // on an edge, as an H200 chooses
  if (ay >= ax) return v[1] >= 0 ? 2 : 3;
  return v[0] >= 0 ? 0 : 1;
}
void on_face(u32 face, const float* v, float c[3]) {
  const float x = v[0], y = v[1], z = v[2];
  const float table[6][3] = {{-z, -y, x}, {z, -y, -x}, {x, z, y}, {x, -z, -y}, {x, -y, z}, {-x, -y, -z}};
  std::copy_n(table[face], 3, c);
}

// Where the sample is, in normalised coordinates of the face if it is a cube's.
Sample flattened(const Sample& s, u32& face) {
  Sample flat = s;
  float c[3], d[3];
  face = face_of(s.at);
  on_face(face, s.at, c);
  for (u32 k = 0; k < 2; ++k) flat.at[k] = (c[k] / c[2] + 1) / 2;
  for (const auto& [from, to] : {std::pair(s.dx, flat.dx), std::pair(s.dy, flat.dy)}) {
    on_face(face, from, d);
    for (u32 k = 0; k < 2; ++k) to[k] = (d[k] - c[k] / c[2] * d[2]) / c[2] / 2;
  }
  return flat;
}

Point point_at(const Texture& t, const Sampler& s, const TextureLevel& level, u32 geometry, const Sample& at,
               bool linear) {
  Point p;
  const u32 layers = std::max(geometry == kLayeredCube ? level.depth / 6 : level.depth, 1u);
  if (layered(geometry)) p.layer = std::min(at.layer, layers - 1);
  if (is_cube(geometry)) {
    u32 face = 0;
    const Sample flat = flattened(at, face);
    p.layer = p.layer * 6 + face;
    p.axis[0] = axis_at(flat.at[0], level.width, Addressing::clamp, true, linear, 0);
    p.axis[1] = axis_at(flat.at[1], level.height, Addressing::clamp, true, linear, 0);
    return p;
  }
  const u32 sizes[] = {level.width, level.height, level.depth};
  for (u32 k = 0; k < dimensions(geometry); ++k) {
    if (t.linear_memory) {
      const i64 i =
          (at.whole ? i64{at.texel[k]} : i64(std::floor(std::clamp(at.at[k], -0x1p30f, 0x1p30f)))) + at.offset[k];
      p.outside = i < 0 || i >= sizes[k];
      p.axis[k].first = p.axis[k].second = p.outside ? 0 : i32(i);
    } else if (at.whole) {
      p.axis[k] = axis_at(i32(u32(at.texel[k]) + u32(at.offset[k])), sizes[k], s.addressing[k]);
    } else {
      p.axis[k] = axis_at(at.at[k], sizes[k], s.addressing[k], s.normalized, linear, at.offset[k]);
    }
  }
  return p;
}

Texel corner(Warp& warp, u32 lane, const Texture& t, const Sampler& s, const TextureLevel& level, u32 geometry,
             const Point& p, u32 which) {
  u32 at[3] = {0, 0, 0};
  for (u32 k = 0; k < dimensions(geometry); ++k) {
    const i32 i = which >> k & 1 ? p.axis[k].second : p.axis[k].first;
    if (i < 0) return border(t, s);
    at[k] = u32(i);
  }
  if (layered(geometry) || geometry == kCube) at[2] = p.layer;
  return read_texel(warp, lane, t, level, at[0], at[1], at[2]);
}

// The weights of a cell's corners, in 256ths; their sum is 256. An H200 has eight bits of each weight, not of each
// factor: it divides between the two sides in z, then in x, then in y, and rounds each time, a half up at the corners
// that are at the lower or the upper end in both x and y. (The sum of the weighted texels is exact, then rounded once.)
void weigh(const Point& p, u32 axes, u32* weight) {
  const u32 x = p.axis[0].weight, y = axes > 1 ? p.axis[1].weight : 0, z = axes > 2 ? p.axis[2].weight : 0;
  for (const u32 side : {256 - z, z}) {
    const u32 right = (x * side + 128) >> 8, left = side - right;
    const u32 upper_right = (right * y + 128) >> 8, lower_left = (left * (256 - y) + 128) >> 8;
    const u32 corners[] = {lower_left, right - upper_right, left - lower_left, upper_right};
    std::copy_n(corners, axes > 1 ? 4 : 2, weight);
    if (axes < 3) return;
    weight += 4;
  }
}

// The texel beyond the edge of a cube's face: on the adjacent face, as if both were unfolded. Beyond two edges there is
// no texel: -1.
struct FaceTexel {
  i32 face, x, y;
};
FaceTexel beyond(u32 face, i32 x, i32 y, i32 n) {
  const bool out_x = x < 0 || x >= n, out_y = y < 0 || y >= n;
  if (!out_x && !out_y) return {i32(face), x, y};
  if (out_x && out_y) return {-1, 0, 0};
  // Its middle's direction, in whole numbers; the edge is n from the cube's middle, and one step further in lies the
  // other face's row.
  const i32 u = std::clamp(2 * x + 1 - n, -n, n), v = std::clamp(2 * y + 1 - n, -n, n), m = n - 1;
  const float directions[6][3] = {{float(m), float(-v), float(-u)}, {float(-m), float(-v), float(u)},
                                  {float(u), float(m), float(v)},   {float(u), float(-m), float(-v)},
                                  {float(u), float(-v), float(m)},  {float(-u), float(-v), float(-m)}};
  const u32 other = face_of(directions[face]);
  float c[3];
  on_face(other, directions[face], c);
  return {i32(other), (i32(c[0]) + n - 1) / 2, (i32(c[1]) + n - 1) / 2};
}

// The cell of four texels around a point on a cube's face, across its edges, and their weights in 256ths. At a corner
// of the cube three faces meet: the weight of the fourth texel is divided among the others, and its diagonal neighbour
// takes what a third, rounded, leaves (as on an H200: 864 samples).
void across_edges(u32 face, const Sample& flat, const TextureLevel& level, FaceTexel* cell, u32* weight) {
  const i32 n = i32(level.width);
  Point p;
  i32 first[2];
  for (u32 k = 0; k < 2; ++k) {
    const float x = flat.at[k] != flat.at[k] ? 0.0f : std::clamp(flat.at[k], 0.0f, 1.0f) * float(n);
    const i64 fixed = i64(std::floor((double(x) - 0.5) * 256.0 + 0.5));
    first[k] = i32(fixed >> 8);
    p.axis[k].weight = u32(fixed & 255);
  }
  weigh(p, 2, weight);
  for (u32 k = 0; k < 4; ++k) cell[k] = beyond(face, first[0] + i32(k & 1), first[1] + i32(k >> 1), n);
  for (u32 k = 0; k < 4; ++k) {
    if (cell[k].face >= 0) continue;
    const u32 third = (weight[k] + 1) / 3;
    weight[k ^ 1] += third;
    weight[k ^ 2] += third;
    weight[k ^ 3] += weight[k] - 2 * third;
    weight[k] = 0;
  }
}

// What a filter computes with, as on an H200: unsigned whole numbers of 16 bits where texels are such of 8 or 16;
// halves and light as halves, of which a half is rounded away from zero; else floats.
enum class Unit { whole, half, real };
Unit unit_of(const Texture& t, u32 channel) {
  if (t.channel == Type::f16 || (t.srgb && channel < 3)) return Unit::half;
  return t.channel == Type::u8 || t.channel == Type::u16 ? Unit::whole : Unit::real;
}
double in_units(const Texture& t, u32 channel, double value) {
  return unit_of(t, channel) == Unit::whole ? std::floor(value * 65535 + 0.5) : value;
}
float from_units(const Texture& t, u32 channel, double sum) {
  const Unit unit = unit_of(t, channel);
  if (unit == Unit::whole) return float(std::floor(sum + 0.5)) / 65535.0f;
  if (unit == Unit::real || sum == 0 || !std::isfinite(sum)) return float(sum);
  const int last_bit = std::max(std::ilogb(sum), -14) - 10;
  const double bits = std::floor(std::ldexp(std::fabs(sum), -last_bit) + 0.5);
  return float(std::copysign(std::ldexp(bits, last_bit), sum));
}

// Texels that stay whole numbers are filtered, too: on an H200 the sum is rounded to the nearest where they have 8 or
// 16 bits, a half up, and down where they have 32.
double whole_of(const Texture& t, u32 bits) { return is_signed(t.channel) ? double(i32(bits)) : double(bits); }
u32 whole_from(const Texture& t, double sum) { return u32(i64(std::floor(bits(t.channel) < 32 ? sum + 0.5 : sum))); }

Texel in_level(Warp& warp, u32 lane, const Texture& t, const Sampler& s, const TextureLevel& level, u32 geometry,
               const Sample& at) {
  const bool linear = s.linear && !t.linear_memory, floats = gives_floats(t);
  const Point p = point_at(t, s, level, geometry, at, linear);
  if (p.outside) return {0, 0, 0, 0};
  if (!linear) return corner(warp, lane, t, s, level, geometry, p, 0);
  const u32 axes = dimensions(geometry);
  const bool seamless = s.seamless && is_cube(geometry);
  u32 weight[8] = {};
  FaceTexel cell[4];
  if (seamless) {
    u32 face = 0;
    const Sample flat = flattened(at, face);
    across_edges(face, flat, level, cell, weight);
  } else {
    weigh(p, axes, weight);
  }
  double sum[4] = {};
  // An H200 filters a line as the only row of an image, at y = 0: between that row and the one before it, which is a
  // border if that is how y goes on.
  if (axes == 1 && !layered(geometry) && s.addressing[1] == Addressing::border) {
    const Texel edge = border(t, s);
    Point image = p;
    image.axis[1].weight = 128;
    u32 corners[4];
    weigh(image, 2, corners);
    std::copy_n(corners + 2, 2, weight);
    for (u32 k = 0; k < 4; ++k) {
      sum[k] =
          (256 - weight[0] - weight[1]) * (floats ? in_units(t, k, double(float_of(edge[k]))) : whole_of(t, edge[k]));
    }
  }
  for (u32 which = 0; which < 1u << axes; ++which) {
    if (weight[which] == 0) continue;
    const Texel texel = seamless ? read_texel(warp, lane, t, level, u32(cell[which].x), u32(cell[which].y),
                                              p.layer / 6 * 6 + u32(cell[which].face))
                                 : corner(warp, lane, t, s, level, geometry, p, which);
    for (u32 k = 0; k < 4; ++k) {
      sum[k] += weight[which] * (floats ? in_units(t, k, double(float_of(texel[k]))) : whole_of(t, texel[k]));
    }
  }
  Texel result;
  for (u32 k = 0; k < 4; ++k) {
    result[k] = floats ? bits_of(from_units(t, k, sum[k] / 256)) : whole_from(t, sum[k] / 256);
  }
  return result;
}

// The level's number, in 256ths, within the sampler's bounds and the texture's levels. The bias is added to what a
// program asks for, not to the level of a plain tex.
u32 level_at(const Texture& t, const Sampler& s, i32 asked, bool biased) {
  const auto fixed = [](float x) { return i32(std::clamp(x, -1000.0f, 1000.0f) * 256); };
  i32 level = asked + (biased ? fixed(s.level_bias) : 0);
  level = std::max(std::min(level, fixed(s.most_level)), fixed(s.least_level));
  level = std::clamp(level, 0, i32(t.levels.size() - 1) * 256);
  return u32(s.linear_levels ? level : (level + 128) / 256 * 256);
}

Texel between_levels(Warp& warp, u32 lane, const Texture& t, const Sampler& s, u32 geometry, const Sample& at,
                     i32 lod) {
  if (t.levels.size() == 1) return in_level(warp, lane, t, s, t.base(), geometry, at);
  const u32 level = level_at(t, s, lod, at.level != Sample::base);
  const Texel near = in_level(warp, lane, t, s, t.levels[level >> 8], geometry, at);
  if ((level & 255) == 0 || !gives_floats(t)) return near;
  const Texel far = in_level(warp, lane, t, s, t.levels[(level >> 8) + 1], geometry, at);
  const float weight = float(level & 255) / 256.0f;
  Texel mixed;
  for (u32 k = 0; k < 4; ++k) mixed[k] = bits_of((1 - weight) * float_of(near[k]) + weight * float_of(far[k]));
  return mixed;
}

// The longer and the shorter axis of the ellipse that two gradients span, in texels of the first level: the singular
// values of the matrix of both.
std::pair<double, double> axes_of(const Texture& t, const Sampler& s, u32 geometry, const Sample& at) {
  const u32 sizes[] = {t.base().width, t.base().height, t.base().depth};
  double xx = 0, yy = 0, xy = 0;
  for (u32 k = 0; k < dimensions(geometry); ++k) {
    const double scale = s.normalized || is_cube(geometry) ? sizes[k] : 1, x = at.dx[k] * scale, y = at.dy[k] * scale;
    xx += x * x, yy += y * y, xy += x * y;
  }
  const double middle = (xx + yy) / 2, off = std::sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
  return {std::sqrt(middle + off), std::sqrt(std::max(middle - off, 0.0))};
}

// In 256ths.
i32 level_of(double texels) { return texels > 0 ? i32(std::floor(std::log2(texels) * 256 + 0.5)) : -256000; }

Texel by_gradients(Warp& warp, u32 lane, const Texture& t, const Sampler& s, u32 geometry, const Sample& at) {
  u32 face = 0;
  const Sample flat = is_cube(geometry) ? flattened(at, face) : at;
  const auto [longer, shorter] = axes_of(t, s, geometry, flat);
  const bool even = s.anisotropy == 1 || geometry == k1d || geometry == kLayered1d || geometry == k3d || at.whole ||
                    is_cube(geometry) || longer <= shorter || longer <= 1;
  if (even) return between_levels(warp, lane, t, s, geometry, at, level_of(longer));
  // The level of the shorter side, or as near to it as the samples reach that may be taken along the longer one.
  const double narrow = std::max({shorter, longer / s.anisotropy, 1.0});
  const u32 samples = std::min(u32(std::ceil(longer / narrow)), s.anisotropy);
  const i32 lod = level_of(narrow);
  const auto steps = [&](const float* d) { return std::hypot(d[0] * t.base().width, d[1] * t.base().height); };
  const float* along = steps(flat.dx) >= steps(flat.dy) ? flat.dx : flat.dy;
  const double apart = std::min(narrow, double(1u << (t.levels.size() - 1))) / steps(along);
  float sum[4] = {};
  for (u32 n = 0; n < samples; ++n) {
    Sample one = at;
    const double from_middle = (n - (samples - 1) / 2.0) * apart;
    for (u32 k = 0; k < 2; ++k) one.at[k] += float(along[k] * from_middle);
    const Texel texel = between_levels(warp, lane, t, s, geometry, one, lod);
    if (!gives_floats(t)) return texel;
    for (u32 k = 0; k < 4; ++k) sum[k] += float_of(texel[k]) / float(samples);
  }
  return {bits_of(sum[0]), bits_of(sum[1]), bits_of(sum[2]), bits_of(sum[3])};
}

}  // namespace

Geometry geometry_of(const Form& form) {
  for (const auto& [name, geometry] : kGeometries) {
    if (form.has(name)) return geometry;
  }
  return k1d;
}

const Texture& TextureOperand::of(u32 lane) {
  const u64 handle = address_of(warp_, i_, slot_, false, lane);
  if (!held_ || handle != handle_) held_ = find_texture(handle), handle_ = handle;
  if (held_) return *held_;
  Fault fault;
  fault.kind = FaultKind::illegal_address;
  fault.what = "use of a texture or surface that does not exist";
  fault.address = handle;
  fault.lane = lane;
  throw fault;
}

bool gives_floats(const Texture& t) { return is_float(t.channel) || (!t.as_integers && bits(t.channel) < 32); }

Texel sample(Warp& warp, u32 lane, const Texture& t, const Sampler& s, u32 geometry, const Sample& at) {
  if (at.level == Sample::gradients) return by_gradients(warp, lane, t, s, geometry, at);
  const float lod = at.level != Sample::given || at.lod != at.lod ? 0.0f : std::clamp(at.lod, -1000.0f, 1000.0f);
  return between_levels(warp, lane, t, s, geometry, at, i32(lod * 256));
}

Texel gather(Warp& warp, u32 lane, const Texture& t, const Sampler& s, u32 geometry, const Sample& at, u32 channel) {
  if (s.seamless && is_cube(geometry)) {
    throw Fault{.kind = FaultKind::illegal_instruction,
                .what = "tld4 of a seamless cube map, which is not simulated",
                .lane = lane};
  }
  const Point p = point_at(t, s, t.base(), geometry, at, true);
  constexpr u32 kOrder[] = {2, 3, 1, 0};  // lower left, lower right, upper right, upper left
  Texel result;
  for (u32 k = 0; k < 4; ++k) result[k] = corner(warp, lane, t, s, t.base(), geometry, p, kOrder[k])[channel];
  return result;
}

u32 channel_data_type(const Texture& t) {
  switch (t.channel) {
    case Type::u8: return t.as_integers ? 0x10da : 0x10d2;
    case Type::u16: return t.as_integers ? 0x10db : 0x10d3;
    case Type::s8: return t.as_integers ? 0x10d7 : 0x10d0;
    case Type::s16: return t.as_integers ? 0x10d8 : 0x10d1;
    case Type::s32: return 0x10d9;
    case Type::u32: return 0x10dc;
    case Type::f16: return 0x10dd;
    default: return 0x10de;
  }
}
u32 channel_order(const Texture& t) { return t.channels == 1 ? 0x10b0 : t.channels == 2 ? 0x10b2 : 0x10b5; }

}  // namespace cudasim
