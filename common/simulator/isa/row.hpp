// One instruction form is one row: how the PTX manual writes it, what its operands are, and the function that runs it.
//
//   {"add{.rnd}{.ftz}{.sat}.f32", "=f32 f32 f32", bind_add_float}
//
// Syntax, as in the manual: {…} is optional (all or nothing, if it holds several), `|` separates alternatives, a name
// out of sets.hpp stands for its alternatives (`.rnd` for `.rn|rz|rm|rp`), a type's name is a type. Modifiers match in
// any order (compilers write `ex2.approx.f32.ftz`), types only in theirs. A modifier that no row of the opcode admits
// is refused: nothing is ever ignored.
//
// Operands, in order, separated by blanks:
//   f32, b64, pred …   a register or constant of exactly this width       =…   written instead of read
//   t0, t1, t2, t3     of the width of the first, second … type           w0   twice as wide as the first type
//   …~                 the register may be wider than the type (ld, st, cvt); the widths are in Form::width
//   [m]                a memory operand: base slot and Instruction::offset
//   …^pred, …^{b32}4   or a predicate, or four registers: Form::predicate tells which
//   {…}v, {…}4         a vector of Form::vector elements, of four         …?   may be left out (kNoSlot)
//   ….sel              parts of the register may be selected (video)
//   +…                 read and written
//   |pred              the second destination of p|q; may be left out
//   |-                 a handler has a place for one, but this row has none
//   =…_                the destination may be `_`: the instruction has other effects
//   …!                 must be there (a second destination), must be a number (a source)
//   …(4|8), …(0-255), …(24-256/8)  if it is a number, then one of these; of 24 to 256, a multiple of 8
//   barrier, threads   the number of one of the block's 16 barriers; how many threads meet there, whole warps
//   label, func, imm   as named, in Instruction::target or offset
// rules() has them taken apart.
//
// A memory operand without a base register (kNoSlot) means, in Form::space: local: the offset is relative to the
// frame's local memory (.local variables, and the .param variables of device functions and of calls, for which the
// resolver makes the space local); param: the offset in the launch's parameters; shared: in the block's shared memory;
// global, constant and generic: the address itself. With a base register: the address is base + offset, in local space
// an offset in the thread's whole local memory (local_address_handler makes such), .const variables have global
// addresses. If there are several memory operands, only the first has its offset in the instruction; the offsets of the
// others are added beforehand, and Form::width has the widths of their registers.
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/types.hpp"

#include <array>
#include <optional>
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
  std::array<u8, 8> width{};  // bytes of each operand's register (constants: of the type); 0: not there
  std::array<std::string_view, 8>
      selector{};  // what a video instruction selects of an operand: "b0", "h10"; empty: all
  u32 address_bytes = 8;  // of the memory operand's base register
  u32 scale = 0;  // what its index register counts, in bytes; 0: it has none (kTakesIndex)
  bool index_signed = false;
  u32 predicate = 0;  // operands that took what their ^ allows instead, a bit each

  bool has(std::string_view modifier) const;
};

// What a form becomes: the function that runs it, and what that function finds in Instruction::control (what would make
// too many functions if it were all template arguments).
struct Bound {
  Handler run = nullptr;  // null: this combination does not exist
  u32 control = 0;
  Bound(Handler run = nullptr, u32 control = 0) : run(run), control(control) {}
};

// Chooses the function that runs `form`, once the widths are known.
using Bind = Bound (*)(const Form& form);

// What else the loader has to know of a row, a bit each.
enum Traits : u32 {
  kEnds = 1,  // the thread is at its end here
  kWithoutSync = 2,  // on sm_70 and higher only until PTX ISA 6.3
  kMeets = 4,  // threads of a block, or of a cluster, wait here for one another
  kAtomic = 8,  // changes memory, whether the old value is used or not
  kSharedOffset = 16,  // knows what an address without a register means in shared memory, in a cluster, too
  kTakesSpecial = 32,  // a source may be a special register …
  kTakesAddress = 64,  // … or the name of a variable or function: its address
  kSum = 128,  // the first operand is the sum of the others …
  kWideProduct = 256,  // … or twice as wide as two, and their product; plus a third, if there is one
  kTakesIndex = 512,  // the address may have an index register (Form::scale), in the slot behind address and elements
  kFirstOn90 = 1024,  // on sm_90 since PTX ISA 7.8, on sm_89 since 8.1
  kMovesBits = 2048,  // each bit of a result depends on single bits of the operands
  kClass = 1u << 16,  // and above: counts_as()
};
// Of a row that the profile counts as another class than its family.
constexpr u32 counts_as(Class kind) { return (static_cast<u32>(kind) + 1) * kClass; }

