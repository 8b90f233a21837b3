// The order of accesses: what threads tell each other by barriers, strong accesses, mbarriers and waits for copies.
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/watch/race.hpp"
#include "common/simulator/watch/watch.hpp"

#include <algorithm>
#include <utility>

namespace cudasim {

// f(thread, lanes) for each thread, or once for all of them: `lanes` are those that it stands for.
template <class F>
void BlockRaces::each_thread(const Warp& warp, u32 lanes, F f) {
  if (alike_[warp.index] != 0 && lanes == warp.live) return f(threads_[warp.index * kWarpSize], lanes);
  for (const u32 lane : set_bits(lanes)) f(thread(warp, lane), 1u << lane);
}

// ---- What threads tell each other

// By a strong access.
void BlockRaces::converse(Warp& warp, const Touch& touch, u32 control) {
  Messages& messages = touch.space == Space::shared ? Watch::of(*touch.owner).races()->messages_ : grid_.messages;
  Thread& self = thread(warp, touch.lane);
  const u32 whose = member(warp, touch.lane);
  const bool in_block = (control & kBlockScope) != 0;
  const bool writes = touch.kind != Access::read, reads = touch.kind != Access::write;
  auto found = messages.find(touch.address);
  if (reads && found != messages.end()) hear(self, found->second, (control & kAcquires) != 0, in_block);
  if (!writes) return;
  const bool releases = (control & kReleases) != 0;
  const bool fenced = self.fenced_at != 0 || !self.fenced.empty();
  const bool fenced_here = self.fenced_here_at != 0 || !self.fenced_here.empty();
  if (!reads && found != messages.end()) found->second = Message();
  if (!releases && !fenced && !fenced_here) return;
  Message& message = found != messages.end() ? found->second : messages[touch.address];
  if (releases) {
    publish(message, self.seen, whose, now_[warp.index], !in_block);
  } else {
    if (fenced && !in_block) publish(message, self.fenced, whose, self.fenced_at, true);
    if (fenced_here || in_block) publish(message, self.fenced_here, whose, self.fenced_here_at, false);
  }
}

void BlockRaces::publish(Message& message, const Clock& clock, u32 whose, u32 time, bool wide) {
  if (!wide) {
    if (message.narrow && message.narrow_block != block_.number) message.narrow = Ref<Times>();
    message.narrow_block = block_.number;
    join(message.narrow, clock.own);
    if (time != 0) message.narrow.own().set(whose, time);
    return;
  }
  join(message.wide, clock.others);
  Ref<Times>& mine = message.wide.own().entry(block_.number);
  join(mine, clock.own);
  if (time != 0) mine.own().set(whose, time);
}

void BlockRaces::hear(Thread& self, const Message& message, bool at_once, bool in_block) {
  Clock& clock = at_once ? self.seen : self.heard;
  if (message.narrow && message.narrow_block == block_.number) join(clock.own, message.narrow);
  if (!message.wide) return;
  if (!in_block) return clock.join(block_.number, message.wide);
  if (const Ref<Times>* mine = message.wide->find(block_.number)) join(clock.own, *mine);
}

void BlockRaces::settle_heard(Thread& self) {
  if (self.heard.empty()) return;
  self.seen.join(self.heard);
  self.heard = Clock();
}

void BlockRaces::fence(Warp& warp, bool in_block) {
  const u32 time = now_[warp.index]++;
  each_thread(warp, warp.mask, [&](Thread& self, u32) {
    settle_heard(self);
    self.fenced_here = self.seen;
    self.fenced_here_at = time;
    if (in_block) return;
    self.fenced = self.seen;
    self.fenced_at = time;
  });
}

void BlockRaces::bring(Meeting& meeting, Warp& warp, u32 lanes) {
  const u32 time = now_[warp.index]++;
  each_thread(warp, lanes, [&](Thread& self, u32 who) {
    settle_heard(self);
    if (!(meeting.any && meeting.last == self.seen)) meeting.seen.join(self.seen);
    meeting.last = self.seen;
    meeting.any = true;
    meeting.fenced.join(self.fenced);
    if (self.fenced_at != 0) meeting.fenced.own.own().set(warp.index, who, self.fenced_at);
    meeting.fenced_here.join(self.fenced_here);
    if (self.fenced_here_at != 0) meeting.fenced_here.own.own().set(warp.index, who, self.fenced_here_at);
  });
  meeting.seen.own.own().set(warp.index, lanes, time);
}

void BlockRaces::take(const Meeting& meeting, Warp& warp, u32 lanes) {
  each_thread(warp, lanes, [&](Thread& self, u32) {
    self.seen = meeting.seen;
    self.fenced = meeting.fenced;
    self.fenced_here = meeting.fenced_here;
    self.fenced_at = self.fenced_here_at = 0;  // they have brought it
  });
  if (lanes != warp.live || alike_[warp.index] != 0) return;
  Thread* const all = &threads_[warp.index * kWarpSize];
  const Thread& first = all[first_lane(lanes)];
  for (const u32 lane : set_bits(lanes)) {
    if (!all[lane].heard.empty() || all[lane].groups != first.groups || all[lane].bulk != first.bulk) return;
  }
  all[0] = first;
  alike_[warp.index] = 1;
}

void BlockRaces::arrive(Warp& warp, u32 lanes, u32 id) { bring(barriers_[id], warp, lanes); }

void BlockRaces::open(u32 id) {
  Meeting& meeting = barriers_[id];
  for (Warp& warp : block_.warps) {
    for (const Fragment& f : warp.fragments) {
      if (f.wait == Wait::barrier && f.barrier == id) take(meeting, warp, f.lanes);
    }
  }
  meeting = Meeting();
}

void BlockRaces::meet(Warp& warp, u32 lanes) {
  if (__builtin_popcount(lanes) < 2) return;
  Meeting meeting;
  bring(meeting, warp, lanes);
  take(meeting, warp, lanes);
}

void BlockRaces::cluster_arrive(Warp& warp, u32 lanes) {
  // Among blocks a thread's own block is one of many.
  BlockRaces& first = *Watch::of(*block_.cluster->blocks.front()).races();
  Meeting mine;
  bring(mine, warp, lanes);
  join(first.cluster_.seen.others, mine.seen.others);
  join(first.cluster_.seen.others.own().entry(block_.number), mine.seen.own);
}

void BlockRaces::cluster_open() {
  BlockRaces& first = *Watch::of(*block_.cluster->blocks.front()).races();
  const Ref<Blocks> all = first.cluster_.seen.others;
  for (const auto& block : block_.cluster->blocks) {
    BlockRaces& races = *Watch::of(*block).races();
    for (Warp& warp : block->warps) {
      // Those that have arrived and not yet waited learn of it now, which is a little early.
      races.each_thread(warp, warp.cluster_pending, [&](Thread& self, u32) { self.seen.join(block->number, all); });
    }
  }
  first.cluster_ = Meeting();
}

// ---- mbarriers and asynchronous copies

void BlockRaces::release(Warp& warp, u32 lane, u64 address, Block& owner, bool copies) {
  Message& message = Watch::of(owner).races()->messages_[address];
  const u32 whose = member(warp, lane);
  if (copies) {
    const u32 time = copies_now_[warp.index]++;
    message.wide.own().entry(block_.number).own().set(whose + static_cast<u32>(threads_.size()), time);
    return;
  }
  publish(message, knows(warp, lane).seen, whose, now_[warp.index]++, true);
}

void BlockRaces::acquire(Warp& warp, u32 lane, u64 address, Block& owner) {
  const Messages& messages = Watch::of(owner).races()->messages_;
  const auto found = messages.find(address);
  if (found != messages.end()) hear(thread(warp, lane), found->second, true, false);
}

void BlockRaces::commit(Warp& warp, u32 lanes, bool bulk) {
  const u32 time = copies_now_[warp.index]++;
  each_thread(warp, lanes, [&](Thread& self, u32) { (bulk ? self.bulk : self.groups).push_back(time); });
}

// Copies of the other sort that are as old are taken for complete, too: their groups share a clock.
void BlockRaces::wait(Warp& warp, u32 lane, u32 pending, bool bulk) {
  Thread& self = thread(warp, lane);
  std::vector<u32>& groups = bulk ? self.bulk : self.groups;
  if (groups.size() <= pending) return;
  const auto kept = groups.end() - static_cast<std::ptrdiff_t>(pending);
  self.seen.own.own().set(member(warp, lane) + static_cast<u32>(threads_.size()), *(kept - 1));
  groups.erase(groups.begin(), kept);
}

void BlockRaces::wait_all(Warp& warp, u32 lanes) {
  const u32 time = copies_now_[warp.index]++;
  for (const u32 lane : set_bits(lanes)) {
    Thread& self = thread(warp, lane);
    self.seen.own.own().set(member(warp, lane) + static_cast<u32>(threads_.size()), time);
    self.groups.clear();
  }
}

}  // namespace cudasim
