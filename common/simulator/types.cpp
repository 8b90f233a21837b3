// PTX's types and state spaces by name and by size.
#include "common/simulator/types.hpp"

#include <array>
#include <iterator>

namespace cudasim {
namespace {

enum Class : u8 { kBits, kUnsigned, kSigned, kFloat, kOpaque };

struct TypeInfo {
  Type type;
  std::string_view name;
  u32 bits;
  Class kind;
};

// In the order of Type, so that a type is its own index.
constexpr TypeInfo kTypes[] = {
    {Type::none, "", 0, kOpaque},
    {Type::pred, "pred", 0, kOpaque},
    {Type::b8, "b8", 8, kBits},
    {Type::b16, "b16", 16, kBits},
    {Type::b32, "b32", 32, kBits},
    {Type::b64, "b64", 64, kBits},
    {Type::b128, "b128", 128, kBits},
    {Type::u8, "u8", 8, kUnsigned},
    {Type::u16, "u16", 16, kUnsigned},
    {Type::u32, "u32", 32, kUnsigned},
    {Type::u64, "u64", 64, kUnsigned},
    {Type::s8, "s8", 8, kSigned},
    {Type::s16, "s16", 16, kSigned},
    {Type::s32, "s32", 32, kSigned},
    {Type::s64, "s64", 64, kSigned},
    {Type::f16, "f16", 16, kFloat},
    {Type::bf16, "bf16", 16, kFloat},
    {Type::f32, "f32", 32, kFloat},
    {Type::f64, "f64", 64, kFloat},
    {Type::tf32, "tf32", 32, kFloat},
    {Type::f16x2, "f16x2", 32, kFloat},
    {Type::bf16x2, "bf16x2", 32, kFloat},
    {Type::u16x2, "u16x2", 32, kUnsigned},
    {Type::s16x2, "s16x2", 32, kSigned},
    {Type::u8x4, "u8x4", 32, kUnsigned},
    {Type::s8x4, "s8x4", 32, kSigned},
    {Type::f32x2, "f32x2", 64, kFloat},
    {Type::e4m3, "e4m3", 8, kFloat},
    {Type::e5m2, "e5m2", 8, kFloat},
    {Type::e4m3x2, "e4m3x2", 16, kFloat},
    {Type::e5m2x2, "e5m2x2", 16, kFloat},
    {Type::e2m3, "e2m3", 6, kFloat},
    {Type::e3m2, "e3m2", 6, kFloat},
    {Type::e2m1, "e2m1", 4, kFloat},
    {Type::ue8m0, "ue8m0", 8, kFloat},
    {Type::e2m3x2, "e2m3x2", 16, kFloat},
    {Type::e3m2x2, "e3m2x2", 16, kFloat},
    {Type::e2m1x2, "e2m1x2", 8, kFloat},
    {Type::ue8m0x2, "ue8m0x2", 16, kFloat},
    {Type::b1, "b1", 1, kBits},
    {Type::u4, "u4", 4, kUnsigned},
    {Type::s4, "s4", 4, kSigned},
    {Type::u2, "u2", 2, kUnsigned},
    {Type::s2, "s2", 2, kSigned},
    {Type::texref, "texref", 0, kOpaque},
    {Type::samplerref, "samplerref", 0, kOpaque},
    {Type::surfref, "surfref", 0, kOpaque},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  }
  return static_cast<std::size_t>(Type::surfref) + 1 == std::size(kTypes);
}
static_assert(in_order(), "a row of kTypes is missing or out of place");

const TypeInfo& info(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

u32 bits(Type type) { return info(type).bits; }
bool is_signed(Type type) { return info(type).kind == kSigned; }
bool is_unsigned(Type type) { return info(type).kind == kUnsigned; }
bool is_float(Type type) { return info(type).kind == kFloat; }
const char* name(Type type) { return info(type).name.data(); }

Type type_named(std::string_view name) {
  if (name.empty()) return Type::none;
  for (const TypeInfo& each : kTypes) {
    if (name == each.name) return each.type;
  }
  return Type::none;
}

const char* name(Space space) {
  switch (space) {
    case Space::generic: return "generic";
    case Space::reg: return "reg";
    case Space::sreg: return "sreg";
    case Space::constant: return "const";
    case Space::global: return "global";
    case Space::local: return "local";
    case Space::param: return "param";
    case Space::shared: return "shared";
    case Space::shared_cluster: return "shared::cluster";
    case Space::tex: return "tex";
  }
  return "";
}

}  // namespace cudasim
