// What a function's text says, for those who look on while it runs: kept if CUDASIM_PROFILE or CUDASIM_TRACE=ptx asks.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudasim {

struct Row;

const char* name(Class c);

// As its row says; accesses to memory as their state space does. Without a row: bra, brx, ret and call.
Class class_of(const Row* row, const std::vector<std::string>& modifiers);
// What a warp's part of a wgmma reads from shared memory: its 16 rows of A, unless they are in registers, and a quarter
// of B, which the tensor cores of all four warps share. 0 for other instructions.
u32 operand_bytes(std::string_view opcode, const std::vector<std::string>& modifiers, bool a_in_registers);

struct Notes {
  struct Result {
    u32 instruction = 0;
    Slot slot = kNoSlot;
    Type type = Type::none;
    std::string name;
  };
  struct Statement {
    std::string text;  // as it is written, without line breaks
    Class kind = Class::other;
    Type type = Type::none;       // the first that it names
    u32 instruction = kNoTarget;  // the one that counts for it; others prepare its operands
    bool branches = false;        // under a condition
    bool barrier = false;         // of the block or of the cluster
    bool quiet = false;           // changes memory atomically, and the old value is not used
    bool adds_one = false;        // atomically
    u32 operand_bytes = 0;        // that a warp's part of a wgmma reads from shared memory
  };
  std::vector<Statement> statements;  // by the index of Code::statements
  std::vector<Result> results;        // in the order of their instructions
};

}  // namespace cudasim
