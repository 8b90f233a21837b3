// One function's statements as instructions: names become slots, rows become handlers, labels become indices.
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/ptx/constants.hpp"
#include "common/simulator/ptx/link.hpp"

#include <memory>
#include <vector>

namespace cudasim::ptx {

// Instruction::offset waits for an address.
struct OffsetFixup {
  u32 instruction = 0;
  AddressOf of;
};

struct Resolved {
  std::unique_ptr<Code> code = std::make_unique<Code>();
  ConstantPool constants;
  std::vector<OffsetFixup> fixups;
  // What it names: for the layout of shared memory and the depth of calls.
  std::vector<u32> shared;  // indices of Link::variables
  std::vector<u32> constants_used;
  std::vector<u32> callees;  // indices in Program::functions
  bool calls_indirectly = false;
  Position calls_by_convention{};  // a call through a pointer, or of a function of the driver's; line 0: none
  struct Narrow {
    Position at{};  // line 0: none
    const char* what = nullptr;
  } narrow;  // a call that passes a predicate or a short integer in a register, or such a function's address
  std::vector<u32> addresses_taken;  // of functions, in Program::functions
  u32 barriers = 0;
  bool reserved_shared = false;  // it reads a %reserved_smem_offset register
  u32 parameter_bytes = 0;
};

// `link` gains the function's own .global, .const and .shared variables. Errors go to link.errors.
Resolved resolve(const Module& module, const LinkedFunction& linked, u32 file_base, Link& link);

}  // namespace cudasim::ptx
