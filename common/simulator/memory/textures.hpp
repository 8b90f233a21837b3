// Texture and surface objects, as instructions see them: where the texels are, what they are, and how coordinates mean
// them. The API makes them; their handles are what kernels get.
#pragma once
#include "common/simulator/types.hpp"

#include <memory>
#include <vector>

namespace cudasim {

enum class Addressing : u8 { wrap, clamp, mirror, border };

// How coordinates choose among the texels, and what lies between them.
struct Sampler {
  Addressing addressing[3] = {Addressing::clamp, Addressing::clamp, Addressing::clamp};
  bool linear = false;         // filtering within a level …
  bool linear_levels = false;  // … and between two
  bool normalized = false;     // coordinates go from 0 to 1
  bool seamless = false;       // a cube's filter takes texels of the faces beside it
  float border[4] = {};
  float level_bias = 0, least_level = 0, most_level = 0;
  u32 anisotropy = 1;  // at most so many samples along the longer side of a footprint
};

// One level of a mipmapped texture; others have one.
struct TextureLevel {
  u64 address = 0;                       // of the first texel, in device memory
  u64 pitch = 0, slice = 0;              // bytes from row to row, from slice (layer, face) to slice
  u32 width = 1, height = 1, depth = 1;  // texels; depth: layers and faces too
};

struct Texture {
  std::vector<TextureLevel> levels{1};
  u32 channels = 1;
  Type channel = Type::f32;    // u8 … u32, s8 … s32, f16, f32
  bool linear_memory = false;  // a plain array: no filter, outside of it is zero
  // Textures only.
  bool as_integers = false;  // integer texels stay what they are; else they become 0 … 1 or -1 … 1
  bool srgb = false;         // red, green and blue are stored as sRGB's curve has them
  Sampler sampler;

  u32 texel_bytes() const { return channels * bytes(channel); }
  const TextureLevel& base() const { return levels.front(); }
};

// A .samplerref variable's state, as its initialiser writes it into the variable: see ptx/parse.cpp.
struct SamplerState {
  u8 addressing[3] = {};  // Addressing
  u8 linear = 0, unnormalized = 0, unused[3] = {};
};
static_assert(sizeof(SamplerState) == 8);

// Live objects, by handle. Thread-safe.
void enter_texture(u64 handle, std::shared_ptr<const Texture> texture);
bool remove_texture(u64 handle);
std::shared_ptr<const Texture> find_texture(u64 handle);  // or null

}  // namespace cudasim
