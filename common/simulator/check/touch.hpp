// One lane's access to memory, as the checks see it.
#pragma once
#include "common/simulator/exec/access.hpp"

namespace cudasim {

struct Touch {
  Touch() {}  // leaves `before` as it is
  u32 lane = 0;
  Access kind = Access::read;
  Space space = Space::global;  // global, shared or local
  bool silent = false;          // a write of what was there already
  bool asynchronous = false;
  u32 size = 0;
  u64 address = 0;         // in `owner`'s shared memory, in the thread's local memory, or on the device
  Block* owner = nullptr;  // of shared memory
  std::byte* at = nullptr;
  static constexpr u32 kKept = 16;
  std::byte before[kKept];  // what a small write finds
};

// Where an instruction that touches memory, or waits, stands.
struct Place {
  const Code* code = nullptr;
  const Instruction* instruction = nullptr;
  bool operator==(const Place& other) const { return instruction == other.instruction; }
};

}  // namespace cudasim
