// Surface instructions. PTX ISA, "Surface Instructions": .b forms address bytes and move them as they are, .p forms
// address texels and convert.
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/lanes.hpp"
#include "common/simulator/isa/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace cudasim {
namespace {

// Instruction::control: geometry; 3–4: what happens outside; 5–7: elements; 8–9: bytes of an element, as a power of
// two; 10–11: of a register; 12–14: a reduction's operation, 15: on signed numbers, 16: .p.
enum Outside : u32 { kTrap, kClamp, kZeros };
enum Reduction : u32 { kAdd, kMin, kMax, kAnd, kOr };
struct Surface {
  u32 geometry, outside, elements, bytes, register_bytes, operation;
  bool is_signed, formatted;
};
Surface surface(u32 control) {
  return {control & 7,
          control >> 3 & 3,
          control >> 5 & 7,
          1u << (control >> 8 & 3),
          1u << (control >> 10 & 3),
          control >> 12 & 7,
          (control >> 15 & 1) != 0,
          (control >> 16 & 1) != 0};
}
u32 control_of(const Form& form, u32 size, u32 register_size) {
  const u32 outside = form.has("trap") ? u32{kTrap} : form.has("clamp") ? u32{kClamp} : u32{kZeros};
  return geometry_of(form) | outside << 3 | form.vector << 5 | u32(std::countr_zero(size)) << 8 |
         u32(std::countr_zero(register_size)) << 10;
}

// Where a lane's access to `size` bytes begins; 0: outside, and to be ignored.
u64 surface_address(const Warp& warp, u32 lane, const Texture& t, const Surface& s, const Slot* c, u32 size) {
  const TextureLevel& level = t.base();
  const u32 used = layered(s.geometry) ? 1 : 0;
  i64 at[3] = {0, 0, 0};
  for (u32 k = 0; k < dimensions(s.geometry); ++k) at[k] = warp.in<i32>(c[used + k])[lane];
  if (s.formatted) at[0] *= t.texel_bytes();
  if (used) at[2] = warp.in<i32>(c[0])[lane];
  const i64 most[] = {i64{level.width} * t.texel_bytes() - size, i64{level.height} - 1, i64{level.depth} - 1};
  bool outside = false;
  for (u32 k = 0; k < 3; ++k) {
    outside |= at[k] < 0 || at[k] > most[k];
    at[k] = std::clamp<i64>(at[k], 0, std::max<i64>(most[k], 0));
  }
  if (outside && s.outside == kTrap) {
    Fault fault;
    fault.kind = FaultKind::illegal_address;  // as an H200 reports it
    fault.what = "access outside of a surface";
    fault.lane = lane;
    throw fault;
  }
  if (outside && s.outside == kZeros) return 0;
  return level.address + u64(at[2]) * level.slice + u64(at[1]) * level.pitch + u64(at[0]);
}

template <bool kStore>
void run_surface(Warp& warp, const Instruction& i) {
  const Surface s = surface(i.control);
  const Slot* o = slots(i);
  TextureOperand object(warp, i, kStore ? o[0] : o[s.elements]);
  const Slot* at = kStore ? o + 1 : o + s.elements + 1;
  const Slot* data = kStore ? at + coordinates(s.geometry) : o;
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 size = s.elements * s.bytes;
    const u64 address = surface_address(warp, lane, object.of(lane), s, at, size);
    if (kStore && address == 0) continue;
    std::byte* memory = address == 0 ? nullptr
                                     : access(warp, lane, Space::global, address, size, s.bytes,
                                              kStore ? Access::write : Access::read, nullptr);
    for (u32 k = 0; k < s.elements; ++k) {
      u64 value = 0;
      if (kStore) {
        std::memcpy(&value, warp.in<std::byte>(data[k]) + lane * s.register_bytes, s.bytes);
        raw_store_element(memory + k * s.bytes, value, s.bytes);
      } else {
        if (memory) value = raw_element(memory + k * s.bytes, s.bytes);
        std::memcpy(warp.out<std::byte>(data[k]) + lane * s.register_bytes, &value, s.register_bytes);
      }
    }
  }
}
template <bool kStore>
Bound bind_surface(const Form& form) {
  const u32 size = bytes(form.type[0]), wide = std::max<u32>(form.width[kStore ? 2 : 0], size);
  return {run_surface<kStore>, control_of(form, size, wide)};
}

