// Translates a function's statements into instructions, one function at a time. The files: resolve.cpp (declarations,
// registers, output), resolve_control.cpp (branches and calls), resolve_moves.cpp (the forms of mov, and what need not
// run), resolve_old.cpp (what old versions left out), resolve_rows.cpp (instructions with a row, and their operands),
// resolve_values.cpp (what an operand names),
// resolve_addresses.cpp (arrays and indices), resolve_origins.cpp (which shared variable is meant), resolve_notes.cpp
// (notes for profiles and traces).
//
// The row of an instruction is all that they know about it. Only bra, brx, ret and call have no row: they are the shape
// of the program.
#pragma once
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/isa/row.hpp"
#include "common/simulator/ptx/cursor.hpp"
#include "common/simulator/ptx/flow.hpp"
#include "common/simulator/ptx/names.hpp"
#include "common/simulator/ptx/notes.hpp"
#include "common/simulator/ptx/resolve.hpp"
#include "common/simulator/ptx/slots.hpp"
#include "common/simulator/wanted.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace cudasim::ptx {

constexpr u32 kUnset = ~0u;

// Whether an operand of type `want` may be a register of type `have` of the same size; or of one that may be wider.
bool agrees(Type want, Type have);
bool holds(Type want, Type have);
bool fits(Type want, Type have, bool wider, bool in_vector, bool named);
bool before(Position a, Position b);
u32 handed_over(u64 size, u32 align);
// %tid and its like, of which there are %tid.x, .y and .z.
bool has_parts(std::string_view special);
bool has_size(std::string_view special, u32 bytes);

class Resolver {
 public:
  Resolver(const Module& module, u32 index, const LinkedFunction& linked, u32 file_base, Link& link)
      : module_(module),
        module_index_(linked.module),
        index_(index),
        function_(*linked.function),
        file_base_(file_base),
        link_(link),
        names_(function_) {
    if (notes_wanted()) notes_ = std::make_shared<Notes>();
  }

  Resolved run();

 private:
  // A value as an instruction takes it: a virtual register, or a constant's slot.
  struct Value {
    Slot slot = kNoSlot;
    bool constant() const { return slot != kNoSlot && (slot & kConstant) != 0; }
  };
  struct Reg {
    u32 id = 0;
    Type type = Type::none;
  };
  // What a register holds: base + index * scale.
  struct IndexedAddress {
    Slot base = kNoSlot;  // a constant of the launch; kNoSlot: 0
    Slot index = kNoSlot;
    u32 scale = 0;
    bool is_signed = false;
    u32 since = 0, at = 0;  // instructions: which took the index, which wrote the register
  };

  // Declarations.
  void lay_out_parameters();
  u32 place_local(u64 size, u32 align, Position at);
  void enter_variables();

  // Statements.
  void statement(const Statement& statement);
  std::optional<Statement> of_old(const Statement& statement) const;
  void count_writes();
  void count_writes(const Operand& operand);
  bool loads_parameter(const Statement& statement) const;
  struct SpecialAxis {  // of a special register
    std::string_view name;
    u32 axis;  // 0 for x, 1 for y, 2 for z
  };
  std::optional<SpecialAxis> axis_read(const Statement& statement, const Match& found);
  bool is_known_before(const Statement& statement, const Match& found);
  std::optional<Slot> of_launch(const Statement& statement, const Match& found);
  bool renames(const Statement& statement);
  void branch(const Statement& statement);
  void branch_indexed(const Statement& statement);
  void leave(const Statement& statement);
  void call(const Statement& statement);
  Operand one_by_one(const Operand& list) const;
  void call_target(const Statement& statement, const Operand& arguments, CallSite& site);
  void prototype(const Statement& statement, const Operand& table);
  std::vector<CallSite::Argument> passed(const Operand& list, bool result);
  void note_narrow(const std::vector<Parameter>& results, const std::vector<Parameter>& parameters, Position at);
  void check_passed(const Statement& statement, const std::vector<CallSite::Argument>& passed,
                    const std::vector<Parameter>& wanted);
  bool special_mov(const Statement& statement);
  void pack(const Statement& statement, Type type);
  void unpack(const Statement& statement, Type type);
  void move_vector(const Statement& statement, Type type, u32 count);
  u32 vector_of(const std::string& name) const;
  bool is_vector_register(const Operand& operand) const;
  void spell_out(Operand& operand) const;

  // Instructions with a row.
  void by_row(const Statement& statement, const Match& found);
  void check_version(const Statement& statement, const Row& row, const Form& form) const;
  void check_features(const Statement& statement) const;
  void check_opaque(const Statement& statement) const;
  void check_number(const OperandRule& rule, u32 argument, const Operand& operand);

  // Operands of a row.
  struct Draft {
    const Statement* statement = nullptr;
    Form form;
    Instruction instruction;
    std::vector<Slot> slots;
    std::vector<bool> written;
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
  void operands(Draft& draft, const std::vector<OperandRule>& rules);
  bool could_be(const Draft& draft, const OperandRule& rule, const Operand& given);
  void operand(Draft& draft, const OperandRule& rule, const Operand& operand);
  void missing(Draft& draft, const OperandRule& rule);
  void vector(Draft& draft, const OperandRule& rule, u32 count, const Operand& operand);
  u32 bytes_of_elements(const Operand& operand);
  void scalar(Draft& draft, const OperandRule& rule, const Operand& operand);
  void destination(Draft& draft, const OperandRule& rule, Type type, const Operand& operand);
  void source(Draft& draft, const OperandRule& rule, Type type, const Operand& operand);
  void memory(Draft& draft, const Operand& operand);
  void further_memory(Draft& draft, const Operand& operand);
  void memory_of_variable(Draft& draft, const Variable& variable, u32 index, i64 offset);
  Slot shared_address(u32 index, i64 offset, u32 bytes);
  void uses_constant(const Variable& variable, u32 index);
  void memory_of_local(Draft& draft, u32 local, i64 offset);
  void memory_at_index(Draft& draft, const Operand& operand);
  void based_on(Draft& draft, Slot slot, u32 bytes);
  void set_width(Draft& draft, u32 width);
  void selectors(Draft& draft, const OperandRule& rule, const Operand& operand);
  Type type_of(const OperandRule& rule, const Form& form) const;

