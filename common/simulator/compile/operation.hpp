// An instruction as the compiler sees it: what its handler's description says (exec/described.hpp), taken apart.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudasim::compile {

struct Operation {
  enum Kind : u8 {
    other,    // call the handler; it may change the flow of control
    plain,    // call the handler; it does not
    branch,
    leave,    // the last instruction
    reads_same,
    reads_thread,
    reads_lane,  // special registers, which handlers read: one value, %tid.x (or .y or .z), %laneid
    computes,
    compares,
    selects,
    extends,
    combines,
    adds_window,
    adds_offset,
    shared_address,
    loads,
    stores
  } kind = other;
  enum Place : u8 { global, indexed, shared, local } place = global;  // of loads and stores
  std::string op;  // computes, combines: the class whose of() computes; compares: how values are read
  std::vector<std::string> types;  // computes: of the result and the operands; loads, stores: in memory, in registers
  u32 elements = 1;  // of loads and stores; reads_thread: the axis
  bool vectorizes = false;  // a loop over it becomes vector code
};

// The size of a C++ type's value, by its name; 0: not a type that the compiler knows.
u32 size_of(std::string_view type);
bool is_signed_type(std::string_view type);

Operation operation_of(const Instruction& instruction);

}  // namespace cudasim::compile
