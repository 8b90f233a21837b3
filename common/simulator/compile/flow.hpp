// What the compiler has to know of a function before it writes code: blocks of instructions, which registers are read
// later, and which hold one value for all lanes.
#pragma once
#include "common/simulator/compile/operation.hpp"
#include "common/simulator/exec/instruction.hpp"

#include <map>
#include <optional>
#include <set>

namespace cudasim::compile {

// How the threads of a block are distributed to the lanes of its warps. A row is a part of a warp in which %tid.x grows
// by one from lane to lane while %tid.y and %tid.z stay the same.
struct Shape {
  u32 rows = 1;       // in each warp: 1, 2 or 4
  bool even = false;  // every warp consists of such rows
};
Shape shape_of(const Dim3& block);

// What the lanes of a row have in a register, when all 32 lanes of a warp execute together.
struct Kind {
  bool in_rows = false;  // lane i of the row has first + i * stride
  i64 stride = 0;
  bool operator==(const Kind&) const = default;
  bool same() const { return in_rows && stride == 0; }
};
constexpr Kind kAny{}, kSame{true, 0};

struct Block {
  u32 begin = 0, end = 0;  // instructions
  std::vector<u32> next;   // instructions at which the blocks behind it begin
  std::map<Slot, Kind> kinds;  // of the registers at its beginning; those that are not there are kAny
  bool reached = false;
};

// A number that is the same in every launch and every process, if the operand is one.
std::optional<u64> number(const Code& code, Slot slot, u32 bytes);

class Flow {
 public:
  // With `together`, all lanes execute together. Otherwise every register is kAny.
  Flow(const Code& code, const Shape& shape, bool together);

  const Code& code() const { return code_; }
  const std::vector<Operation>& operations() const { return operations_; }
  const std::map<u32, Block>& blocks() const { return blocks_; }
  bool is_predicate(Slot slot) const { return predicates_.contains(slot); }
  bool live(Slot slot, u32 before) const { return live_[before].contains(slot); }  // read at `before` or later
  const std::set<Slot>& live(u32 before) const { return live_[before]; }
  const std::vector<Slot>& reads(u32 instruction) const { return reads_[instruction]; }
  const std::vector<Slot>& writes(u32 instruction) const { return writes_[instruction]; }

  // The kind of each register that the instruction writes; what all registers are behind it.
  Kind result(u32 instruction, const std::map<Slot, Kind>& kinds) const;
  void advance(u32 instruction, std::map<Slot, Kind>& kinds) const;
  Kind kind(Slot slot, const std::map<Slot, Kind>& kinds) const;
  // How far the addresses of a load or store are apart from lane to lane; nothing: they are in no rows, or too uneven.
  std::optional<i64> address_stride(u32 instruction, const std::map<Slot, Kind>& kinds) const;
  bool uses_handler(u32 instruction, const std::map<Slot, Kind>& kinds) const;

 private:
  void find_blocks();
  void find_predicates();
  void find_live();
  void find_kinds();
  Kind special(const Operation& operation) const;
  Kind computed(u32 instruction, const std::map<Slot, Kind>& kinds) const;
  Kind loaded(u32 instruction, const std::map<Slot, Kind>& kinds) const;

  const Code& code_;
  Shape shape_;
  bool together_;
  std::vector<Operation> operations_;
  std::vector<std::vector<Slot>> reads_, writes_;
  std::map<u32, Block> blocks_;
  std::set<Slot> predicates_;
  std::vector<std::set<Slot>> live_;
};

}  // namespace cudasim::compile
