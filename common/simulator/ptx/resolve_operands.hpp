// Instructions with a row, and their operands: resolve_rows.cpp follows the row, resolve_values.cpp finds out what an
// operand names.
#pragma once
#include "common/simulator/ptx/draft.hpp"

namespace cudasim::ptx {

// A value as an instruction takes it: a virtual register, or a constant's slot.
struct Value {
  Slot slot = kNoSlot;
};

// ---- resolve_rows.cpp

// The statement as an instruction: by the row that was found for it.
void by_row(Draft& draft, const Statement& s, const Match& found);
// Throw if the module's version or target lacks the form, or one of its modifiers.
void check_version(const Draft& draft, const Statement& s, const Row& row, const Form& form);
void check_features(const Body& body, const Statement& s);
// A vector's elements, as the rule wants each of them.
void vector(Draft& draft, const OperandRule& rule, u32 count, const Operand& given);
// Tells the handler's form how many bytes the register of the operand has.
void set_width(Draft& draft, u32 width);

// ---- resolve_values.cpp

// A register, a number, an address or a special register, where the instruction takes `type`. `wider`: the register may
// have more bytes, and `width` gets their number. `named`: the instruction's name says the type.
Value value(const Draft& draft, const Operand& given, Type type, bool wider, u32* width, bool in_vector = false,
            bool named = true);
// The first memory operand; each of the others.
void memory(Draft& draft, const Operand& given);
void further_memory(Draft& draft, const Operand& given);
// %tid and its like, of which there are %tid.x, .y and .z.
bool has_parts(std::string_view special);
bool has_size(std::string_view special, u32 bytes);
// Whether the text's version and target have the register, and what the kernel needs for it.
void reads_special(Body& body, const std::string& name, Position at);

}  // namespace cudasim::ptx
