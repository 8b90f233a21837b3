// What an instruction on memory promises other threads: strength, order and scope (PTX ISA, "Memory Consistency
// Model"). Instruction::control of loads, stores, atomic operations, fences and mbarrier operations has it in its upper
// bits; a check for races reads it there.
#pragma once
#include "common/simulator/isa/row.hpp"

namespace cudasim {

constexpr u32 kStrong = 1u << 24;  // may meet other strong ones unordered: volatile, relaxed and stronger, atomic
constexpr u32 kAcquires = 1u << 25;
constexpr u32 kReleases = 1u << 26;
constexpr u32 kBlockScope = 1u << 27;  // .cta: promises nothing to other blocks
constexpr u32 kVolatile = 1u << 28;  // strong because it is volatile
constexpr u32 kCompares = 1u << 29;  // an atomic operation that changes nothing unless it finds what it expects

// `atomic`: strong even without a modifier.
inline u32 order_of(const Form& form, bool atomic) {
  u32 order = 0;
  if (atomic || form.has("relaxed") || form.has("volatile") || form.has("mmio")) order |= kStrong;
  if (form.has("volatile")) order |= kVolatile;
  if (form.has("acquire") || form.has("acq_rel") || form.has("sc")) order |= kStrong | kAcquires;
  if (form.has("release") || form.has("acq_rel") || form.has("sc")) order |= kStrong | kReleases;
  if (form.has("cta")) order |= kBlockScope;
  return order;
}

}  // namespace cudasim
