// Control flow. PTX ISA, "Control Flow Instructions" and "Miscellaneous Instructions"; the resolver binds bra, brx.idx,
// call and ret itself.
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/isa/row.hpp"
#include "common/simulator/numbers.hpp"

namespace cudasim {

void run_branch(Warp& warp, const Instruction& instruction) {
  if (warp.mask == warp.lanes) {
    warp.pc = instruction.target;
    if (!alone(warp)) plan(warp);
    return;
  }
  diverge(warp, instruction.target, warp.frame->code->reconverge[index_of(warp, instruction)]);
}

// Lanes with the first one's target go there, the others come to this instruction again.
void run_branch_indexed(Warp& warp, const Instruction& instruction) {
  const Code& code = *warp.frame->code;
  const std::vector<u32>& table = code.tables[instruction.target];
  const u32* indices = warp.in<u32>(instruction.slot[0]);
  const u32 first = first_lane(warp.mask);
  const u32 index = indices[first];
  if (index >= table.size()) {
    throw Fault{.kind = FaultKind::invalid_pc,
                .what = "brx.idx to entry " + std::to_string(index) + " of a table of " + std::to_string(table.size()),
                .lane = first};
  }
  const u32 same = lanes_where(warp.mask, [&](u32 lane) { return indices[lane] == index; });
  const u32 here = index_of(warp, instruction);
  const u32 meet = code.reconverge[here];
  const u32 others = warp.mask & ~same;
  if (others != 0) split_off(warp, others, here, meet);
  warp.mask = same;
  if (warp.lanes == same) {
    warp.pc = table[index];
    plan(warp);
  } else {
    diverge(warp, table[index], meet);
  }
}

namespace {

void run_exit(Warp& warp, const Instruction&) { exit_lanes(warp); }

// Cooperative groups end a kernel so if its launch has given them nothing to synchronize a grid with.
[[noreturn]] void run_trap(Warp& warp, const Instruction&) {
  const bool lacks_workspace = warp.block->grid->lacks_workspace();
  throw Fault{
      .kind = FaultKind::trap,
      .what = std::string("the kernel has executed `trap`") +
              (lacks_workspace ? ": it synchronizes its grid (grid.sync()), but was not launched as cooperative "
                                 "(cuLaunchCooperativeKernel, cudaLaunchCooperativeKernel)"
                               : ""),
      .lane = first_lane(warp.mask)};
}

[[noreturn]] void run_breakpoint(Warp& warp, const Instruction&) {
  throw Fault{.kind = FaultKind::breakpoint,
              .what = "the kernel has executed `brkpt`, and no debugger is there",
              .lane = first_lane(warp.mask)};
}

void run_rest(Warp& warp, const Instruction&) { warp.rest(); }
void run_nothing(Warp&, const Instruction&) {}

// PTX ISA, "Stack Manipulation Instructions".
u32 top_of(Warp& warp, u32 lane) {
  Frame& frame = *warp.frame;
  if (frame.tops.empty()) frame.tops.assign(kWarpSize, frame.local_base + frame.code->local_bytes);
  return frame.tops[lane];
}

template <class Address>
void run_stacksave(Warp& warp, const Instruction& i) {
  Address* d = warp.out<Address>(i.slot[0]);
  for (const u32 lane : set_bits(warp.mask)) {
    d[lane] = top_of(warp, lane);
  }
}

template <class Address>
void run_stackrestore(Warp& warp, const Instruction& i) {
  const Address* a = warp.in<Address>(i.slot[0]);
  const u32 least = warp.frame->local_base + warp.frame->code->local_bytes;
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 top = top_of(warp, lane);
    if (a[lane] < least || a[lane] > top) {
      throw Fault{.kind = FaultKind::illegal_instruction,
                  .what = "stackrestore of a value that no stacksave of this function has given",
                  .lane = lane};
    }
    warp.frame->tops[lane] = static_cast<u32>(a[lane]);
  }
}

// The alignment is Instruction::offset; 0: not given, 8.
template <class Address>
void run_alloca(Warp& warp, const Instruction& i) {
  Address* d = warp.out<Address>(i.slot[0]);
  const Address* size = warp.in<Address>(i.slot[1]);
  const u64 align = i.offset != 0 ? static_cast<u64>(i.offset) : 8;
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 at = round_up(top_of(warp, lane), align);
    if (size[lane] > warp.block->grid->local_bytes || at + size[lane] > warp.block->grid->local_bytes) {
      throw Fault{.kind = FaultKind::stack_overflow,
                  .what = "alloca of " + std::to_string(size[lane]) + " bytes: " + no_stack_left(*warp.block->grid),
                  .lane = lane};
    }
    d[lane] = static_cast<Address>(at);
    warp.frame->tops[lane] = static_cast<u32>(at + size[lane]);
  }
}

template <Handler run>
Bound bind(const Form&) {
  return run;
}
template <Handler narrow, Handler wide>
Bound bind_address(const Form& form) {
  return bits(form.type[0]) == 32 ? narrow : wide;
}

const Row kRows[] = {
    {"exit", "", bind<run_exit>, 0, 0, kEnds | counts_as(Class::control)},
    {"trap", "", bind<run_trap>, 0, 0, kEnds | counts_as(Class::control)},
    {"brkpt", "", bind<run_breakpoint>, 0, 0, counts_as(Class::control)},
    // How long it sleeps is the device's choice, between nothing and twice the time asked for: here, one turn.
    {"nanosleep.u32", "u32", bind<run_rest>, 63, 70, counts_as(Class::barrier)},
    // Events that only a profiler on the device sees.
    {"pmevent", "imm", bind<run_nothing>},
    {"pmevent.mask", "imm", bind<run_nothing>},
    // Grids of a stream run one after the other here, so what the other grid has to do is done.
    {"griddepcontrol.launch_dependents|wait", "", bind<run_nothing>, 78, 90, counts_as(Class::barrier)},
    // Registers are not rationed here.
    {"setmaxnreg.inc|dec.sync.aligned.u32", "imm(24-256/8)", bind<run_nothing>, 80, kOnly90a},
    {"stacksave.u32|u64", "=t0", bind_address<run_stacksave<u32>, run_stacksave<u64>>, 73, 52},
    {"stackrestore.u32|u64", "t0", bind_address<run_stackrestore<u32>, run_stackrestore<u64>>, 73, 52},
    {"alloca.u32|u64", "=t0 t0 imm?", bind_address<run_alloca<u32>, run_alloca<u64>>, 73, 52},
};

}  // namespace

bool is_alloca(Handler handler) { return handler == run_alloca<u32> || handler == run_alloca<u64>; }

std::span<const Row> control_rows() { return kRows; }

}  // namespace cudasim
