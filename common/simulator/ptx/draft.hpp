// What the translation of a function works on, and passes on. A Body is the function so far: its registers, and the
// instructions that have come out. A Draft is the statement that is being translated. Each piece has its own state:
//
//   resolve.cpp          declarations; each statement in its turn; slots for registers
//   resolve_control.hpp  branches and calls
//   resolve_operands.hpp instructions with a row, and their operands
//   resolve_moves.hpp    the forms of mov, and what need not run
//   resolve_indices.hpp  addresses that an array and an index make
//   resolve_origins.hpp  which shared variable an address is made of
//   resolve_notes.hpp    notes for profiles and traces
//   resolve_unfinished.hpp sums of wgmma that are read too early
//
// The row of an instruction is all that they know about it. Only bra, brx, ret and call have no row: they are the shape
// of the program.
#pragma once
#include "common/simulator/isa/row.hpp"
#include "common/simulator/ptx/cursor.hpp"
#include "common/simulator/ptx/names.hpp"
#include "common/simulator/ptx/resolve.hpp"
#include "common/simulator/ptx/resolve_indices.hpp"
#include "common/simulator/ptx/resolve_moves.hpp"
#include "common/simulator/ptx/resolve_notes.hpp"
#include "common/simulator/ptx/resolve_origins.hpp"
#include "common/simulator/ptx/resolve_unfinished.hpp"

#include <algorithm>

namespace cudasim::ptx {

constexpr u32 kUnset = ~0u;

struct Body {
  Body(const Module& of, const LinkedFunction& linked, u32 files_before, Link& all);

  const Module& module;
  const u32 module_index;
  const Function& function;
  const u32 file_base;
  Link& link;
  Names names;
  Resolved out;

  std::vector<Type> registers;  // virtual registers: their types
  std::vector<std::vector<u32>> register_ids;  // by Function::registers: first part of each number, or kUnset
  std::unordered_map<u64, u32> parameter_registers;
  std::vector<u32> local;  // by Function::variables: offset in the frame, or index of Link::variables
  std::vector<u32> parameter_local, result_local;
  u32 variable_align = 1;  // the largest of the function's .local variables
  std::vector<u32> table_of;  // by Function::tables: in Code::tables

  std::vector<Mention> mentions;
  std::vector<Step> steps;
  std::vector<u32> first;  // by statement: its first instruction

  Moves moves;
  Indices indices;
  Origins origins;
  BodyNotes notes;
  Unfinished unfinished;
};

// A statement on its way to an instruction.
struct Draft {
  Draft(Body& of, const Statement& written) : body(of), source(&written), statement(&written), at(written.at) {}

  Body& body;
  const Statement* source;  // as the text has it
  const Statement* statement;  // in the words of today: see modernized()
  Position at;
  const Row* row = nullptr;  // null for bra, brx, ret and call

  Form form;
  Instruction instruction;
  std::vector<Slot> slots;
  std::vector<bool> written;
  std::vector<Slot> addresses;  // those of them that memory is accessed at
  AddressOf offset_of;
  u32 index = 0;  // of the operand being read
  u32 memories = 0;  // memory operands so far
  bool updated = false;  // what it writes it reads, too
  bool in_vector = false;
  bool stores = false;  // its memory operand comes first, and what goes there behind it
  u32 element_bytes = 0;  // of the vector being read: its registers', 0 if it has none
  Slot index_register = kNoSlot;  // of the memory operand, if it takes one
  Slot base = kNoSlot;  // of the first memory operand
};

// ---- Errors

[[noreturn]] void fail(Position at, std::string message);
[[noreturn]] void mismatch(const Draft& draft);
[[noreturn]] void unknown(const Draft& draft, const std::string& name);
std::string mnemonic(const Draft& draft);  // "add.rn.f32"

inline bool row_is(const Draft& draft, Traits trait) { return draft.row != nullptr && draft.row->is(trait); }

// ---- Types

// Whether an operand of type `want` may be a register of type `have` of the same size; or of one that may be wider.
bool agrees(Type want, Type have);
bool holds(Type want, Type have);
bool fits(Type want, Type have, bool wider, bool in_vector, bool named);
bool before(Position a, Position b);

// ---- Registers and names

// A virtual register, which is what a Slot names until assign_slots().
struct Reg {
  u32 id = 0;
  Type type = Type::none;
};
u32 temporary(Body& body, Type type);
Reg element(Body& body, u32 reg, u32 number, u32 part);
std::optional<Reg> find_register(const Draft& draft, const Operand& operand);
std::optional<Reg> find_register(const Draft& draft, const std::string& name, const std::string& selector, Position at);
const Symbol* symbol_of(const Draft& draft, const std::string& name);
// The register of @p; kNoSlot if the statement has none.
Slot guard(const Draft& draft, const Statement& statement);
u32 vector_of(const Body& body, const std::string& name);
bool is_vector_register(const Body& body, const Operand& operand);
void spell_out(const Body& body, Operand& operand);

// ---- The frame

u32 place_local(Body& body, u64 size, u32 align, Position at);
u32 handed_over(u64 size, u32 align);

// ---- Output

u32 emit(Body& body, const Instruction& instruction, std::initializer_list<Slot> read,
         std::initializer_list<Slot> written, Step step = {});
void mention(Body& body, Slot slot, bool written, bool surely, bool address = false);

}  // namespace cudasim::ptx
