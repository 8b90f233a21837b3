// A resolved program: no strings to look up, operands are slots, labels are indices, each instruction a function.
#pragma once
#include "common/simulator/exec/registers.hpp"
#include "common/simulator/types.hpp"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudasim {

struct Compiled;  // exec/compiled.hpp

constexpr std::size_t kConstantAlign = 64;  // of Code::constants, which has room for that

struct CallSite {  // what a call copies; slots are the caller's, offsets are in the frames' local memory
  u32 callee = kNoTarget;  // index in Program::functions; kNoTarget: through `pointer`
  Slot pointer = kNoSlot;
  struct Argument {
    bool in_register = false;
    Slot slot = kNoSlot;  // caller's register (in_register), else
    u32 local = 0;  // the caller's offset in its local memory
    u32 size = 0;  // bytes a thread; 0: a predicate
  };
  std::vector<Argument> results, arguments;
};

// A place in the program that the PTX was compiled from: the `.loc` in force. file 0: unknown.
struct SourceLine {
  u32 file = 0, line = 0, column = 0;
  u32 outer_file = 0, outer_line = 0;  // where the outermost inlined function was called; file 0: nothing was inlined
};

// Kinds of instructions, as the profile counts them.
enum class Class : u8 {
  integer,
  floating,
  convert,
  compare,  // setp, set, selp, slct, testp
  move,  // mov, cvta, special registers
  control,
  warp,  // shfl, vote, match, redux, activemask, elect
  barrier,
  matrix,
  texture,
  load_global,
  store_global,
  atomic_global,
  copy_async,  // cp.async, global to shared
  load_shared,
  store_shared,
  atomic_shared,
  load_local,
  store_local,
  load_constant,  // .const and the kernel's parameters
  memory_other,  // generic addresses, clusters, bulk copies, mbarriers, prefetches
  other,
};
constexpr u32 kClasses = static_cast<u32>(Class::other) + 1;

// What becomes of its operands' bits in its results, for the check of memory that was never written.
enum class Carries : u8 {
  result,  // each result depends on all operands of its lane …
  lanes,  // … or of all lanes
  bits,  // each bit of a result depends on single bits of the operands: mov, and, shl …
  passed_bits,  // … of other lanes: shfl, vote
  loads,  // memory into registers, unchanged
  stores,  // registers into memory, unchanged
  swaps,  // both: atom.exch
  nothing  // what it reads, others find out: atomics, barriers, branches
};

struct StatementInfo {  // for reports, traces and checks
  u32 line = 0;  // in the PTX text
  SourceLine source;
  Carries carries = Carries::result;
  u8 element = 0;  // bytes that a load or store moves at once; 0: it is neither
};

struct Notes;  // ptx/notes.hpp

