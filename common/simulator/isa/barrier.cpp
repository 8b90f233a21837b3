// Barriers of a block, a warp and a cluster, and fences. PTX ISA, "Parallel Synchronization and Communication
// Instructions": bar, barrier, bar.warp.sync, barrier.cluster, membar, fence.
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/isa/row.hpp"

namespace cudasim {
namespace {

// Lanes of a warp that name different barriers, or counts, arrive one group after the other: f(lanes, id, count).
template <class F>
void for_each_barrier(Warp& warp, Slot id_slot, Slot count_slot, F f) {
  if ((id_slot & kConstant) != 0 && count_slot == kNoSlot) return f(*warp.in<u32>(id_slot), 0);
  const u32* ids = warp.in<u32>(id_slot);
  const u32* counts = count_slot == kNoSlot ? nullptr : warp.in<u32>(count_slot);
  const auto count_of = [&](u32 lane) { return counts == nullptr ? 0 : counts[lane]; };
  for (u32 rest = warp.mask; rest != 0;) {
    const u32 first = first_lane(rest), id = ids[first], count = count_of(first);
    const u32 group = lanes_where(rest, [&](u32 lane) { return ids[lane] == id && count_of(lane) == count; });
    rest &= ~group;
    warp.mask = group;
    f(id, count);
  }
}

// bar.sync a [, b]
void run_sync(Warp& warp, const Instruction& i) {
  for_each_barrier(warp, i.slot[0], i.slot[1],
                   [&](u32 id, u32 count) { warp.block->arrive(warp, i, id, count, true); });
}

// bar.arrive a, b
void run_arrive(Warp& warp, const Instruction& i) {
  for_each_barrier(warp, i.slot[0], i.slot[1],
                   [&](u32 id, u32 count) { warp.block->arrive(warp, i, id, count, false); });
}

// bar.red d, a [, b], {!}p; without a count slot[2] is kNoSlot.
template <Reduction reduction>
void run_reduce(Warp& warp, const Instruction& i) {
  const u32 holding = warp.predicate(i.slot[3]);
  for_each_barrier(warp, i.slot[1], i.slot[2],
                   [&](u32 id, u32 count) { warp.block->arrive(warp, i, id, count, true, reduction, holding); });
}

Bound bind_reduce(const Form& form) {
  if (form.has("popc")) return run_reduce<Reduction::popc>;
  return form.has("and") ? run_reduce<Reduction::all> : run_reduce<Reduction::any>;
}

void run_warp_sync(Warp& warp, const Instruction& i) { meet_in_warp(warp, i, i.slot[0]); }

void run_cluster_arrive(Warp& warp, const Instruction& i) {
  if ((warp.cluster_pending & warp.mask) != 0) {
    throw Fault{.kind = FaultKind::illegal_instruction,
                .what = "barrier.cluster.arrive twice, without a wait between",
                .lane = first_lane(warp.cluster_pending & warp.mask)};
  }
  (void)i;
  raw_fence_release();
  if (warp.observer != nullptr) warp.observer->cluster_arrive(warp);
  warp.cluster_pending |= warp.mask;
  warp.block->cluster->arrived += static_cast<u32>(__builtin_popcount(warp.mask));
  warp.block->cluster->look_again();
}

// Lanes whose phase is not over yet wait.
void run_cluster_wait(Warp& warp, const Instruction& i) {
  warp.mask &= warp.cluster_pending;
  if (warp.mask != 0) park(warp, i, Wait::cluster, warp.pc);
}

// One thread of the machine runs a block, and x86 and Arm order what it does as C++ says.
void run_fence(Warp& warp, const Instruction& i) {
  raw_fence();
  if (warp.observer != nullptr) warp.observer->fence(warp, i);
}
Bound bind_fence(const Form& form) { return {run_fence, order_of(form, true)}; }

template <Handler run>
Bound bind(const Form&) {
  return run;
}

const Row kRows[] = {
    {"bar{.cta}.sync", "barrier threads?", bind<run_sync>, 0, 0, kMeets},
    {"bar{.cta}.arrive", "barrier threads", bind<run_arrive>, 0, 0, kMeets},
    {"bar{.cta}.red.popc.u32", "=u32 barrier threads? pred", bind_reduce, 0, 0, kMeets},
    {"bar{.cta}.red.and|or.pred", "=pred barrier threads? pred", bind_reduce, 0, 0, kMeets},
    {"barrier{.cta}.sync{.aligned}", "barrier threads?", bind<run_sync>, 60, 30, kMeets},
    {"barrier{.cta}.arrive{.aligned}", "barrier threads", bind<run_arrive>, 60, 30, kMeets},
    {"barrier{.cta}.red.popc{.aligned}.u32", "=u32 barrier threads? pred", bind_reduce, 60, 30, kMeets},
    {"barrier{.cta}.red.and|or{.aligned}.pred", "=pred barrier threads? pred", bind_reduce, 60, 30, kMeets},
    {"bar.warp.sync", "u32", bind<run_warp_sync>, 60, 30},
    {"barrier.cluster.arrive{.release|relaxed}{.aligned}", "", bind<run_cluster_arrive>, 78, 90, kMeets},
    {"barrier.cluster.wait{.acquire}{.aligned}", "", bind<run_cluster_wait>, 78, 90, kMeets},
    {"membar.cta|gl|sys", "", bind_fence},
    {"fence{.sc|acq_rel|acquire|release}.scope", "", bind_fence, 60, 70},
    // What others have made known in the cluster's memory, and what is made known of one's own.
    {"fence.acquire.sync_restrict::shared::cluster.cluster", "", bind_fence, 86, 90},
    {"fence.release.sync_restrict::shared::cta.cluster", "", bind_fence, 86, 90},
    {"fence.mbarrier_init.release.cluster", "", bind_fence, 80, 90},
    // There is one way to memory here, so nothing has to be made known to another.
    {"membar.proxy.alias", "", bind_fence, 75, 70},
    {"fence.proxy.alias", "", bind_fence, 75, 70},
    {"fence.proxy.async{.global|shared::cta|shared::cluster}", "", bind_fence, 80, 90},
    {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "", bind_fence, 86, 90},
    {"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "", bind_fence, 86, 90},
    {"fence.proxy.tensormap::generic.acquire.scope", "[m] b32!(128)", bind_fence, 83, 90},
    {"fence.proxy.tensormap::generic.release.scope", "", bind_fence, 83, 90},
};

}  // namespace

std::span<const Row> barrier_rows() { return kRows; }

}  // namespace cudasim
