// The registers of one frame whose bits come from memory that was never written.
#pragma once
#include "common/simulator/exec/warp.hpp"

#include <algorithm>
#include <array>
#include <list>

namespace cudasim {

class Unwritten {
 public:
  // A bit that is 1 is unwritten. They lie as the register does, lane by lane; of a predicate only the lanes are known.
  struct Register {
    static constexpr u32 kWidest = 16;
    Slot slot = kNoSlot;
    u32 bytes = 0;  // a lane; 0: a predicate
    u32 lanes = 0;  // with unwritten bits
    std::array<u32, kWarpSize> origin{};  // by lane: which load (origin_of)
    alignas(64) std::array<u8, kWidest * kWarpSize> bits{};

    u8* of(u32 lane) { return bits.data() + lane * bytes; }
    const u8* of(u32 lane) const { return bits.data() + lane * bytes; }
  };

  bool empty() const { return registers_.empty(); }
  Register* find(Slot slot) {
    const auto found = std::find_if(registers_.begin(), registers_.end(), [&](auto& r) { return r.slot == slot; });
    return found == registers_.end() ? nullptr : &*found;
  }
  // `bits`: of the lane, as many bytes as the register has; null: all of them.
  void set(Slot slot, u32 bytes, u32 lane, const u8* bits, u32 origin) {
    Register* reg = find(slot);
    if (reg == nullptr || reg->bytes != bytes) {
      clear(slot, kAllLanes);
      reg = &registers_.emplace_back();
      reg->slot = slot, reg->bytes = bytes;
    }
    reg->lanes |= 1u << lane;
    reg->origin[lane] = origin;
    for (u32 b = 0; b < bytes; ++b) reg->of(lane)[b] = bits == nullptr ? 0xff : bits[b];
  }
  void clear(Slot slot, u32 lanes) {
    for (auto reg = registers_.begin(); reg != registers_.end(); ++reg) {
      if (reg->slot != slot) continue;
      reg->lanes &= ~lanes;
      if (reg->lanes == 0) registers_.erase(reg);
      return;
    }
  }

 private:
  std::list<Register> registers_;  // few at any time
};

}  // namespace cudasim