// A function, ready to run.
struct Code {
  struct Parameter {
    bool in_register = false;
    Slot slot = kNoSlot;
    u32 local = 0;  // device functions: offset in the frame's local memory
    u32 offset = 0;  // entries: offset in the launch's parameter buffer
    u32 size = 0, align = 1;  // size 0: a predicate
  };
  std::string name;
  std::vector<Instruction>
      instructions;  // the last one is the function's only `ret`; every other return branches to it
  // The lanes of a divergent branch meet again at its immediate post-dominator: for a branch at i (bra, brx, call to
  // different targets) reconverge[i] is that index; otherwise kNoTarget.
  std::vector<u32> reconverge;
  std::vector<StatementInfo> statements;
  std::vector<std::byte> constants;  // aligned by ConstantPool
  const std::byte* constant_base = nullptr;
  // Constants that each launch has its own of: parameters of the kernel, what its blocks and its grid measure.
  struct OfLaunch {
    enum Kind : u8 { parameter, block_size, grid_size } kind = parameter;
    u32 index = 0;  // of a parameter's byte; 0 for x, 1 for y, 2 for z
    u32 at = 0;  // in the constants
    u32 bytes = 0;
  };
  std::vector<OfLaunch> of_launch;
  // Registers that the beginning of a block writes, and no instruction.
  struct Index {
    enum Kind : u8 { thread, block } kind = thread;
    u32 axis = 0;  // 0 for x, 1 for y, 2 for z
    Slot slot = kNoSlot;
  };
  std::vector<Index> indices;
  // Which registers and constants of the launch each instruction reads and writes, for compile/ and watch/.
  struct Use {
    u32 instruction = 0;
    Slot slot = kNoSlot;
    bool written = false;
    bool address = false;  // of memory
    u8 bytes = 0;  // a lane; 0: a predicate
  };
  std::vector<Use> uses;
  bool defers_sums = false;  // some are written to registers by a later instruction (ptx/resolve_unfinished.hpp)
  // What compile/ has made of the function, by the shape of the blocks; null: nothing yet.
  static constexpr u32 kShapes = 4;
  mutable std::array<std::atomic<const Compiled*>, kShapes> compiled{};
  mutable std::array<std::atomic<bool>, kShapes> looked{}, refused{};  // in the cache; asked for, or not to be had
  mutable std::atomic<i64> spent{0};  // instructions that its launches have executed
  std::vector<std::vector<Slot>> wide;  // what Instruction::wide points to
  std::vector<std::vector<u32>> tables;  // brx.idx: indices of instructions
  std::vector<CallSite> calls;  // Instruction::target of a call is an index in here
  u32 frame_bytes = 0;  // registers of one warp's frame
  u32 local_bytes = 0;  // local memory of one thread's frame: .local and .param variables
  u32 variable_bytes = 0;  // of it what a GPU has there, too: .local variables
  u32 registers_32bit = 0;  // an estimate of what a compiler would allocate, for occupancy
  std::vector<Parameter> results, parameters;
  // By statement: 1 + the shared variable (Kernel::shared_offset) that its address is made of, 0 if that is not known.
  // Empty unless CUDASIM_CHECK=memory asks for it.
  std::vector<u32> shared_variable_of;
  std::shared_ptr<const Notes> notes;  // null unless CUDASIM_PROFILE or CUDASIM_TRACE=ptx asks for them
};

// An instruction of a function, for reports.
struct Site {
  const Code* code = nullptr;
  const Instruction* instruction = nullptr;
  bool operator==(const Site& other) const { return instruction == other.instruction; }
};

// A kernel's performance-tuning directives. 0: the text does not give it.
struct Directives {
  Dim3 max_threads{0, 0, 0}, required_threads{0, 0, 0}, required_cluster{0, 0, 0};
  u32 max_registers = 0, min_blocks = 0, max_cluster_rank = 0;
  bool explicit_cluster = false, blocks_are_clusters = false;
};

// An entry function, as the launch sees it.
struct Kernel {
  std::string name;
  u32 function = 0;  // index in Program::functions
  u32 parameter_bytes = 0;
  u32 static_shared = 0;  // bytes of shared variables that it or a function it calls names
  u32 dynamic_shared_align = 16;
  struct SharedVariable {
    std::string name;
    u32 offset = 0;
    u64 size = 0;  // 0: dynamic
  };
  std::vector<SharedVariable> shared_variables;  // in the order of their offsets, for reports
  std::map<u32, u32> shared_offset;  // shared variable (its id) → offset in the block's shared memory
  u32 local_bytes = 0;  // the deepest chain of calls that is known at load time
  u32 stack_bytes = 0;  // the same as programs see it: Code::variable_bytes
  u32 constant_bytes = 0;
  u32 registers = 0;
  u32 barriers = 0;
  bool reserved_shared = false;  // it or a function it calls asks where the system's part of shared memory is
  u32 builtins = 0;  // that it or a function it calls names: a bit for each Builtin (pseudo.hpp)
  Directives directives;
};

struct Global {  // a variable of the module in device memory
  std::string name;
  u64 address = 0, size = 0;
  Space space = Space::global;
  bool managed = false, visible = true;
};

// Kernels whose names begin so are the device runtime's own: launched by address, and not to be found by name.
constexpr const char* kRuntimeKernels = "cudasim_";
// The variable in which kernels store the parameters of those that they launch (state/launches/children.hpp).
constexpr const char* kChildTable = "cudasim_children";

// A loaded module. Immutable once made; shared by every launch that runs it.
struct Program {
  u32 ptx_version = 0, target = 0;
  std::vector<std::string> files;
  std::vector<std::unique_ptr<Code>> functions;
  std::vector<Kernel> kernels, runtime_kernels;
  std::vector<Global> globals;
  std::map<std::string, u32> texture_references, surface_references, sampler_references;
  std::shared_ptr<const std::string> text;
};

}  // namespace cudasim
