// Handlers that the resolver emits by itself: no opcode of their own, or an opcode whose operands need more than a row
// says.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <optional>
#include <string_view>

namespace cudasim {

// Control flow (exec/). Instruction::target: bra: an instruction; brx.idx: a table, slot[0] the index; call: a
// CallSite.
void run_branch(Warp&, const Instruction&);
void run_branch_indexed(Warp&, const Instruction&);
void run_call(Warp&, const Instruction&);
void run_return(Warp&, const Instruction&);

// slot[0] = the frame's local memory + offset, as a .local address (add kLocalWindow for a generic one). bytes: 4 or 8.
Handler local_address_handler(u32 bytes);
// slot[0] = where this kernel has shared variable `target` + offset, as a .shared address with the block's rank.
Handler shared_address_handler(u32 bytes);
// The same for an entry function's own code: offset is that of the variable, which the resolver knows.
Handler own_shared_address_handler(u32 bytes);
// slot[0] = slot[1] + offset; slot[1] may be kNoSlot: 0. For the addresses of further memory operands, and for numbers.
// bytes: 2, 4 or 8.
Handler sum_handler(u32 bytes);
// slot[0] = slot[1] + slot[2] * control + offset; slot[2] is a register of `index_bytes` that is widened if need be.
// Null: no such sizes.
Handler indexed_sum_handler(u32 bytes, u32 index_bytes, bool index_signed);

// slot[0] = not slot[1], for `!p` where an operand may not be negated by itself.
void run_not_predicate(Warp&, const Instruction&);

// mov of a special register, "%tid.x": slot[0] = its value, as a register of `bytes`. Null: no such register, or not of
// that size. Source: PTX ISA, "Special registers".
Handler special_register_handler(std::string_view name, u32 bytes);
// The first PTX and target that have it, without its part (.x); both 0 if it is as old as all that is read here.
struct Since {
  std::string_view name;
  u32 ptx = 0, target = 0;
};
Since special_register_since(std::string_view name);
// Whether the register says where the system's part of shared memory is. A kernel that reads none of these does not
// need that part.
bool tells_of_reserved_shared(std::string_view name);

// mov.b64 d, {a, b}: slots d, a, b …; elements 2 or 4, each of `bytes`.  mov.b64 {a, b}, d: slots a, b …, d (kNoSlot
// for _).
Handler pack_handler(u32 elements, u32 bytes);
Handler unpack_handler(u32 elements, u32 bytes);

// Functions that the device runtime provides, called by name through `.extern .func`; CallSite::callee is kBuiltin +
// this.
enum class Builtin : u32 { vprintf, malloc, free, assertfail, set_condition, device_runtime };
constexpr u32 kBuiltin = 0x4000'0000u;
std::optional<Builtin> builtin_named(std::string_view name);

}  // namespace cudasim
