// One instruction form is one row: how the PTX manual writes it, what its operands are, and the function that runs it.
//
//   {"add{.rnd}{.ftz}{.sat}.f32", "=f32 f32 f32", bind_add_float}
//
// Syntax, as in the manual: {…} is optional, `.rnd` a named set of alternatives (sets.hpp), `|` separates alternatives
// written in place, `.type` below always stands for the types given in the row's name. Modifiers match in any order
// (compilers write `ex2.approx.f32.ftz`), types only in theirs. A modifier that no row of the opcode admits is refused:
// nothing is ever ignored.
//
// Operands, in order, separated by blanks:
//   f32, b64, pred …   a register or constant of exactly this width       =…   written instead of read
//   t0, t1, t2         of the width of the first, second, third type      w0   twice as wide as the first type
//   …~                 the register may be wider than the type (ld, st, cvt); the widths are in Form::width
//   [m]                a memory operand: base slot and Instruction::offset
//   {…}v               a vector of Form::vector elements                  …?   may be left out (kNoSlot)
//   |pred              the second destination of p|q                      label, func, imm: as named, in
//   Instruction::target/offset
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/types.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudasim {

// A statement's opcode and modifiers, sorted into what rows ask for.
struct Form {
  std::string_view opcode;
  std::array<Type, 4> type{};  // in the order in which they are written
  u32 types = 0;
  u32 vector = 1;
  Space space = Space::generic;
  std::vector<std::string_view> modifiers;  // all that are not types, as written, without dots
  std::array<u8, 8> width{};                // bytes of each operand's register (constants: of the type); 0: not there
  u32 address_bytes = 8;                    // of the memory operand's base register

  bool has(std::string_view modifier) const;
};

// Chooses the function that runs `form`; null if this combination does not exist (the row is then no match).
using Bind = Handler (*)(const Form& form);

struct Row {
  const char* syntax;
  const char* operands;
  Bind bind;
  u32 ptx = 60;    // first PTX version, 78 for 7.8
  u32 target = 0;  // first architecture, 90 for sm_90
};

// Each family's file defines one of these; table.cpp joins them.
std::span<const Row> arithmetic_rows();
std::span<const Row> float_rows();
std::span<const Row> logic_rows();
std::span<const Row> compare_rows();
std::span<const Row> convert_rows();
std::span<const Row> memory_rows();
std::span<const Row> atomic_rows();
std::span<const Row> control_rows();
std::span<const Row> warp_rows();
std::span<const Row> barrier_rows();
std::span<const Row> async_rows();
std::span<const Row> matrix_rows();
std::span<const Row> texture_rows();
std::span<const Row> video_rows();

struct Match {
  const Row* row = nullptr;
  Form form;
  std::string refusal;  // if row is null: what is wrong, by name ("Unknown modifier '.foo'", "Not a name of any known
                        // instruction: 'frobnicate'")
};
// Finds the row for an opcode and its modifiers; does not bind yet (the widths are not known).
Match match(std::string_view opcode, std::span<const std::string> modifiers);

// Every row of every family, for the test of the table and for the README's list.
std::vector<Row> all_rows();

}  // namespace cudasim
