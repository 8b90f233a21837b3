// Control flow of one function: basic blocks, immediate post-dominators, intervals of registers.
#include "common/simulator/ptx/flow.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cudasim::ptx {
namespace {

constexpr u32 kNone = ~0u;

struct Blocks {
  std::vector<u32> begin;  // first instruction of each; one more at the end
  std::vector<u32> of;     // the block of each instruction
  std::vector<std::vector<u32>> successors;
  std::vector<bool> ends;  // a block whose lanes may end there
  u32 count() const { return static_cast<u32>(begin.size()) - 1; }
};

Blocks split(const Flow& flow) {
  const u32 size = static_cast<u32>(flow.steps.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = leader[size - 1] = true;
  const auto mark = [&](u32 at) {
    if (at < size) leader[at] = true;
  };
  for (u32 i = 0; i < size; ++i) {
    const Step& step = flow.steps[i];
    if (step.target != kNone) mark(step.target);
    if (step.table != kNone) {
      for (u32 target : flow.tables[step.table]) mark(target);
    }
    if (step.target != kNone || step.table != kNone || step.ends || !step.falls_through) mark(i + 1);
  }
  Blocks blocks;
  blocks.of.resize(size);
  for (u32 i = 0; i < size; ++i) {
    if (leader[i]) blocks.begin.push_back(i);
    blocks.of[i] = static_cast<u32>(blocks.begin.size()) - 1;
  }
  blocks.begin.push_back(size);
  blocks.successors.resize(blocks.count());
  blocks.ends.resize(blocks.count());
  for (u32 b = 0; b < blocks.count(); ++b) {
    const u32 last = blocks.begin[b + 1] - 1;
    const Step& step = flow.steps[last];
    auto& out = blocks.successors[b];
    if (step.falls_through && last + 1 < size) out.push_back(blocks.of[last + 1]);
    if (step.target != kNone) out.push_back(blocks.of[step.target]);
    if (step.table != kNone) {
      for (u32 target : flow.tables[step.table]) out.push_back(blocks.of[target]);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    blocks.ends[b] = step.ends;
  }
  return blocks;
}

// Immediate post-dominators, by the algorithm of Cooper, Harvey and Kennedy on the graph turned round.
//
// Lanes that end (exit, trap; in an entry also a conditional branch to its ret) never come to a meeting point, so the
// others must not wait for them there: such edges do not count as long as a block has another way to go.
class PostDominators {
 public:
  PostDominators(const Flow& flow, const Blocks& blocks) : blocks_(blocks), root_(blocks.count()) {
    const u32 count = blocks.count(), last = count - 1;
    successors_ = blocks.successors;
    const bool only_returns = flow.is_entry && blocks.begin[last] + 1 == blocks.begin[count];
    if (only_returns) {
      for (auto& out : successors_) {
        if (out.size() > 1) out.erase(std::remove(out.begin(), out.end(), last), out.end());
      }
    }
    predecessors_.resize(count);
    for (u32 b = 0; b < count; ++b) {
      for (u32 to : successors_[b]) predecessors_[to].push_back(b);
    }
    reached_.assign(count, false);
    // Ways to end, the usual one first: the ret; blocks that end by themselves; loops without an end.
    claim({last});
    std::vector<u32> ends;
    for (u32 b = 0; b < count; ++b) {
      if (!reached_[b] && blocks.ends[b]) ends.push_back(b);
    }
    claim(ends);
    claim(latches());
    solve();
  }

  // The block where the lanes that leave `block` meet; kNone: nowhere.
  u32 of(u32 block) const { return dominator_[block] == root_ ? kNone : dominator_[block]; }

 private:
  // Takes in, as ways to end, `starts` and all that leads to one of them. What was taken in before keeps its ways to
  // go; the edges from it to blocks taken in later do not count.
  void claim(const std::vector<u32>& starts) {
    ++generation_;
    generation_of_.resize(reached_.size(), 0);
    std::vector<std::pair<u32, std::size_t>> stack;
    for (u32 start : starts) {
      if (reached_[start]) continue;
      exits_.push_back(start);
      reached_[start] = true;
      generation_of_[start] = generation_;
      stack.emplace_back(start, 0);
      while (!stack.empty()) {
        auto& [block, next] = stack.back();
        if (next < predecessors_[block].size()) {
          const u32 from = predecessors_[block][next++];
          if (reached_[from]) continue;
          reached_[from] = true;
          generation_of_[from] = generation_;
          stack.emplace_back(from, 0);
        } else {
          post_order_.push_back(block);
          stack.pop_back();
        }
      }
    }
  }

  // Sources of the edges that close a loop, among blocks that lead nowhere else.
  std::vector<u32> latches() const {
    const u32 count = blocks_.count();
    std::vector<u32> found;
    std::vector<u8> state(count, 0);  // 1: on the path, 2: done
    std::vector<std::pair<u32, std::size_t>> stack;
    for (u32 start = 0; start < count; ++start) {
      if (state[start] != 0 || reached_[start]) continue;
      state[start] = 1;
      stack.emplace_back(start, 0);
      while (!stack.empty()) {
        auto& [block, next] = stack.back();
        if (next < successors_[block].size()) {
          const u32 to = successors_[block][next++];
          if (state[to] == 1) found.push_back(block);
          if (state[to] == 0 && !reached_[to]) {
            state[to] = 1;
            stack.emplace_back(to, 0);
          }
        } else {
          if (successors_[block].empty()) found.push_back(block);
          state[block] = 2;
          stack.pop_back();
        }
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void solve() {
    dominator_.assign(root_ + 1, kNone);
    number_.assign(root_ + 1, 0);
    for (u32 i = 0; i < post_order_.size(); ++i) number_[post_order_[i]] = i;
    number_[root_] = static_cast<u32>(post_order_.size());
    dominator_[root_] = root_;
    std::vector<bool> is_exit(root_ + 1, false);
    for (u32 block : exits_) is_exit[block] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto at = post_order_.rbegin(); at != post_order_.rend(); ++at) {
        u32 meeting = is_exit[*at] ? root_ : kNone;
        for (u32 to : successors_[*at]) {
          if (generation_of_[to] > generation_of_[*at] || dominator_[to] == kNone) continue;
          meeting = meeting == kNone ? to : intersect(meeting, to);
        }
        if (meeting != dominator_[*at]) {
          dominator_[*at] = meeting;
          changed = true;
        }
      }
    }
  }

  u32 intersect(u32 a, u32 b) const {
    while (a != b) {
      while (number_[a] < number_[b]) a = dominator_[a];
      while (number_[b] < number_[a]) b = dominator_[b];
    }
    return a;
  }

  const Blocks& blocks_;
  u32 root_;
  std::vector<std::vector<u32>> successors_, predecessors_;
  std::vector<bool> reached_;
  u32 generation_ = 0;
  std::vector<u32> generation_of_, exits_, post_order_, dominator_, number_;
};

}  // namespace

std::vector<u32> reconvergence(const Flow& flow) {
  std::vector<u32> meet(flow.steps.size(), kNone);
  if (flow.steps.empty()) return meet;
  const Blocks blocks = split(flow);
  const PostDominators dominators(flow, blocks);
  for (u32 i = 0; i < flow.steps.size(); ++i) {
    const Step& step = flow.steps[i];
    const bool branches = step.table != kNone || (step.target != kNone && step.falls_through);
    if (!branches) continue;
    const u32 block = dominators.of(blocks.of[i]);
    if (block != kNone) meet[i] = blocks.begin[block];
  }
  return meet;
}

namespace {

constexpr u64 kMostLivenessWords = u64{1} << 18;
constexpr int kMostPasses = 50;

// Stretches of the text that may run again, those that touch made one: sorted, and apart from each other.
std::vector<Interval> loops(const Flow& flow) {
  std::map<u32, u32> furthest;  // backward edges: the last source by target
  const auto note = [&](u32 source, u32 target) {
    if (target <= source) furthest[target] = std::max(furthest[target], source);
  };
  for (u32 i = 0; i < flow.steps.size(); ++i) {
    const Step& step = flow.steps[i];
    if (step.target != kNone) note(i, step.target);
    if (step.table == kNone) continue;
    for (u32 target : flow.tables[step.table]) note(i, target);
  }
  std::vector<Interval> all;
  for (const auto& [target, source] : furthest) {
    if (!all.empty() && target <= all.back().last) {
      all.back().last = std::max(all.back().last, source);
    } else {
      all.push_back({target, source});
    }
  }
  return all;
}

// The registers whose values pass from one block to another: those not set before all their uses in a single block.
std::vector<u32> travellers(const Blocks& blocks, const std::vector<Mention>& mentions, u32 registers) {
  std::vector<u32> block_of(registers, kNone);
  std::vector<bool> travels(registers, false);
  for (const Mention& mention : mentions) {
    const u32 block = blocks.of[mention.instruction];
    if (block_of[mention.reg] == kNone) {
      block_of[mention.reg] = block;
      travels[mention.reg] = !mention.written;
    } else if (block_of[mention.reg] != block) {
      travels[mention.reg] = true;
    }
  }
  std::vector<u32> found;
  for (u32 reg = 0; reg < registers; ++reg) {
    if (travels[reg]) found.push_back(reg);
  }
  return found;
}

void extend(Interval& interval, u32 first, u32 last) {
  interval.first = std::min(interval.first, first);
  interval.last = std::max(interval.last, last);
}

// Without working out where a value is needed: what touches a loop is kept for all of it.
void keep_through_loops(const Flow& flow, const std::vector<u32>& regs, std::vector<Interval>& all) {
  const std::vector<Interval> stretches = loops(flow);
  const auto around = [&](u32 at) -> const Interval* {
    auto next = std::upper_bound(stretches.begin(), stretches.end(), at,
                                 [](u32 value, const Interval& loop) { return value < loop.first; });
    if (next == stretches.begin()) return nullptr;
    --next;
    return at <= next->last ? &*next : nullptr;
  };
  for (u32 reg : regs) {
    Interval& interval = all[reg];
    if (interval.first > interval.last) continue;
    const Interval *begin = around(interval.first), *end = around(interval.last);
    if (begin != nullptr) extend(interval, begin->first, begin->last);
    if (end != nullptr) extend(interval, end->first, end->last);
  }
}

// The classic backward data flow, a bit for each register that travels, by block.
class Liveness {
 public:
  Liveness(const Blocks& blocks, const std::vector<Mention>& mentions, const std::vector<u32>& regs, u32 registers)
      : blocks_(blocks), regs_(regs), words_((regs.size() + 63) / 64) {
    const std::size_t size = words_ * blocks.count();
    used_.resize(size), set_.resize(size), in_.resize(size), out_.resize(size);
    std::vector<u32> bit(registers, kNone);
    for (u32 i = 0; i < regs.size(); ++i) bit[regs[i]] = i;
    for (const Mention& mention : mentions) {
      const u32 i = bit[mention.reg];
      if (i == kNone) continue;
      const std::size_t at = blocks.of[mention.instruction] * words_ + i / 64;
      const u64 mask = u64{1} << (i % 64);
      if (mention.written) {
        set_[at] |= mask;
      } else if ((set_[at] & mask) == 0) {
        used_[at] |= mask;
      }
    }
    for (int pass = 0; pass < kMostPasses && !settled_; ++pass) {
      settled_ = true;
      for (u32 block = blocks.count(); block-- > 0;) settled_ &= !flow_through(block);
    }
  }

  bool settled() const { return settled_; }

  void extend_intervals(std::vector<Interval>& all) const {
    for (u32 block = 0; block < blocks_.count(); ++block) {
      const u32 first = blocks_.begin[block], last = blocks_.begin[block + 1] - 1;
      for (std::size_t w = 0; w < words_; ++w) {
        for (u64 rest = in_[block * words_ + w]; rest != 0; rest &= rest - 1) {
          extend(all[regs_[w * 64 + static_cast<u32>(__builtin_ctzll(rest))]], first, first);
        }
        for (u64 rest = out_[block * words_ + w]; rest != 0; rest &= rest - 1) {
          extend(all[regs_[w * 64 + static_cast<u32>(__builtin_ctzll(rest))]], last, last);
        }
      }
    }
  }

 private:
  bool flow_through(u32 block) {
    bool changed = false;
    for (std::size_t w = 0; w < words_; ++w) {
      u64 out = 0;
      for (u32 to : blocks_.successors[block]) out |= in_[to * words_ + w];
      const std::size_t at = block * words_ + w;
      const u64 in = used_[at] | (out & ~set_[at]);
      changed |= in != in_[at];
      out_[at] = out;
      in_[at] = in;
    }
    return changed;
  }

  const Blocks& blocks_;
  const std::vector<u32>& regs_;
  std::size_t words_;
  std::vector<u64> used_, set_, in_, out_;
  bool settled_ = false;
};

}  // namespace

std::vector<Interval> intervals(const Flow& flow, const std::vector<Mention>& mentions, u32 registers) {
  std::vector<Interval> all(registers);
  if (flow.steps.empty()) return all;
  const Blocks blocks = split(flow);
  for (const Mention& mention : mentions) extend(all[mention.reg], mention.instruction, mention.instruction);
  const std::vector<u32> regs = travellers(blocks, mentions, registers);
  if (u64{blocks.count()} * ((regs.size() + 63) / 64) <= kMostLivenessWords) {
    const Liveness liveness(blocks, mentions, regs, registers);
    if (liveness.settled()) {
      liveness.extend_intervals(all);
      return all;
    }
  }
  keep_through_loops(flow, regs, all);
  return all;
}

}  // namespace cudasim::ptx