// The bits of a half that are not beyond it: what does not fit is the largest, or cut off. As an H200 stores them.
u32 cut_to_half(u32 word) {
  const u32 sign = word >> 16 & 0x8000, magnitude = word & 0x7fff'ffff;
  if (magnitude > 0x7f80'0000) return sign | 0x7c00 | std::max(magnitude >> 13 & 0x3ff, 1u);
  if (magnitude == 0x7f80'0000) return sign | 0x7c00;
  const float value = std::min(float_of(magnitude), 65504.0f);
  const int last_bit = std::max(value == 0 ? -14 : std::ilogb(value), -14) - 10;
  const float kept = std::ldexp(std::floor(std::ldexp(value, -last_bit)), last_bit);
  return sign | to_f16(kept);
}

// A word as one channel of a surface: whole numbers that do not fit become the nearest that do.
u32 formatted(u32 word, Type channel) {
  switch (channel) {
    case Type::u8: return std::min(word, 0xffu);
    case Type::u16: return std::min(word, 0xffffu);
    case Type::s8: return u32(std::clamp(i32(word), -0x80, 0x7f));
    case Type::s16: return u32(std::clamp(i32(word), -0x8000, 0x7fff));
    case Type::f16: return cut_to_half(word);
    default: return word;
  }
}

// sust.p: a texel from the words for red, green, blue and alpha; what is missing is zero.
void run_sust_p(Warp& warp, const Instruction& i) {
  const Surface s = surface(i.control);
  const Slot* o = slots(i);
  TextureOperand object(warp, i, o[0]);
  const Slot* data = o + 1 + coordinates(s.geometry);
  for (const u32 lane : set_bits(warp.mask)) {
    const Texture& t = object.of(lane);
    const u64 address = surface_address(warp, lane, t, s, o + 1, t.texel_bytes());
    if (address == 0) continue;
    const u32 size = bytes(t.channel);
    std::byte* memory =
        access(warp, lane, Space::global, address, t.texel_bytes(), t.texel_bytes(), Access::write, nullptr);
    for (u32 k = 0; k < t.channels; ++k) {
      const u32 value = k < s.elements ? formatted(warp.in<u32>(data[k])[lane], t.channel) : 0;
      raw_store_element(memory + k * size, value, size);
    }
  }
}
Bound bind_sust_p(const Form& form) { return {run_sust_p, control_of(form, 4, 4) | 1u << 16}; }

template <class T>
void reduce(std::byte* memory, T value, u32 operation) {
  T* at = reinterpret_cast<T*>(memory);
  T old = __atomic_load_n(at, __ATOMIC_RELAXED), next;
  do {
    switch (operation) {
      case kAdd: next = T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(value)); break;
      case kMin: next = std::min(old, value); break;
      case kMax: next = std::max(old, value); break;
      case kAnd: next = old & value; break;
      default: next = old | value; break;
    }
  } while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void run_sured(Warp& warp, const Instruction& i) {
  const Surface s = surface(i.control);
  const Slot* o = slots(i);
  TextureOperand object(warp, i, o[0]);
  const Slot data = o[1 + coordinates(s.geometry)];
  for (const u32 lane : set_bits(warp.mask)) {
    const Texture& t = object.of(lane);
    const u64 address = surface_address(warp, lane, t, s, o + 1, s.bytes);
    if (address == 0) continue;
    std::byte* memory = access(warp, lane, Space::global, address, s.bytes, s.bytes, Access::atomic, nullptr);
    // .p: the surface says whether its numbers have a sign.
    const bool is_signed = s.formatted ? cudasim::is_signed(t.channel) : s.is_signed;
    if (s.bytes == 4) {
      const u32 value = warp.in<u32>(data)[lane];
      is_signed ? reduce(memory, i32(value), s.operation) : reduce(memory, value, s.operation);
    } else {
      const u64 value = warp.in<u64>(data)[lane];
      is_signed ? reduce(memory, i64(value), s.operation) : reduce(memory, value, s.operation);
    }
  }
}
Bound bind_sured(const Form& form) {
  const u32 operation = form.has("add")   ? u32{kAdd}
                        : form.has("min") ? u32{kMin}
                        : form.has("max") ? u32{kMax}
                        : form.has("and") ? u32{kAnd}
                                          : u32{kOr};
  const u32 size = bytes(form.type[0]);
  return {run_sured, control_of(form, size, size) | operation << 12 | u32{is_signed(form.type[0])} << 15 |
                         u32{form.has("p")} << 16};
}

#define SURFACE(geometry, coordinates)                                                                                 \
  {"suld.b." geometry "{.ca|cg|cs|cv}{.v2|v4}.b8|b16|b32.trap|clamp|zero", "={t0~}v [m] " coordinates,                 \
   bind_surface<false>},                                                                                               \
      {"suld.b." geometry "{.ca|cg|cs|cv}{.v2}.b64.trap|clamp|zero", "={t0}v [m] " coordinates, bind_surface<false>},  \
      {"sust.b." geometry "{.wb|cg|cs|wt}{.v2|v4}.b8|b16|b32.trap|clamp|zero", "[m] " coordinates " {t0~}v",           \
       bind_surface<true>},                                                                                            \
      {"sust.b." geometry "{.wb|cg|cs|wt}{.v2}.b64.trap|clamp|zero", "[m] " coordinates " {t0}v", bind_surface<true>}, \
  {                                                                                                                    \
    "sust.p." geometry "{.v2|v4}.b32.trap|clamp|zero", "[m] " coordinates " {t0}v", bind_sust_p                        \
  }
#define REDUCE(geometry, coordinates)                                                                         \
  {"sured.b.add." geometry ".u32|u64|s32.trap|clamp|zero", "[m] " coordinates " t0", bind_sured},             \
      {"sured.b.min|max." geometry ".u32|s32|u64|s64.trap|clamp|zero", "[m] " coordinates " t0", bind_sured}, \
      {"sured.b.and|or." geometry ".b32.trap|clamp|zero", "[m] " coordinates " t0", bind_sured},              \
      {"sured.p.add|and|or." geometry ".b32.trap|clamp|zero", "[m] " coordinates " t0", bind_sured}, {        \
    "sured.p.min|max." geometry ".b32|b64.trap|clamp|zero", "[m] " coordinates " t0", bind_sured              \
  }

constexpr Row kRows[] = {
    SURFACE("1d", "{s32}1"),  SURFACE("2d", "{s32}2"), SURFACE("3d", "{s32}4"), SURFACE("a1d", "{b32}2"),
    SURFACE("a2d", "{b32}4"), REDUCE("1d", "{s32}1"),  REDUCE("2d", "{s32}2"),  REDUCE("3d", "{s32}4"),
};

}  // namespace

std::span<const Row> surface_rows() { return kRows; }

}  // namespace cudasim
