// A block while it runs: schedules its warps, opens its barriers, and reports a deadlock.
#include "common/simulator/exec/block.hpp"

#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/text.hpp"

#include <algorithm>
#include <cstring>

namespace cudasim {
namespace {

constexpr i64 kTurn = 20'000;      // instructions until the next warp has its turn
constexpr i64 kTurnCost = 20;  // what a turn costs at least, in instructions: a warp that only sleeps spends, too
constexpr u32 kIdleRounds = 4;  // of all warps, in which each only spins, until the next block has its turn
constexpr u32 kLocalPadding = 64;  // keeps the threads' local memories from falling on the same lines of the cache

// The views of a block whose accesses are observed. They stay empty, so a look-up never finds anything.
View kNoViews[kViews];

u32* index_at(const Warp& warp, const Code::Index& index) {
  return reinterpret_cast<u32*>(warp.root.registers + index.slot);
}

u32 popcount(u32 lanes) { return static_cast<u32>(__builtin_popcount(lanes)); }

}  // namespace

Block::Block(Grid& grid)
    : grid(&grid),
      shared_bytes(grid.shared_bytes),
      warps(grid.warps),
      registers_(u64{grid.warps} * grid.frame_stride),
      shared_(grid.stored_shared_bytes) {
  shared = shared_.get();
  if (grid.observer != nullptr) observer = grid.observer->observe(*this);
  for (u32 w = 0; w < grid.warps; ++w) {
    Warp& warp = warps[w];
    warp.block = this;
    warp.observer = observer.get();
    warp.index = w;
    const u32 threads = grid.threads - w * kWarpSize;
    warp.present = threads >= kWarpSize ? kAllLanes : (1u << threads) - 1;
    warp.root.code = &grid.entry;
    warp.root.constants = grid.constants;
    warp.root.registers = registers_.get() + u64{w} * grid.frame_stride;
    for (const Code::Index& each : grid.entry.indices) {
      if (each.kind == Code::Index::thread)
        std::copy_n(&grid.tid[each.axis][w * kWarpSize], kWarpSize, index_at(warp, each));
    }
  }
}

Block::~Block() {
  for (Warp& warp : warps) clear_fragments(warp);
}

void Block::start(Cluster& cluster_, u64 number_, Dim3 index_, u32 rank_) {
  cluster = &cluster_;
  number = number_;
  index = index_;
  rank = rank_;
  shared_begin = static_cast<u32>(rank * kSharedStride);
  live_threads = grid->threads;
  async.start();
  last_errors_.clear();
  runnable = warps.size() == kMaxWarps ? ~0u : (1u << warps.size()) - 1;
  const u32 axes[] = {index.x, index.y, index.z};
  for (Warp& warp : warps) {
    warp.live = warp.lanes = warp.root.lanes = warp.present;
    warp.root.tops.clear();
    warp.polls = warp.turns = warp.held = 0;
    warp.tidy = kNoTarget;
    warp.yield = false;
    warp.cluster_pending = 0;
    if (warp.frame == &warp.root && alone(warp))
      warp.pc = 0, warp.stop = ~0u;  // most warps ended in this frame, with all lanes
    else
      enter(warp, &warp.root, 0, nullptr);
    for (const Code::Index& each : grid->entry.indices) {
      if (each.kind == Code::Index::block) std::fill_n(index_at(warp, each), kWarpSize, axes[each.axis]);
    }
  }
  // Programs expect barriers in it to be zero: they do not initialize them.
  if (grid->kernel.reserved_shared) std::memset(shared + reserved_shared_at(shared_bytes), 0, kSharedReserved);
  if (observer != nullptr) observer->start();
  quick_shared_bytes = observer != nullptr && observer->wants_accesses() ? 0 : shared_bytes;
}

Outcome Block::run(Views& views, i64& budget) {
  u32 idle = 0;
  while (live_threads != 0) {
    if (runnable == 0) return Outcome::spins;
    bool progress = false;
    for (const u32 index : set_bits(runnable)) {
      Warp& warp = warps[index];
      warp.views = views.refreshed();
      if (observer != nullptr && observer->wants_accesses()) warp.views = kNoViews;
      i64 left = kTurn;
      const Pause pause = run_hearing_all(warp, left);
      budget -= kTurn - left + kTurnCost;
      if (pause == Pause::ended || pause == Pause::blocked) runnable &= ~(1u << warp.index);
      progress |= pause != Pause::yielded;
    }
    idle = progress ? 0 : idle + 1;
    if (idle == kIdleRounds) return Outcome::spins;
    if (budget <= 0) return live_threads == 0 ? Outcome::finished : Outcome::expired;
  }
  return Outcome::finished;
}

// A failed assertion ends the grid, but the block's other warps have their say first: on a GPU each thread whose
// assertion fails prints its line.
Pause Block::run_hearing_all(Warp& warp, i64& left) {
  try {
    return run_warp(warp, left);
  } catch (Fault& fault) {
    if (fault.kind != FaultKind::assertion) throw;
    for (Warp& other : warps) {
      if (&other == &warp || (runnable >> other.index & 1) == 0) continue;
      other.views = warp.views;
      i64 turn = kTurn;
      try {
        run_warp(other, turn);
      } catch (Fault& another) {
        if (another.kind == FaultKind::assertion) fault.report += another.report;
        runnable &= ~(1u << other.index);
      }
    }
    throw;
  }
}

std::byte* Block::local(const Warp& warp, u32 lane) {
  const u64 stride = u64{grid->local_bytes} + kLocalPadding;
  if (local_.get() == nullptr) local_ = Buffer(stride * warps.size() * kWarpSize);
  return local_.get() + stride * (warp.index * kWarpSize + lane);
}

LocalRange local_range(const Warp& warp) {
  const Frame& frame = *warp.frame;
  const bool watched = warp.observer != nullptr && warp.observer->wants_accesses();
  if (watched || frame.code->local_bytes == 0 || !frame.tops.empty()) return {};
  std::byte* const first = warp.block->local(warp, 0);
  return {first, u64{warp.block->grid->local_bytes} + kLocalPadding, frame.local_base,
          frame.local_base + frame.code->local_bytes};
}

u32& Block::last_error(const Warp& warp, u32 lane) {
  if (last_errors_.empty()) last_errors_.resize(warps.size() * kWarpSize);
  return last_errors_[warp.index * kWarpSize + lane];
}

void Block::arrive(Warp& warp, const Instruction& at, u32 id, u32 count, bool wait, Reduction reduction, u32 holding) {
  if (id >= kBarriers) {
    throw Fault{.kind = FaultKind::illegal_instruction,
                .what = "there is no barrier " + std::to_string(id) + ": a block has barriers 0 to 15",
                .lane = first_lane(warp.mask)};
  }
  if (count % kWarpSize != 0) {
    throw Fault{.kind = FaultKind::illegal_instruction,
                .what = "barrier " + std::to_string(id) + " for " + std::to_string(count) +
                        " threads: the count must be a multiple of the warp size",
                .lane = first_lane(warp.mask)};
  }
  Barrier& barrier = barriers[id];
  if (barrier.threads == 0) barrier.wanted = 0;
  if (count != 0) barrier.wanted = count;
  busy_barriers |= 1u << id;
  barrier.threads += popcount(warp.mask);
  barrier.arrived[warp.index] |= warp.mask;
  if (reduction != Reduction::none) {
    barrier.reduced += popcount(warp.mask);
    barrier.holding += popcount(holding & warp.mask);
  }
  if (observer != nullptr) observer->arrive(warp, at, id, count);
  if (wait && reduction == Reduction::none && observer == nullptr && warp.mask == warp.lanes && alone(warp)) {
    warp.held = id + 1;
    warp.stop = 0;
  } else if (wait) {
    Fragment& fragment = park(warp, at, Wait::barrier, warp.pc);
    fragment.barrier = id;
    fragment.reduction = reduction;
  }
  if (complete(barrier)) open(id);
}

void Block::park_held() {
  for (Warp& warp : warps) {
    if (warp.held == 0) continue;
    warp.mask = warp.lanes;
    park(warp, warp.code[warp.pc - 1], Wait::barrier, warp.pc).barrier = warp.held - 1;
    warp.held = 0;
  }
}

// With a count, whole warps are counted: lanes that do not exist, or have exited, count with those that came.
bool Block::complete(const Barrier& barrier) const {
  if (barrier.wanted == 0) return barrier.threads >= live_threads;
  u32 threads = barrier.threads;
  for (const Warp& warp : warps) {
    const u32 arrived = barrier.arrived[warp.index];
    if (arrived != 0 && (warp.live & ~arrived) == 0) threads += kWarpSize - popcount(arrived);
  }
  return threads >= barrier.wanted;
}

void Block::open(u32 id) {
  const Barrier& barrier = barriers[id];
  if (observer != nullptr) observer->open(id);
  for (Warp& warp : warps) {
    if (barrier.arrived[warp.index] == 0) continue;
    if (warp.held == id + 1) {
      warp.held = 0;
      runnable |= 1u << warp.index;
    }
    for (Fragment& f : warp.fragments) {
      if (f.wait != Wait::barrier || f.barrier != id) continue;
      f.wait = Wait::none;
      runnable |= 1u << warp.index;
      if (f.reduction == Reduction::none) continue;
      std::byte* destination = f.frame->registers + f.at->slot[0];
      if (f.reduction == Reduction::popc) {
        for_lanes(f.lanes, [&](u32 lane) { reinterpret_cast<u32*>(destination)[lane] = barrier.holding; });
      } else {
        const bool all = f.reduction == Reduction::all;
        const bool holds = all ? barrier.holding == barrier.reduced : barrier.holding != 0;
        u32& predicate = *reinterpret_cast<u32*>(destination);
        predicate = holds ? predicate | f.lanes : predicate & ~f.lanes;
      }
    }
    if (warp.lanes != 0) plan(warp);
  }
  barriers[id] = Barrier();
  busy_barriers &= ~(1u << id);
}

void Block::threads_exited(Warp&, u32 lanes) {
  live_threads -= popcount(lanes);
  if (live_threads == 0) async.end();
  for (const u32 id : set_bits(busy_barriers)) {
    if (live_threads != 0 && complete(barriers[id])) open(id);
  }
  if (live_threads == 0 && busy_barriers != 0) {
    barriers.fill(Barrier());
    busy_barriers = 0;
  }
  if (cluster->blocks.size() > 1) cluster->look_again();
}

u32 Cluster::live_threads() const {
  u32 sum = 0;
  for (const auto& block : blocks) sum += block->live_threads;
  return sum;
}

// barrier.cluster is complete once all threads of the cluster that have not exited have arrived.
void Cluster::look_again() {
  if (arrived == 0 || arrived < live_threads()) return;
  arrived = 0;
  if (blocks.front()->observer != nullptr) blocks.front()->observer->cluster_open();
  for (auto& block : blocks) {
    for (Warp& warp : block->warps) {
      warp.cluster_pending = 0;
      for (Fragment& f : warp.fragments) {
        if (f.wait != Wait::cluster) continue;
        f.wait = Wait::none;
        block->runnable |= 1u << warp.index;
      }
      if (warp.lanes != 0) plan(warp);
    }
  }
}

Outcome Cluster::run(Views& views, i64& budget) {
  bool all_finished = true, expired = false, any_runnable = false;
  for (auto& block : blocks) {
    if (block->live_threads == 0) continue;
    const Outcome outcome = block->run(views, budget);
    all_finished &= outcome == Outcome::finished;
    expired |= outcome == Outcome::expired;
  }
  if (all_finished) return Outcome::finished;
  for (auto& block : blocks) any_runnable |= block->runnable != 0;
  if (!any_runnable) deadlocked();
  return expired ? Outcome::expired : Outcome::spins;
}

// All threads wait at barriers, and no thread is left that could complete one.
void Cluster::deadlocked() const {
  Fault fault{.kind = FaultKind::barrier,
              .what =
                  "every remaining thread is waiting for others: part of the block never reaches "
                  "a barrier"};
  for (const auto& block : blocks) {
    if (block->live_threads == 0) continue;
    block->park_held();
    fault.block = block->index;
    fault.what += block->who_waits_where();
    for (const Warp& warp : block->warps) {
      if (warp.fragments.empty()) continue;
      locate(fault, warp, warp.fragments.front());
      throw fault;
    }
  }
  throw fault;
}

}  // namespace cudasim