struct Row {
  const char* syntax;
  const char* operands;
  Bind bind;
  u32 ptx = 0;  // first PTX version, 78 for 7.8; 0: as old as 6.0, or older
  u32 target = 0;  // first architecture, 90 for sm_90
  u32 traits = 0;

  bool is(Traits trait) const { return (traits & trait) != 0; }
};
constexpr u32 kMaxScale = 0xfff;  // Form::scale
constexpr u32 kOnly90a = 901;  // Row::target of what sm_90a alone has

// The families of instructions, each with the class of its rows: load_global, store_global and atomic_global stand for
// those of whichever state space an instruction names. A family's file, isa/<family>.cpp, defines its rows,
// std::span<const Row> <family>_rows(); table.cpp joins them.
#define CUDASIM_FAMILIES(f)                                                                                        \
  f(arithmetic, integer) f(float, floating) f(logic, integer) f(compare, compare) f(convert, convert)              \
      f(load, load_global) f(store, store_global) f(address, move) f(cache, memory_other) f(atomic, atomic_global) \
          f(control, other) f(warp, warp) f(barrier, barrier) f(mbarrier, barrier) f(async, memory_other)          \
              f(tensor, memory_other) f(matrix, matrix) f(ldmatrix, matrix) f(wgmma, matrix) f(texture, texture)   \
                  f(surface, texture) f(video, integer)
#define CUDASIM_ROWS_OF(family, kind) std::span<const Row> family##_rows();
CUDASIM_FAMILIES(CUDASIM_ROWS_OF)
#undef CUDASIM_ROWS_OF

// The class of a row, without regard to state spaces.
Class own_class(const Row& row);

// One operand of a row's signature.
struct OperandRule {
  enum Kind : u8 { value, memory, label, function, immediate } kind = value;
  Type type = Type::none;  // of a value, if it is fixed …
  i8 of = -1;  // … else which of the form's types says it
  bool twice = false;  // twice as wide as that type
  bool written = false, wider = false, optional = false, second = false, selected = false, or_predicate = false,
       or_fragment = false, updated = false;
  bool vector = false;  // in braces, even if it has one element
  u32 elements = 1;  // kVector: Form::vector
  static constexpr u32 kVector = ~0u;
  bool discardable = false;  // `_` will do
  bool never = false;  // nothing may be there
  bool must = false;  // a second destination must be there; a source must be a number
  enum Means : u8 { anything, barrier, threads } means = anything;
  struct Numbers {
    std::vector<u64> some;  // these; empty: from … to, in steps
    u64 from = 0, to = ~u64{0}, step = 1;
    bool operator()(u64 number) const;
    bool is_range() const { return some.empty() && step == 1; }
    std::string text() const;  // "4 or 8", "a multiple of 8 from 24 to 256", "[0..255]"
  };
  std::optional<Numbers> numbers;  // if it is a number
};
// Bytes of one element's register in `form`, at least (wider) or exactly; 0: a predicate.
u32 width(const OperandRule& rule, const Form& form);

// A row's signature, parsed; throws std::logic_error if it is malformed.
std::vector<OperandRule> rules(const Row& row);

struct Match {
  const Row* row = nullptr;
  const std::vector<OperandRule>* operands = nullptr;  // the row's; lives as long as the program
  Form form;
  // If row is null: what is wrong, by name ("Unknown modifier '.foo'", "Not a name of any known instruction:
  // 'frobnicate'"), and whether the manual has it, only the simulator does not.
  std::string refusal;
  bool not_simulated = false;
};
// Finds the row for an opcode and its modifiers; does not bind yet (the widths are not known). Whether the module's
// version and target allow the row, the caller decides. Thread-safe.
Match match(std::string_view opcode, std::span<const std::string> modifiers);

// Every row of every family, for the test of the table.
std::vector<Row> all_rows();

// Each full form that a row admits, "add.rn.ftz.f32", modifiers in the row's order: for the test of the table. Stops at
// `limit` forms.
std::vector<std::string> forms(const Row& row, std::size_t limit);

// The alternatives of each modifier of a row's syntax, likewise.
struct Alternatives {
  std::vector<std::string_view> words;
  bool is_type = false;
};
std::vector<Alternatives> alternatives(const Row& row);

}  // namespace cudasim
