// What bulk copies of plain memory and of tensors share.
#pragma once
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/isa/row.hpp"

#include <vector>

namespace cudasim {

// Instruction::control of asynchronous copies: for each memory operand, in order, its space and whether its base
// register has 4 bytes.
constexpr u32 kOperandBits = 5;
constexpr u32 kFlags = 16;  // and from here on, what a family of instructions wants to know

inline u32 operand_control(Space space, u32 width) { return static_cast<u32>(space) | (width == 4 ? 16u : 0u); }
inline Space space_of_operand(const Instruction& i, u32 n) {
  return static_cast<Space>(i.control >> (n * kOperandBits) & 15);
}

// The address in memory operand `n`, whose base register is in `slot`; only the first one's offset is in the
// instruction.
inline u64 operand_address(const Warp& warp, const Instruction& i, u32 n, Slot slot, u32 lane) {
  const bool narrow = (i.control >> (n * kOperandBits) & 16) != 0;
  if (n == 0) return address_of(warp, i, slot, narrow, lane);
  if (slot == kNoSlot) return 0;
  return narrow ? warp.in<u32>(slot)[lane] : warp.in<u64>(slot)[lane];
}

// An mbarrier's 64 bits, checked.
std::byte* mbarrier_at(Warp& warp, u32 lane, Space space, u64 address);
// When `barrier` is looked at: `copy`, then `bytes` of its transactions are there.
void deliver(Warp& warp, u32 lane, std::byte* barrier, u32 bytes, Completion copy);
void copy_bytes(std::byte* to, const std::byte* from, u64 size);

// .add, .min … of cp.reduce.async.bulk on one element of memory that others may be changing.
enum class BulkReduction : u32 { add, min, max, inc, dec, all, any, odd };
BulkReduction bulk_reduction(const Form& form);
void reduce_bytes(BulkReduction operation, Type type, std::byte* to, const std::byte* from, u64 size);

}  // namespace cudasim
