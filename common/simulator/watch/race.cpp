#include "common/simulator/watch/race.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/watch.hpp"

#include <algorithm>
#include <utility>

namespace cudasim {
namespace {

constexpr u64 kMostShadow = u64{1} << 30;  // bytes

}  // namespace

// ---- Shadow

template <class F>
void Shadow::each(u64 address, u64 size, F f) {
  const u64 end = address + size;
  while (address < end) {
    Page& p = page(address / kPage);
    const u64 stop = std::min(end, (address / kPage + 1) * kPage);
    if (!p.split && (address % 4 != 0 || stop % 4 != 0)) split(p);
    const u64 unit = p.split ? 1 : 4;
    for (; address < stop; address += unit) f(p.cells[address % kPage / unit]);
  }
}

Shadow::Page& Shadow::page(u64 number) {
  if (last_ != nullptr && last_number_ == number) return *last_;
  Page& found = pages_[number];
  if (found.cells.empty()) {
    found.cells.resize(kPage / 4);
    bytes_ += kPage / 4 * sizeof(Cell);
  }
  last_ = &found;
  last_number_ = number;
  return found;
}

void Shadow::split(Page& page) {
  std::vector<Cell> cells(kPage);
  for (u64 i = 0; i < kPage; ++i) cells[i] = page.cells[i / 4];
  page.cells = std::move(cells);
  page.split = true;
  bytes_ += (kPage - kPage / 4) * sizeof(Cell);
}

// ---- The grid

void GridRaces::doubt(const Race& race) {
  const Race::Side& reader = (race.now.kind & AccessLog::kWrites) == 0 ? race.now : race.before;
  doubts_.try_emplace({reader.block, reader.thread, race.address}, race);
}

void GridRaces::take_back(u64 block, u32 thread, u64 address) { doubts_.erase({block, thread, address}); }

void GridRaces::report_doubts() {
  for (const auto& [reader, race] : doubts_) report_race(grid, race);
  doubts_.clear();
}

GridRaces::GridRaces(Grid& grid)
    : grid(grid),
      kernel(grid.kernel.name),
      program(grid.launch.program),
      blocks(grid.launch.grid),
      threads(grid.launch.block),
      launched_at(LaunchedAt::current()) {
  for (const Global& global : grid.program.globals) {
    if (global.name == kChildTable) left_out_ = global.address, left_out_size_ = global.size;
  }
}

u32 GridRaces::site(const Site& site) {
  const auto [at, fresh] = numbers_.try_emplace(site.instruction, static_cast<u32>(sites_.size()));
  if (fresh) sites_.push_back(site);
  return at->second;
}

void GridRaces::make_room() {
  if (!log.full() && shadow.bytes() < kMostShadow) return;
  if (!told_) {
    std::fprintf(
        stderr,
        "cudasim: the check for races discards its records of the accesses that kernel '%s' has made to global "
        "memory, because they take too much space\n",
        readable(grid.kernel.name).c_str());
  }
  told_ = true;
  log.clear();
  shadow.clear();
}

// ---- The block

BlockRaces::BlockRaces(GridRaces& grid, Block& block)
    : grid_(grid), block_(block), now_(block.warps.size()), copies_now_(block.warps.size()) {}

void BlockRaces::start() {
  threads_.assign(block_.warps.size() * kWarpSize, Thread());
  std::fill(now_.begin(), now_.end(), 1);
  std::fill(copies_now_.begin(), copies_now_.end(), 1);
  log_.clear();
  shadow_.clear();
  messages_.clear();
  for (Meeting& barrier : barriers_) barrier = Meeting();
  cluster_ = Meeting();
  recent_.assign(block_.warps.size() * kRecent, Recent());
  grid_.make_room();
}

u32 BlockRaces::member(const Warp& warp, u32 lane) const { return warp.index * kWarpSize + lane; }
BlockRaces::Thread& BlockRaces::thread(const Warp& warp, u32 lane) { return threads_[member(warp, lane)]; }

AccessLog& BlockRaces::log() { return block_.cluster->blocks.size() > 1 ? grid_.log : log_; }

// ---- Accesses

// Accesses by one instruction of a warp at one time are one entry.
u32 BlockRaces::entry(Warp& warp, const Site& site, bool shared, u8 kind) {
  const u32 time = (kind & AccessLog::kAsync) != 0 ? copies_now_[warp.index] : now_[warp.index];
  const u64 hash = reinterpret_cast<u64>(site.instruction) / sizeof(Instruction) * 2 + (shared ? 1 : 0) + kind;
  Recent& recent = recent_[warp.index * kRecent + hash % kRecent];
  AccessLog& all = shared ? log() : grid_.log;
  if (recent.instruction == site.instruction && recent.time == time && recent.kind == kind && recent.shared == shared) {
    all[recent.index].lanes |= warp.mask;
    return recent.index;
  }
  AccessLog::Entry e;
  e.lanes = warp.mask;
  e.block = static_cast<u32>(block_.number);
  e.time = time;
  e.site = grid_.site(site);
  e.warp = static_cast<u8>(warp.index);
  e.kind = kind;
  recent = {site.instruction, time, all.add(e), kind, shared};
  return recent.index;
}

bool BlockRaces::known(const Thread& thread, const Warp& warp, u32 lane, const AccessLog::Entry& e, u32 e_lane) const {
  const bool copy = (e.kind & AccessLog::kAsync) != 0;
  const u32 whose = e.warp * kWarpSize + e_lane;
  const u32 behind = copy ? static_cast<u32>(threads_.size()) : 0;
  if (e.block == static_cast<u32>(block_.number)) {
    if (!copy && whose == member(warp, lane)) return true;
    return thread.seen.own && thread.seen.own->of(whose + behind) >= e.time;
  }
  if (!thread.seen.others) return false;
  const Ref<Times>* times = thread.seen.others->find(e.block);
  return times != nullptr && *times && (*times)->of(whose + behind) >= e.time;
}

bool conflict(u8 now, u64 block, bool silent, const AccessLog::Entry& before) {
  if (((now | before.kind) & AccessLog::kWrites) == 0) return false;
  const u8 both = now & before.kind;
  if ((both & AccessLog::kIsStrong) != 0)
    return before.block != static_cast<u32>(block) && ((now | before.kind) & AccessLog::kInBlock) != 0;
  const bool both_write = (both & AccessLog::kWrites) != 0,
             either_is_silent = silent || (before.kind & AccessLog::kSilent) != 0;
  if (!both_write) return !(either_is_silent && before.block != static_cast<u32>(block));
  return !silent;
}

namespace {

// Whether lanes of one warp exchange a value through volatile shared memory as if they ran in step: the lane took part
// in the other one's access, so it is not waiting for that as for a flag.
bool in_step(const AccessLog::Entry& now, u32 lane, const AccessLog::Entry& before) {
  const u8 both = now.kind & before.kind, either = now.kind | before.kind;
  return (both & AccessLog::kIsVolatile) != 0 && (either & AccessLog::kWrites) != 0 && now.block == before.block &&
         now.warp == before.warp && (before.lanes >> lane & 1) != 0;
}

// Whether one of the two is a plain read, and the other one an atomic operation.
bool is_guess(u8 a, u8 b) {
  const auto reads = [](u8 kind) {
    return (kind & (AccessLog::kWrites | AccessLog::kIsStrong | AccessLog::kAsync)) == 0;
  };
  return (reads(a) && (b & AccessLog::kAtomic) != 0) || (reads(b) && (a & AccessLog::kAtomic) != 0);
}
bool takes_back(u8 now, u8 before) { return (now & AccessLog::kSwaps) != 0 && is_guess(now, before); }

// Whether an access that is known to come before `now` can be forgotten: whatever races with it races with `now`.
bool covered(u8 now, u8 before) {
  const bool as_weak = (now & AccessLog::kIsStrong) == 0 || (before & AccessLog::kIsStrong) != 0;
  const auto changes = [](u8 kind) { return (kind & (AccessLog::kWrites | AccessLog::kSilent)) == AccessLog::kWrites; };
  const bool as_writing = changes(now) || !changes(before);
  return as_weak && as_writing;
}

}  // namespace

void BlockRaces::check(Warp& warp, const Site& site, const Touch& touch, u8 kind, AccessLog& log, Shadow& shadow,
                       u32 index) {
  const Thread& self = thread(warp, touch.lane);
  const Access32 now{index << 5 | touch.lane};
  bool reported = false;
  // One's own atomic operation at a place comes after those that were there before it, and so does what one does there
  // next: the last block sets the counter of blocks back by a plain write.
  const auto has_followed = [&](const Shadow::Cell& cell, u32 other) {
    if ((log[cell.by[other].index()].kind & AccessLog::kAtomic) == 0) return false;
    for (u32 i = other + 1; i < cell.by.size() && cell.by[i].bits != 0; ++i) {
      const AccessLog::Entry& e = log[cell.by[i].index()];
      if ((e.kind & AccessLog::kAtomic) != 0 && e.block == block_.number && e.warp == warp.index &&
          cell.by[i].lane() == touch.lane)
        return true;
    }
    return false;
  };
  const auto own = [&](const AccessLog::Entry& e, u32 lane) {
    return e.block == block_.number && e.warp == warp.index && lane == touch.lane;
  };
  shadow.each(touch.address, touch.size, [&](Shadow::Cell& cell) {
    u32 kept = 0;
    for (u32 i = 0; i < cell.by.size(); ++i) {
      const Access32 other = cell.by[i];
      if (other.bits == 0) break;
      if (other.bits == now.bits) continue;
      const AccessLog::Entry& e = log[other.index()];
      const bool before = known(self, warp, touch.lane, e, other.lane()) || has_followed(cell, i);
      const bool exchange = touch.space == Space::shared && !touch.silent && in_step(log[index], touch.lane, e);
      if (!before && !reported && (exchange || conflict(kind, block_.number, touch.silent, e))) {
        const Race race{{block_.number, member(warp, touch.lane), kind, site},
                        {e.block, e.warp * kWarpSize + other.lane(), e.kind, grid_.site(e.site)},
                        touch.space,
                        touch.address,
                        touch.size};
        is_guess(kind, e.kind) ? grid_.doubt(race) : report_race(*block_.grid, race);
        reported = true;
      }
      if (before && (covered(kind, e.kind) || (own(e, other.lane()) && takes_back(kind, e.kind)))) continue;
      cell.by[kept++] = other;
    }
    if (kept == cell.by.size()) {
      // One of them has to go: one that shares its warp and kind with another, else the oldest.
      u32 gone = 0;
      for (u32 i = 0; i < kept; ++i) {
        for (u32 k = 0; k < i; ++k) {
          const AccessLog::Entry &a = log[cell.by[i].index()], &b = log[cell.by[k].index()];
          if (a.block == b.block && a.warp == b.warp && a.kind == b.kind) gone = i;
        }
      }
      for (u32 i = gone; i + 1 < kept; ++i) cell.by[i] = cell.by[i + 1];
      --kept;
    }
    cell.by[kept++] = now;
    for (; kept < cell.by.size(); ++kept) cell.by[kept] = Access32();
  });
}

void BlockRaces::touched(Warp& warp, const Site& site, const std::vector<Touch>& touches) {
  const u32 control = site.instruction->control;
  for (const Touch& touch : touches) {
    if (touch.space == Space::local || grid_.left_out(touch)) continue;
    u8 kind = 0;
    if (touch.kind != Access::read) kind |= AccessLog::kWrites;
    if (touch.kind == Access::atomic) kind |= AccessLog::kAtomic | AccessLog::kIsStrong;
    if ((control & kStrong) != 0) kind |= AccessLog::kIsStrong;
    if ((control & kVolatile) != 0) kind |= AccessLog::kIsVolatile;
    if ((kind & AccessLog::kIsStrong) != 0 && (control & kBlockScope) != 0) kind |= AccessLog::kInBlock;
    if ((control & kCompares) != 0) {
      kind |= AccessLog::kSwaps;
      grid_.take_back(block_.number, member(warp, touch.lane), touch.address);
    }
    if (touch.asynchronous) kind |= AccessLog::kAsync;
    if (touch.silent) kind |= AccessLog::kSilent;
    const bool shared = touch.space == Space::shared;
    const u32 index = entry(warp, site, shared, kind);
    check(warp, site, touch, kind, shared ? log() : grid_.log,
          shared ? Watch::of(*touch.owner).races()->shadow_ : grid_.shadow, index);
    if (!shared && grid_.launched_at != nullptr) check_ancestors(warp, site, touch, kind);
  }
  if ((control & (kStrong | kAcquires | kReleases)) == 0) return;
  bool released = false;
  for (const Touch& touch : touches) {
    if (touch.space == Space::local || touch.asynchronous) continue;
    converse(warp, touch, control);
    released |= (control & kReleases) != 0 && touch.kind != Access::read;
  }
  if (released) ++now_[warp.index];
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
  for (const u32 lane : set_bits(warp.mask)) {
    Thread& self = thread(warp, lane);
    settle_heard(self);
    self.fenced_here = self.seen;
    self.fenced_here_at = time;
    if (in_block) continue;
    self.fenced = self.seen;
    self.fenced_at = time;
  }
}

void BlockRaces::bring(Meeting& meeting, Warp& warp, u32 lanes) {
  const u32 time = now_[warp.index]++;
  for (const u32 lane : set_bits(lanes)) {
    Thread& self = thread(warp, lane);
    settle_heard(self);
    if (!(meeting.any && meeting.last == self.seen)) meeting.seen.join(self.seen);
    meeting.last = self.seen;
    meeting.any = true;
    const u32 whose = member(warp, lane);
    meeting.fenced.join(self.fenced);
    if (self.fenced_at != 0) meeting.fenced.own.own().set(whose, self.fenced_at);
    meeting.fenced_here.join(self.fenced_here);
    if (self.fenced_here_at != 0) meeting.fenced_here.own.own().set(whose, self.fenced_here_at);
  }
  TimesValue& times = meeting.seen.own.own();
  for (const u32 lane : set_bits(lanes)) times.set(member(warp, lane), time);
}

void BlockRaces::take(const Meeting& meeting, Warp& warp, u32 lanes) {
  for (const u32 lane : set_bits(lanes)) {
    Thread& self = thread(warp, lane);
    self.seen = meeting.seen;
    self.fenced = meeting.fenced;
    self.fenced_here = meeting.fenced_here;
  }
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
      for (const u32 lane : set_bits(warp.cluster_pending)) {
        Thread& self = races.thread(warp, lane);
        self.seen.join(block->number, all);
      }
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
  Thread& self = thread(warp, lane);
  publish(message, self.seen, whose, now_[warp.index]++, true);
}

void BlockRaces::acquire(Warp& warp, u32 lane, u64 address, Block& owner) {
  const Messages& messages = Watch::of(owner).races()->messages_;
  const auto found = messages.find(address);
  if (found != messages.end()) hear(thread(warp, lane), found->second, true, false);
}

void BlockRaces::commit(Warp& warp, u32 lanes, bool bulk) {
  const u32 time = copies_now_[warp.index]++;
  for (const u32 lane : set_bits(lanes)) {
    Thread& self = thread(warp, lane);
    (bulk ? self.bulk : self.groups).push_back(time);
  }
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
