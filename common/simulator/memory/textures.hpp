// Texture and surface objects, as instructions see them: where the texels are, what they are, and how coordinates mean
// them. The API makes them; their handles are what kernels get.
#pragma once
#include "common/simulator/types.hpp"

#include <memory>

namespace cudasim {

enum class Addressing : u8 { wrap, clamp, mirror, border };

struct Texture {
  u64 address = 0;                       // of the first texel, in device memory
  u64 pitch = 0, slice = 0;              // bytes from row to row, from slice (layer, face) to slice
  u32 width = 1, height = 1, depth = 1;  // texels; depth: layers and faces too
  u32 channels = 1;
  Type channel = Type::f32;    // u8 … u32, s8 … s32, f16, f32
  bool linear_memory = false;  // a plain array: no filter, outside of it is zero
  // Textures only.
  Addressing addressing[3] = {Addressing::clamp, Addressing::clamp, Addressing::clamp};
  bool linear = false;       // filtering
  bool normalized = false;   // coordinates go from 0 to 1
  bool as_integers = false;  // integer texels stay what they are; else they become 0 … 1 or -1 … 1
  float border[4] = {};

  u32 texel_bytes() const { return channels * bytes(channel); }
};

// Live objects, by handle. Thread-safe.
void enter_texture(u64 handle, std::shared_ptr<const Texture> texture);
bool remove_texture(u64 handle);
std::shared_ptr<const Texture> find_texture(u64 handle);  // null if there is none

}  // namespace cudasim
