// The words that every stage of the simulator shares: PTX's types and spaces.
#pragma once
#include "common/simulator/words.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cudasim {

struct Dim3 {
  u32 x = 1, y = 1, z = 1;
  u64 count() const { return u64{x} * y * z; }
};

// PTX ISA, "Fundamental types", "Packed data types" and "Alternate floating-point data formats".
enum class Type : u8 {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f32,
  f64,
  tf32,
  f16x2,
  bf16x2,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  f32x2,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m3,
  e3m2,
  e2m1,
  ue8m0,
  e2m3x2,
  e3m2x2,
  e2m1x2,
  ue8m0x2,
  b1,
  u4,
  s4,
  u2,
  s2,
  texref,
  samplerref,
  surfref,
};

// Bits of one value of `type`; 0 for none, pred and the opaque types.
u32 bits(Type type);
inline u32 bytes(Type type) { return (bits(type) + 7) / 8; }
bool is_signed(Type type);               // s8 … s64, s16x2, s8x4, s4, s2
bool is_unsigned(Type type);             // u8 … u64 and their packed forms
bool is_float(Type type);                // every floating-point format
const char* name(Type type);             // as PTX writes it, without the dot
Type type_named(std::string_view name);  // Type::none if the name is unknown

// PTX ISA, "State spaces".
enum class Space : u8 { generic, reg, sreg, constant, global, local, param, shared, shared_cluster, tex };
const char* name(Space space);

// Where generic addresses of spaces without an allocation of their own lie (PTX ISA, "Generic addressing"). All of the
// device's addresses lie above what a host process can map on this processor (47 bits on x86-64, 48 on Arm), so no
// host pointer is ever mistaken for one, and a host dereference of one faults, as on a real machine.
#if defined(__aarch64__)
constexpr u64 kDeviceBase = u64{1} << 48;
#else
constexpr u64 kDeviceBase = u64{1} << 47;
#endif
constexpr u64 kSharedWindow =
    kDeviceBase + (u64{1} << 40);  // a block's own shared memory; clusters: + rank * kSharedStride
constexpr u64 kSharedStride = u64{1} << 24;
// Where in it lies what the system keeps for a block (kSharedReserved), far from what is the kernel's own.
constexpr u64 kReservedShared = kSharedStride / 2;
constexpr u64 kLocalWindow = kDeviceBase + (u64{2} << 40);  // the executing thread's own local memory
constexpr u64 kParamWindow = kDeviceBase + (u64{3} << 40);  // the launch's parameters
constexpr u64 kCodeWindow = kDeviceBase + (u64{4} << 40);  // addresses of functions: + 16 * index in Program::functions
constexpr u64 kHeapWindow = kDeviceBase + (u64{8} << 40);  // from here on: allocations (cuMemAlloc and its kin)
constexpr u64 kWindowBytes = u64{1} << 40;

}  // namespace cudasim
