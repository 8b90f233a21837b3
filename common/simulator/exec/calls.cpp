// Calls and returns: frames, and what is copied between them.
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/builtins.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"

#include <algorithm>

namespace cudasim {
namespace {

constexpr u32 kCallCost = 16;  // bytes of stack that a call takes at least: a recursion without variables ends too
constexpr u64 kFunctionStride = 16;

const std::byte* register_of(const Passed& passed) {
  const bool constant = (passed.slot & kConstant) != 0;
  return (constant ? passed.frame->constants : passed.frame->registers) + (passed.slot & ~kConstant);
}

void copy(Warp& warp, const Passed& to, const Passed& from, u32 size) {
  if (warp.observer != nullptr) warp.observer->passed(warp, to, from, size);
  std::byte* const target = to.in_register ? const_cast<std::byte*>(register_of(to)) : nullptr;
  const std::byte* const source = from.in_register ? register_of(from) : nullptr;
  if (size == 0) {  // a predicate: one word for all lanes
    u32 bits = 0, before = 0;
    std::memcpy(&bits, source, sizeof bits);
    std::memcpy(&before, target, sizeof before);
    bits = (before & ~warp.mask) | (bits & warp.mask);
    std::memcpy(target, &bits, sizeof bits);
    return;
  }
  for_lanes(warp.mask, [&](u32 lane) {
    std::memcpy(to.in_register ? target + lane * size : warp.block->local(warp, lane) + to.local,
                from.in_register ? source + lane * size : warp.block->local(warp, lane) + from.local, size);
  });
}

Passed place_of(const Frame& frame, const CallSite::Argument& a) {
  return {&frame, a.in_register, a.slot, frame.local_base + a.local};
}
Passed place_of(const Frame& frame, const Code::Parameter& p) {
  return {&frame, p.in_register, p.slot, frame.local_base + p.local};
}

[[noreturn]] void fault(const Warp& warp, FaultKind kind, std::string what) {
  throw Fault{.kind = kind, .what = std::move(what), .lane = first_lane(warp.mask)};
}

u32 local_end(const Frame& frame) {
  u32 end = frame.local_base + frame.code->local_bytes;
  for (const u32 top : frame.tops) end = std::max(end, top);
  return end;
}

bool fits(const std::vector<CallSite::Argument>& passed, const std::vector<Code::Parameter>& wanted) {
  if (passed.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (passed[i].size != wanted[i].size) return false;
  }
  return true;
}

// The frame of the same call that other lanes have made and have not returned from, or null. Lanes that a spin has
// delayed call later than their neighbors, which wait for them inside the function: without optimization, a compiler
// makes each warp-wide operation a function of its own.
Frame* call_under_way(const Warp& warp, const Frame& caller, const CallSite& site, const Code& callee, u32 base) {
  const auto find = [&](Frame* frame) -> Frame* {
    while (frame->depth > caller.depth + 1) frame = frame->caller;
    const bool same = frame->caller == &caller && frame->site == &site && frame->code == &callee;
    return same && frame->local_base == base ? frame : nullptr;
  };
  for (const Fragment& each : warp.fragments) {
    if (Frame* frame = find(each.frame)) return frame;
  }
  for (const Join* each : warp.joins) {
    if (Frame* frame = find(each->frame)) return frame;
  }
  return nullptr;
}

void come_later(Frame& frame, u32 lanes, Join* join) {
  for (Frame::Later& each : frame.later) {
    if (each.lanes != 0 && each.caller_join != join) continue;
    each.caller_join = join;
    each.lanes |= lanes;
    return;
  }
  frame.later.push_back({lanes, join});
}

void call(Warp& warp, const CallSite& site, u32 function) {
  const Program& program = warp.block->grid->program;
  const Code& callee = *program.functions[function];
  Frame& caller = *warp.frame;
  if (!fits(site.arguments, callee.parameters) || site.results.size() > callee.results.size())
    fault(warp, FaultKind::invalid_pc,
          "call of '" + demangled(callee.name) + "' with parameters that do not match its definition");
  const u32 base = (local_end(caller) + kCallCost + 15) / 16 * 16;
  if (u64{base} + callee.local_bytes > warp.block->grid->local_bytes) {
    fault(warp, FaultKind::stack_overflow,
          "call of '" + demangled(callee.name) + "' at depth " + std::to_string(caller.depth + 1) + ": " +
              no_stack_left(*warp.block->grid));
  }
  leave_rest_behind(warp);
  if (warp.observer != nullptr) warp.observer->local_is_new(warp, base, callee.local_bytes);
  Frame* frame = alone(warp) ? nullptr : call_under_way(warp, caller, site, callee, base);
  if (frame != nullptr) {
    frame->lanes |= warp.mask;
    if (frame->caller_join != warp.join) come_later(*frame, warp.mask, warp.join);
    for (const u32 lane : set_bits(frame->tops.empty() ? 0 : warp.mask)) frame->tops[lane] = base + callee.local_bytes;
  } else {
    frame = new_frame(callee);
    frame->caller = &caller;
    frame->caller_join = warp.join;
    frame->site = &site;
    frame->return_pc = warp.pc;
    frame->lanes = warp.mask;
    frame->local_base = base;
    frame->depth = caller.depth + 1;
    if (warp.observer != nullptr) warp.observer->frame_is_new(*frame);
  }
  for (std::size_t i = 0; i < callee.parameters.size(); ++i)
    copy(warp, place_of(*frame, callee.parameters[i]), place_of(caller, site.arguments[i]), site.arguments[i].size);
  enter(warp, frame, 0, nullptr);
}

// Lanes may call different functions: those with the first one's target go, the others come to this instruction again.
u32 function_called(Warp& warp, const Instruction& instruction, const CallSite& site) {
  const u64* pointers = warp.in<u64>(site.pointer);
  const u32 first = first_lane(warp.mask);
  const u64 target = pointers[first];
  const u32 same = lanes_where(warp.mask, [&](u32 lane) { return pointers[lane] == target; });
  if (same != warp.mask) {
    leave_rest_behind(warp);  // those that the guard excludes
    split_off(warp, warp.mask & ~same, index_of(warp, instruction), warp.pc);
    warp.mask = same;
  }
  const auto& functions = warp.block->grid->program.functions;
  const u64 index = (target - kCodeWindow) / kFunctionStride;
  if (target < kCodeWindow || target % kFunctionStride != 0 || index >= functions.size()) {
    fault(warp, FaultKind::invalid_pc, "call through " + hex(target) + ", which is not the address of a function");
  }
  return static_cast<u32>(index);
}

}  // namespace

void run_call(Warp& warp, const Instruction& instruction) {
  const CallSite& site = warp.frame->code->calls[instruction.target];
  u32 callee = site.callee;
  if (callee == kNoTarget) callee = function_called(warp, instruction, site);
  if (callee >= kBuiltin)
    call_builtin(warp, site, static_cast<Builtin>(callee - kBuiltin));
  else
    call(warp, site, callee);
}

void run_return(Warp& warp, const Instruction&) {
  Frame* frame = warp.frame;
  if (frame->caller == nullptr) return exit_lanes(warp);
  if (warp.mask != warp.lanes) fault(warp, FaultKind::invalid_pc, "not all lanes reach the end of the function");
  Frame* caller = frame->caller;
  const CallSite& site = *frame->site;
  for (std::size_t i = 0; i < site.results.size(); ++i)
    copy(warp, place_of(*caller, site.results[i]), place_of(*frame, frame->code->results[i]), site.results[i].size);
  leave_frame(warp);
}

}  // namespace cudasim
