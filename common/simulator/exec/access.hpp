// One lane's access to memory: from an address, as an instruction uses it, to the bytes on the host, checked. The
// instructions' fast paths are in isa/memory.cpp; whatever they cannot decide at once ends here.
#pragma once
#include "common/simulator/exec/warp.hpp"

namespace cudasim {

enum class Access : u8 { read, write, atomic };

// The address that a lane's memory operand means: base register, of `wide` 4 or 8 bytes, and offset.
inline u64 address_of(const Warp& warp, const Instruction& instruction, Slot base, bool narrow, u32 lane) {
  const u64 offset = static_cast<u64>(instruction.offset);
  if (base == kNoSlot) return offset;
  return narrow ? u64{static_cast<u32>(warp.in<u32>(base)[lane] + offset)} : warp.in<u64>(base)[lane] + offset;
}

// Where `size` bytes at `address` are, which is aligned to `align`. Throws Fault, with everything that depends on the
// address filled in. `view`, if there is one, is what the allocation that was found comes into.
std::byte* access(Warp& warp, u32 lane, Space space, u64 address, u32 size, u32 align, Access kind, View* view);
inline std::byte* access(Warp& warp, u32 lane, Space space, u64 address, u32 size, Access kind) {
  return access(warp, lane, space, address, size, 1, kind, nullptr);
}

// The state space of a generic address: shared, local, param or global.
Space space_of(u64 generic);
u64 window(Space space);  // the first generic address of a space; 0 for global

// The end of the local memory that a thread may touch now.
u32 local_limit(const Warp& warp, u32 lane);

// Whether it is an alloca's (isa/control.cpp).
bool is_alloca(Handler handler);

// The rank, in its cluster, of the block to which an address of shared memory belongs. The addresses that mov and cvta
// give a program contain it, as on hardware.
inline u32 shared_rank(u64 address) { return static_cast<u32>(address / kSharedStride); }

}  // namespace cudasim