  // Arrays and indices.
  bool is_launch_constant(Slot reg) const;
  void note_address(const Draft& draft);
  const IndexedAddress* address_in(Slot reg) const;
  u32 written(Slot reg) const;
  Slot take_index(Draft& draft, Slot reg);
  void leave_out_unread();

  // Which shared variable an address is made of.
  void note_write(Slot slot);
  void note_made_of(Slot slot, u32 variable);
  void note_sum(Slot slot, Slot one, Slot other);
  void note_origin(const Draft& draft);
  void find_origins();

  // Values.
  Value value(const Operand& operand, Type type, bool wider, u32* width, bool in_vector = false, bool named = true);
  std::optional<Value> address_value(const Operand& operand, u32 bytes);
  std::optional<Value> address_of(const Operand& operand, u32 bytes);
  Slot indexed_address(const Operand& operand, u32 bytes);
  u32 element_size(const std::string& name) const;
  Slot sum_of(const Reg& reg, i64 addend, Type type, bool in_vector);
  bool names_sampler(const std::string& text) const;
  Value special_register(const std::string& name, Type type);
  void reads_special(const std::string& name, Position at);
  const Symbol* symbol_of(const std::string& name) const;
  u32 part_of(const std::string& name, const std::string& selector, u32 vector, Position at) const;
  std::optional<Reg> find_register(const Operand& operand);
  std::optional<Reg> find_register(const std::string& name, const std::string& selector, Position at);
  Reg element(u32 reg, u32 number, u32 part);
  u32 temporary(Type type);
  Slot guard(const Statement& statement);
  u32 label(const Operand& operand);
  std::string mnemonic() const;

  // Output.
  u32 emit(const Instruction& instruction, std::initializer_list<Slot> read, std::initializer_list<Slot> written,
           Step step = {});
  void mention(Slot slot, bool written, bool surely);
  void finish();
  void assign_slots(const Flow& flow);
  std::string text_of(const Statement& statement);
  void note(const Statement& statement);
  void finish_notes(const SlotMap& slots);

  bool row_is(Traits trait) const { return row_ != nullptr && row_->is(trait); }
  [[noreturn]] void fail(Position at, std::string message) const { throw Failure{at, std::move(message)}; }
  [[noreturn]] void mismatch() const { fail(at_, "Arguments mismatch for instruction '" + current_->opcode + "'"); }
  [[noreturn]] void unknown(const std::string& name) const {
    fail(at_, "Unknown symbol '" + Cursor::shown(name) + "'");
  }

  const Module& module_;
  u32 module_index_, index_;  // index_: of the function, in Program::functions
  const Function& function_;
  u32 file_base_;
  Link& link_;
  Names names_;
  Resolved out_;

  const Statement* current_ = nullptr;
  const Row* row_ = nullptr;  // of the current statement, if it has one
  Position at_;
  std::vector<Type> registers_;  // virtual registers: their types
  std::vector<std::vector<u32>> register_ids_;  // by Function::registers: first part of each number, or kUnset
  std::vector<Mention> mentions_;
  std::vector<Step> steps_;
  std::vector<u32> first_;  // by statement: its first instruction
  u32 variable_align_ = 1;  // the largest of the function's .local variables
  std::unordered_map<std::string_view, u32> writes_;  // statements of an entry function that write to this name
  std::unordered_set<std::string_view> of_parameters_;  // registers that hold a parameter and never anything else
  std::vector<std::pair<u32, Slot>> of_launch_;  // registers that are, all the time, a constant of the launch
  std::vector<std::pair<u32, Code::Index>> indices_;  // registers that are, all the time, a %tid or a %ctaid
  std::unordered_map<Slot, IndexedAddress> addresses_;  // by register
  struct Producer {
    u32 at = 0;  // instruction
    std::vector<Slot> slots;
  };
  struct Definition {  // of a register, in so far as it may hold the address of a shared variable
    enum Kind : u8 { of_variable, copy, sum, unknown } kind = unknown;
    u32 reg = 0, variable = 0;
    std::vector<Slot> from;
  };
  std::vector<Definition> definitions_;
  std::vector<std::pair<u32, Slot>> accesses_;  // statement, base register
  std::vector<Producer> producers_;  // of what is, or was, in addresses_
  std::vector<u32> written_;  // by register: 1 + the last instruction that wrote it
  u32 straight_since_ = 0;  // the first instruction of those that nothing jumps between
  std::vector<u32> local_;  // by Function::variables: offset in the frame, or index of Link::variables
  std::vector<u32> parameter_local_, result_local_;
  std::vector<u32> table_of_;  // by Function::tables: in Code::tables
  std::unordered_map<u64, u32> parameter_registers_;
  std::shared_ptr<Notes> notes_;  // null: not asked for
  std::vector<u32> read_;  // registers that are read, if there are notes
  std::size_t text_at_ = 0;  // a place in the module's text, and its line
  u32 text_line_ = 1;
};

}  // namespace cudasim::ptx
