// An exchange between lanes at different instructions: their operands are copied to registers of its own, where it is
// executed once for all lanes, and its results are copied back.
#include "common/simulator/exec/exchange.hpp"

#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/observer.hpp"

#include <utility>
#include <vector>

namespace cudasim {
namespace {

constexpr u32 kOperands = 6;
constexpr u32 kOperandBytes = 8 * kWarpSize;

// Lanes that take part, where they are.
struct Party {
  u32 lanes = 0;
  const Instruction* at = nullptr;
  Frame* frame = nullptr;
};

Exchanged operand(const Instruction& instruction, u32 index) {
  return static_cast<Exchanged>(instruction.control >> (kExchangedBits * index) & ((1u << kExchangedBits) - 1));
}

bool is_result(Exchanged operand) { return operand == Exchanged::to_word || operand == Exchanged::to_predicate; }

void copy(std::byte* to, const std::byte* from, Exchanged operand, u32 lanes) {
  if (operand == Exchanged::predicate || operand == Exchanged::to_predicate) {
    u32 bits = 0, before = 0;
    std::memcpy(&bits, from, sizeof bits);
    std::memcpy(&before, to, sizeof before);
    bits = (before & ~lanes) | (bits & lanes);
    std::memcpy(to, &bits, sizeof bits);
    return;
  }
  const u32 size = operand == Exchanged::doubleword ? 8 : 4;
  for (const u32 lane : set_bits(lanes)) std::memcpy(to + lane * size, from + lane * size, size);
}

const std::byte* source(const Frame& frame, Slot slot) {
  return ((slot & kConstant) != 0 ? frame.constants : frame.registers) + (slot & ~kConstant);
}

// The fragments of `elsewhere` continue behind their instructions; those of their lanes that are not ready stay.
std::vector<Party> let_go(Warp& warp, const Instruction& instruction, u32 elsewhere) {
  std::vector<Party> parties;
  std::vector<Fragment> gone;
  for (Fragment& f : warp.fragments) {
    const u32 ready = f.lanes & elsewhere;
    if (f.wait != Wait::sync || ready == 0 || !same_exchange(*f.at, instruction)) continue;
    parties.push_back({ready, f.at, f.frame});
    Fragment leaving = f;
    leaving.lanes = ready;
    leaving.wait = Wait::none;
    ++leaving.pc;
    if (ready == f.lanes) {
      f = leaving;
    } else {
      f.lanes &= ~ready;
      gone.push_back(leaving);
    }
  }
  warp.fragments.insert(warp.fragments.end(), gone.begin(), gone.end());
  return parties;
}

// An observer sees the instructions of the others, too.
void show(Warp& warp, const std::vector<Party>& others, const Instruction& own) {
  if (warp.observer == nullptr || !warp.observer->wants_accesses()) return;
  const auto be_in = [&warp](u32 lanes, u32 mask, Frame& frame) {
    warp.lanes = lanes;
    warp.mask = mask;
    warp.frame = &frame;
    warp.base[0] = frame.registers;
    warp.base[1] = const_cast<std::byte*>(frame.constants);
  };
  const u32 lanes = warp.lanes, mask = warp.mask;
  Frame& frame = *warp.frame;
  for (const Party& party : others) {
    be_in(party.lanes, party.lanes, *party.frame);
    warp.observer->begins(warp, *party.frame->code, *party.at, party.lanes);
    warp.observer->executed(warp, *party.frame->code, *party.at, party.lanes);
  }
  be_in(lanes, mask, frame);
  warp.observer->begins(warp, *frame.code, own, mask);
}

}  // namespace

void exchange_apart(Warp& warp, const Instruction& instruction, u32 elsewhere) {
  std::vector<Party> parties = let_go(warp, instruction, elsewhere);
  const std::vector<Party> others = parties;
  parties.push_back({warp.mask, &instruction, warp.frame});

  alignas(64) std::byte registers[kOperands * kOperandBytes] = {};
  Instruction together = instruction;
  together.control |= kGathered;
  for (u32 k = 0; k < kOperands; ++k) {
    const Exchanged kind = operand(instruction, k);
    if (kind == Exchanged::none) continue;
    together.slot[k] = k * kOperandBytes;
    for (const Party& party : parties) {
      if (!is_result(kind))
        copy(registers + k * kOperandBytes, source(*party.frame, party.at->slot[k]), kind, party.lanes);
    }
  }
  const u32 own = warp.mask;
  std::byte* const base = std::exchange(warp.base[0], registers);
  warp.mask |= elsewhere;
  together.run(warp, together);
  warp.mask = own;
  warp.base[0] = base;
  for (u32 k = 0; k < kOperands; ++k) {
    const Exchanged kind = operand(instruction, k);
    if (!is_result(kind)) continue;
    for (const Party& party : parties) {
      if (party.at->slot[k] != kNoSlot)
        copy(party.frame->registers + party.at->slot[k], registers + k * kOperandBytes, kind, party.lanes);
    }
  }
  show(warp, others, instruction);
  plan(warp);
}

}  // namespace cudasim
