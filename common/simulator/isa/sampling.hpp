// How coordinates become texels: what texture instructions and surface instructions share, and what only the former
// need. CUDA programming guide, "Texture Fetching".
#pragma once
#include "common/simulator/exec/access.hpp"
#include "common/simulator/isa/row.hpp"
#include "common/simulator/memory/textures.hpp"

#include <array>

namespace cudasim {

enum Geometry : u32 { k1d, k2d, k3d, kLayered1d, kLayered2d, kCube, kLayeredCube };

Geometry geometry_of(const Form& form);
inline u32 dimensions(u32 geometry) { return geometry == k1d || geometry == kLayered1d ? 1 : geometry == k3d ? 3 : 2; }
inline bool layered(u32 geometry) {
  return geometry == kLayered1d || geometry == kLayered2d || geometry == kLayeredCube;
}
inline bool is_cube(u32 geometry) { return geometry == kCube || geometry == kLayeredCube; }
// How many coordinate registers a row's operand has.
inline u32 coordinates(u32 geometry) {
  constexpr u32 kCount[] = {1, 2, 4, 2, 4, 4, 4};
  return kCount[geometry];
}

inline const Slot* slots(const Instruction& i) { return i.wide ? i.wide : i.slot; }

// The object that a lane's memory operand names: a handle in a register, or a .texref or .surfref variable. Remembers
// the last one.
class TextureOperand {
 public:
  TextureOperand(const Warp& warp, const Instruction& i, Slot slot) : warp_(warp), i_(i), slot_(slot) {}
  const Texture& of(u32 lane);

 private:
  const Warp& warp_;
  const Instruction& i_;
  const Slot slot_;
  std::shared_ptr<const Texture> held_;
  u64 handle_ = 0;
};

using Texel = std::array<u32, 4>;  // results as registers get them

// What one lane asks for.
struct Sample {
  float at[3] = {};  // coordinates, or a direction
  i32 texel[3] = {};
  bool whole = false;  // `texel` counts, not `at`
  u32 layer = 0;
  i32 offset[3] = {};  // texels to add
  enum Level : u8 { base, given, gradients } level = base;
  float lod = 0;
  float dx[3] = {}, dy[3] = {};
};

// Reads the texels that the sample needs, and filters.
Texel sample(Warp& warp, u32 lane, const Texture& texture, const Sampler& sampler, u32 geometry, const Sample& at);
// One channel of the four texels that bilinear filtering would use, counter-clockwise from the lower left.
Texel gather(Warp& warp, u32 lane, const Texture& texture, const Sampler& sampler, u32 geometry, const Sample& at,
             u32 channel);

bool gives_floats(const Texture& texture);
// What txq and suq return: OpenCL's numbers for formats.
u32 channel_data_type(const Texture& texture);
u32 channel_order(const Texture& texture);

}  // namespace cudasim
