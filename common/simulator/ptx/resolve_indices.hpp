// Addresses that an array and an index make: the state of resolve_indices.cpp.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <unordered_map>
#include <vector>

namespace cudasim::ptx {

struct Body;
struct Draft;

// What a register holds: base + index * scale.
struct IndexedAddress {
  Slot base = kNoSlot;  // a constant of the launch; kNoSlot: 0
  Slot index = kNoSlot;
  u32 scale = 0;
  bool is_signed = false;
  u32 since = 0, at = 0;  // instructions: which took the index, which wrote the register
};

// An instruction that worked out what is, or was, in Indices::addresses.
struct Producer {
  u32 at = 0;
  std::vector<Slot> slots;
};

struct Indices {
  std::unordered_map<Slot, IndexedAddress> addresses;  // by register
  std::vector<Producer> producers;
  std::vector<u32> written;  // by register: 1 + the last instruction that wrote it
  u32 straight_since = 0;    // the first instruction of those that nothing jumps between
};

// Notes what an instruction, the last one that was emitted, has put into a register, if that is such an address or the
// way to one.
void note_address(const Draft& draft);
// The base register for a memory operand that is based on `reg`: the array, if the row takes the index as well.
Slot take_index(Draft& draft, Slot reg);
// Deletes the instructions whose only results are addresses that are not read any more.
void leave_out_unread(Body& body);

}  // namespace cudasim::ptx
