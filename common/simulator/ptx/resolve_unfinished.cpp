#include "common/simulator/ptx/resolve_unfinished.hpp"

#include "common/simulator/isa/wgmma.hpp"
#include "common/simulator/ptx/draft.hpp"

#include <algorithm>
#include <map>

namespace cudasim::ptx {
namespace {

// For each register: how many groups have been committed since a wgmma began to compute it, on the path with the
// fewest; or that it is finished.
using State = std::vector<u8>;
constexpr u8 kFinished = 0xff, kMostGroups = 0xfe;

// Follows all paths through a function.
class Search {
 public:
  Search(const Body& body, const Flow& flow)
      : flow_(flow), mentions_(body.mentions), registers_(body.registers.size()), kinds_(flow.steps.size()) {
    for (const Unfinished::Step& step : body.unfinished.steps) kinds_[step.instruction] = step;
    first_mention_.assign(flow.steps.size() + 1, 0);
    for (const Mention& mention : mentions_) ++first_mention_[mention.instruction + 1];
    for (std::size_t i = 1; i < first_mention_.size(); ++i) first_mention_[i] += first_mention_[i - 1];
    leader_.assign(flow.steps.size(), false);
    const auto mark = [&](u32 at) {
      if (at < leader_.size()) leader_[at] = true;
    };
    for (const Step& step : flow.steps) mark(step.target);
    for (const auto& table : flow.tables) std::for_each(table.begin(), table.end(), mark);
  }

  // Whether an instruction reads a register that may be unfinished.
  bool run() {
    arrive(0, State(registers_, kFinished));
    while (!waiting_.empty() && !found_) {
      const u32 at = waiting_.back();
      waiting_.pop_back();
      follow(at, states_[at]);
    }
    return found_;
  }

 private:
  void arrive(u32 at, const State& state) {
    const auto [found, made] = states_.try_emplace(at, state);
    bool changed = made;
    for (std::size_t reg = 0; !made && reg < registers_; ++reg) {
      if (state[reg] < found->second[reg]) found->second[reg] = state[reg], changed = true;
    }
    if (changed) waiting_.push_back(at);
  }

  void follow(u32 at, State state) {
    for (u32 i = at; i < flow_.steps.size() && !found_; ++i) {
      if (i != at && leader_[i]) return arrive(i, state);
      execute(i, state);
      const Step& step = flow_.steps[i];
      if (step.target != kUnset) arrive(step.target, state);
      if (step.table != kUnset) {
        for (const u32 target : flow_.tables[step.table]) arrive(target, state);
      }
      if (!step.falls_through) return;
    }
  }

  void execute(u32 i, State& state) {
    const Unfinished::Step& step = kinds_[i];
    const auto begin = mentions_.begin() + first_mention_[i], end = mentions_.begin() + first_mention_[i + 1];
    const auto is_written = [&](u32 reg) {
      return std::any_of(begin, end, [&](const Mention& m) { return !m.read && m.reg == reg; });
    };
    u8 copied = kFinished;
    for (auto mention = begin; mention != end; ++mention) {
      if (!mention->read || state[mention->reg] == kFinished) continue;
      copied = std::min(copied, state[mention->reg]);
      const bool accumulates = step.kind == Unfinished::multiply && is_written(mention->reg);
      found_ |= step.kind != Unfinished::move && !accumulates;
    }
    for (auto mention = begin; mention != end; ++mention) {
      if (!mention->read) state[mention->reg] = step.kind == Unfinished::multiply ? 0 : copied;
    }
    for (u8& groups : state) {
      if (step.kind == Unfinished::commit && groups < kMostGroups) ++groups;
      if (step.kind == Unfinished::wait && groups > step.left) groups = kFinished;
    }
  }

  const Flow& flow_;
  const std::vector<Mention>& mentions_;  // in the order of their instructions
  const std::size_t registers_;
  std::vector<Unfinished::Step> kinds_;
  std::vector<std::size_t> first_mention_;
  std::vector<bool> leader_;
  std::map<u32, State> states_;  // before an instruction that others jump to
  std::vector<u32> waiting_;
  bool found_ = false;
};

}  // namespace

void note_unfinished(Draft& draft, u32 at) {
  const Statement& s = *draft.statement;
  const auto add = [&](Unfinished::Kind kind) {
    draft.body.unfinished.steps.push_back({at, kind, static_cast<u32>(draft.instruction.offset)});
  };
  if (s.opcode == "mov") return add(Unfinished::move);
  if (s.opcode != "wgmma") return;
  if (s.modifiers[0] == "mma_async") add(Unfinished::multiply);
  if (s.modifiers[0] == "commit_group") add(Unfinished::commit);
  if (s.modifiers[0] == "wait_group") add(Unfinished::wait);
}

void defer_unfinished(Body& body, const Flow& flow) {
  const auto& steps = body.unfinished.steps;
  const auto multiplies = [](const Unfinished::Step& step) { return step.kind == Unfinished::multiply; };
  if (std::none_of(steps.begin(), steps.end(), multiplies) || !Search(body, flow).run()) return;
  body.out.code->defers_sums = true;
  std::vector<bool> waits(flow.steps.size(), false), sums(body.registers.size(), false);
  for (const Unfinished::Step& step : steps) {
    if (step.kind == Unfinished::move) continue;
    body.out.code->instructions[step.instruction].control |= kDeferred;
    waits[step.instruction] = step.kind == Unfinished::wait;
  }
  for (const Mention& mention : body.mentions) {
    const auto step =
        std::lower_bound(steps.begin(), steps.end(), mention.instruction,
                         [](const auto& each, u32 instruction) { return each.instruction < instruction; });
    if (step != steps.end() && step->instruction == mention.instruction && multiplies(*step) && !mention.read)
      sums[mention.reg] = true;
  }
  // The waits write the sums, so the registers must keep their places up to there.
  for (u32 i = 0; i < waits.size(); ++i) {
    for (u32 reg = 0; waits[i] && reg < sums.size(); ++reg) {
      if (sums[reg]) body.mentions.push_back({i, reg, false, true});
    }
  }
  std::stable_sort(body.mentions.begin(), body.mentions.end(),
                   [](const Mention& a, const Mention& b) { return a.instruction < b.instruction; });
}

}  // namespace cudasim::ptx
