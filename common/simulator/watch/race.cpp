#include "common/simulator/watch/race.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/watch.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
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

Shadow::Row Shadow::row(u64 address, u32 size) {
  Page& p = page(address / kPage);
  const u32 unit = p.split ? 1 : 4;
  if (size % unit != 0 || size / unit > 4) return {};
  return {&p.cells[address % kPage / unit], size / unit, static_cast<u32>((kPage - address % kPage) / size)};
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
  threads_.resize(block_.warps.size() * kWarpSize);
  alike_.resize(block_.warps.size());
  for (std::size_t warp = 0; warp < alike_.size(); ++warp) {
    threads_[warp * kWarpSize] = Thread();
    alike_[warp] = 1;
  }
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

// To be changed.
BlockRaces::Thread& BlockRaces::thread(const Warp& warp, u32 lane) {
  Thread* const all = &threads_[warp.index * kWarpSize];
  if (std::exchange(alike_[warp.index], 0) != 0) std::fill_n(all + 1, kWarpSize - 1, all[0]);
  return all[lane];
}

AccessLog& BlockRaces::log() { return block_.cluster->blocks.size() > 1 ? grid_.log : log_; }

// ---- Accesses

// Accesses by one instruction of a warp at one time are one entry.
u32 BlockRaces::entry(Warp& warp, const Site& site, bool shared, u8 kind) {
  const u32 time = (kind & AccessLog::kAsync) != 0 ? copies_now_[warp.index] : now_[warp.index];
  const u64 hash = reinterpret_cast<u64>(site.instruction) / sizeof(Instruction) + (shared ? kRecent / 2 : 0) + kind;
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

// The lanes of an entry whose accesses a thread knows, if they are not its own.
u32 BlockRaces::known_lanes(const Thread& self, const AccessLog::Entry& e) const {
  const bool copy = (e.kind & AccessLog::kAsync) != 0;
  const u32 first = e.warp * kWarpSize + (copy ? static_cast<u32>(threads_.size()) : 0);
  const Ref<Times>* times = &self.seen.own;
  if (e.block != static_cast<u32>(block_.number)) times = self.seen.others ? self.seen.others->find(e.block) : nullptr;
  if (times == nullptr || !*times || first >= (*times)->at.size()) return 0;
  const u32* const row = (*times)->at.data() + first;
  return lanes_where([&](u32 lane) { return row[lane] >= e.time; });
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

// The access that is looked at.
struct BlockRaces::Current {
  Warp& warp;
  const Site& site;
  Space space;
  u32 size;
  u8 kind;
  AccessLog& log;
  Shadow& shadow;
  u32 index;              // of its entry
  bool reported = false;  // of the lane

  struct Known {
    u32 index = 0, lanes = 0;
  };
  static constexpr u32 kKnown = 16;
  std::array<Known, kKnown> known{};  // known_lanes of some entries, if the warp's threads are alike
};

// What an access makes of a cell: which of the accesses there stay. It does the same to other cells with the same
// entries, if the lanes of its own warp's entries differ from its lane as they do here.
struct BlockRaces::Step {
  static constexpr u8 kNow = 4, kNone = 5;
  static constexpr u64 kBoth = 0x1'0000'0001;  // a cell is two words here, with two accesses each
  using Words = std::array<u64, 2>;
  std::array<u8, 4> from;         // of each access afterwards: its place before
  u32 own;                        // those of the warp, a bit each
  bool again = false;             // whether it may be repeated; else the rest means nothing
  bool plain;                     // all that stay keep their places
  Words first, looked_at, slope;  // which cells it fits: what they have, in which bits; what a lane adds
  Words keep, put;                // of a plain one

  Step() {}

  static Words words(const Shadow::Cell& cell) {
    Words both;
    std::memcpy(&both, &cell, sizeof both);
    return both;
  }
  void prepare(const Shadow::Cell& cell, u32 lane) {
    first = words(cell);
    looked_at = slope = keep = put = {};
    plain = true;
    for (u32 i = 0; i < from.size(); ++i) {
      const u32 shift = i % 2 * 32;
      const bool mine = (own >> i & 1) != 0;
      looked_at[i / 2] |= u64{mine ? ~0u : ~31u} << shift;
      slope[i / 2] |= u64{mine} << shift;
      if (from[i] == i) keep[i / 2] |= u64{~0u} << shift;
      if (from[i] == kNow) put[i / 2] |= u64{~0u} << shift;
      plain = plain && (from[i] == i || from[i] >= kNow);
    }
    for (u32 w = 0; w < 2; ++w) first[w] -= lane * slope[w];
  }
  bool fits(const Shadow::Cell& cell, u32 lane) const {
    const Words has = words(cell);
    u64 wrong = 0;
    for (u32 w = 0; w < 2; ++w) wrong |= ((has[w] - lane * slope[w]) ^ first[w]) & looked_at[w];
    return wrong == 0;
  }
  void apply(Shadow::Cell& to, Access32 now) const {
    if (plain) {
      Words has = words(to);
      for (u32 w = 0; w < 2; ++w) has[w] = (has[w] & keep[w]) | (now.bits * kBoth & put[w]);
      std::memcpy(static_cast<void*>(&to), &has, sizeof has);
      return;
    }
    const std::array<Access32, 6> all = {to.by[0], to.by[1], to.by[2], to.by[3], now, Access32()};
    for (u32 i = 0; i < to.by.size(); ++i) to.by[i] = all[from[i]];
  }
  // Eight cells at once, of lanes that follow each other and have `each` cells.
  static constexpr u32 kCells = 8;
  bool repeat(Shadow::Cell* cells, u32 each, Access32 now) const {
    if (!again || !plain) return false;
    return each == 1 ? repeated<1>(cells, now) : each == 2 ? repeated<2>(cells, now) : repeated<4>(cells, now);
  }

 private:
  typedef u64 Two __attribute__((vector_size(2 * sizeof(Shadow::Cell))));  // cells
  typedef u64 TwoAt __attribute__((vector_size(2 * sizeof(Shadow::Cell)), aligned(4), may_alias));
  static Two twice(const Words& words) { return Two{words[0], words[1], words[0], words[1]}; }
  template <u32 kEach>
  bool repeated(Shadow::Cell* cells, Access32 now) const {
    TwoAt* const all = reinterpret_cast<TwoAt*>(cells);
    const auto lanes = [](u64 first, u32 i) {
      const u64 one = first + 2 * i / kEach, two = first + (2 * i + 1) / kEach;
      return Two{one, one, two, two};
    };
    const Two its = twice(first), bits = twice(looked_at), more = twice(slope);
    Two wrong = {};
    for (u32 i = 0; i < kCells / 2; ++i) wrong |= ((all[i] - lanes(now.lane(), i) * more) ^ its) & bits;
    if ((wrong[0] | wrong[1] | wrong[2] | wrong[3]) != 0) return false;
    const Two kept = twice(keep), new_at = twice(put);
    for (u32 i = 0; i < kCells / 2; ++i) all[i] = (all[i] & kept) | (lanes(now.bits, i) * kBoth & new_at);
    return true;
  }
};

// A warp's accesses of one kind, and what they have done to cells.
struct BlockRaces::Pass {
  BlockRaces& races;
  Current now;
  std::array<Step, 4> steps;
  u32 next = 0;

  Pass(BlockRaces& races, const Current& now) : races(races), now(now) {}
  Access32 access(u32 lane) const { return {now.index << 5 | lane}; }
  const Step& one(Shadow::Cell& cell, u32 lane, u64 address) {
    const Step* fitting =
        std::find_if(steps.begin(), steps.end(), [&](auto& s) { return s.again && s.fits(cell, lane); });
    if (fitting == steps.end()) {
      Step& fresh = steps[next++ % steps.size()];
      races.plan(fresh, now, cell, lane, address);
      fitting = &fresh;
    }
    fitting->apply(cell, access(lane));
    return *fitting;
  }
  // Cells of lanes that follow each other, which have some each.
  void row(Shadow::Cell* cells, u32 each, u32 lane, u32 count, u64 address) {
    for (u32 i = 0; i < count * each;) {
      const u32 now_lane = lane + i / each;
      if (i % each == 0) now.reported = false;
      const Step& step = one(cells[i], now_lane, address + u64{now_lane - lane} * now.size);
      ++i;
      while (i % each == 0 && i + Step::kCells <= count * each && step.repeat(cells + i, each, access(lane + i / each)))
        i += Step::kCells;
    }
  }
  // One cell of several lanes. As soon as each only takes the place of the lane before, the last one is what remains.
  void point(Shadow::Cell& cell, u32 lane, u32 count, u64 address) {
    for (const u32 end = lane + count; lane < end; ++lane) {
      now.reported = false;
      const bool replaces = cell.by[3].index() == now.index;
      const Step& step = one(cell, lane, address);
      if (!replaces || !step.again || !step.plain || step.from[3] != Step::kNow) continue;
      u32 later = 0;  // among those are lanes that come later
      for (const u32 i : set_bits(step.own & 7)) later |= cell.by[i].lane() > lane;
      if (later != 0) continue;
      cell.by[3] = access(end - 1);
      return;
    }
  }
};

void BlockRaces::report(const Current& now, u32 lane, u64 address, Access32 other) {
  const AccessLog::Entry& e = now.log[other.index()];
  const Race race{{block_.number, member(now.warp, lane), now.kind, now.site},
                  {e.block, e.warp * kWarpSize + other.lane(), e.kind, grid_.site(e.site)},
                  now.space,
                  address,
                  now.size};
  is_guess(now.kind, e.kind) ? grid_.doubt(race) : report_race(*block_.grid, race);
}

void BlockRaces::plan(Step& step, Current& now, const Shadow::Cell& cell, u32 lane, u64 address) {
  const auto own = [&](const AccessLog::Entry& e) { return e.block == block_.number && e.warp == now.warp.index; };
  // One's own atomic operation at a place comes after those that were there before it, and so does what one does there
  // next: the last block sets the counter of blocks back by a plain write.
  const auto has_followed = [&](u32 other) {
    for (u32 i = other + 1; i < cell.by.size() && cell.by[i].bits != 0; ++i) {
      const AccessLog::Entry& e = now.log[cell.by[i].index()];
      if ((e.kind & AccessLog::kAtomic) != 0 && own(e) && cell.by[i].lane() == lane) return true;
    }
    return false;
  };
  const Thread& self = knows(now.warp, lane);
  const bool alike = alike_[now.warp.index] != 0, silent = (now.kind & AccessLog::kSilent) != 0;
  u32 kept = 0;
  step.own = 0;
  step.again = alike;
  for (u32 i = 0; i < cell.by.size() && cell.by[i].bits != 0; ++i) {
    const Access32 other = cell.by[i];
    const AccessLog::Entry& e = now.log[other.index()];
    Current::Known& known = now.known[other.index() % Current::kKnown];
    if (!alike || known.index != other.index()) known = {other.index(), known_lanes(self, e)};
    const bool atomic = (e.kind & AccessLog::kAtomic) != 0, mine = own(e) && (e.kind & AccessLog::kAsync) == 0;
    const bool before =
        (known.lanes >> other.lane() & 1) != 0 || (mine && other.lane() == lane) || (atomic && has_followed(i));
    const u32 unknown = e.lanes & ~known.lanes;  // of all lanes, or of none: else it depends on the other's lane
    if (mine && unknown != 0) step.own |= 1u << i;
    const bool exchange = now.space == Space::shared && !silent && in_step(now.log[now.index], lane, e);
    const bool races = !before && (exchange || conflict(now.kind, block_.number, silent, e));
    if (races && !std::exchange(now.reported, true)) report(now, lane, address, other);
    step.again = step.again && !atomic && !races && (unknown == 0 || unknown == e.lanes);
    const bool taken_back = own(e) && other.lane() == lane && takes_back(now.kind, e.kind);
    if (!before || !(covered(now.kind, e.kind) || taken_back)) step.from[kept++] = static_cast<u8>(i);
  }
  if (kept == cell.by.size()) {
    // One of them has to go: one that shares its warp and kind with another, else the oldest.
    u32 gone = 0;
    for (u32 i = 0; i < kept; ++i) {
      for (u32 k = 0; k < i; ++k) {
        const AccessLog::Entry &a = now.log[cell.by[i].index()], &b = now.log[cell.by[k].index()];
        if (a.block == b.block && a.warp == b.warp && a.kind == b.kind) gone = i;
      }
    }
    std::copy(step.from.begin() + gone + 1, step.from.end(), step.from.begin() + gone);
    --kept;
  }
  step.from[kept++] = Step::kNow;
  std::fill(step.from.begin() + kept, step.from.end(), Step::kNone);
  step.prepare(cell, lane);
}

void BlockRaces::check(Current& now, u32 lane, u64 address) {
  now.reported = false;
  now.shadow.each(address, now.size, [&](Shadow::Cell& cell) {
    Step step;
    plan(step, now, cell, lane, address);
    step.apply(cell, {now.index << 5 | lane});
  });
}

// What lanes in no order will need is everywhere in memory: asked for first, it comes while others are looked at.
static void fetch_ahead(Shadow& shadow, const AccessLog& log, const Together& all) {
  u32 count = 0;
  std::array<const Shadow::Cell*, kWarpSize> cells;
  for (const u32 lane : set_bits(all.lanes)) {
    cells[count] = shadow.row(all.address(lane), all.size).cells;
    __builtin_prefetch(cells[count++]);
  }
  for (u32 i = 0; i < count; ++i) {
    if (cells[i] == nullptr) continue;
    for (const Access32 access : cells[i]->by) __builtin_prefetch(&log[access.index()]);
  }
}

bool BlockRaces::touched(Warp& warp, const Site& site, const Together& all) {
  if (!all.shared && !grid_.plain()) return false;
  Shadow& shadow = all.shared ? shadow_ : grid_.shadow;
  std::array<std::optional<Pass>, 2> passes;  // [1]: of writes that change nothing
  if (all.scattered()) fetch_ahead(shadow, all.shared ? log() : grid_.log, all);
  for (u32 lane = 0; lane < kWarpSize;) {
    const auto ends = [&](u32 same) { return first_lane(~same >> 1 >> lane | 1u << (kWarpSize - 1 - lane)) + 1; };
    const u32 silent = all.silent >> lane & 1;
    u32 count = 1;
    if ((all.lanes >> lane & 1) != 0) {
      std::optional<Pass>& pass = passes[silent];
      if (!pass) {
        const u32 kind = (all.writes ? AccessLog::kWrites : 0) | (silent != 0 ? AccessLog::kSilent : 0);
        pass.emplace(*this, Current{warp, site, all.shared ? Space::shared : Space::global, all.size,
                                    static_cast<u8>(kind), all.shared ? log() : grid_.log, shadow,
                                    entry(warp, site, all.shared, static_cast<u8>(kind))});
      }
      const u64 address = all.address(lane);
      const auto [cells, each, in_row] = shadow.row(address, all.size);
      if (cells == nullptr) {
        pass->now.reported = false;
        shadow.each(address, all.size, [&](Shadow::Cell& cell) { pass->one(cell, lane, address); });
      } else if (lane + 1 < kWarpSize && (all.repeats >> (lane + 1) & 1) != 0) {
        count = ends(all.repeats);
        for (u32 i = 0; i < each; ++i) pass->point(cells[i], lane, count, address);
      } else {
        const u32 alike = silent != 0 ? all.silent : ~all.silent;
        count = std::min(ends(all.follows & alike), in_row);
        pass->row(cells, each, lane, count, address);
      }
    }
    lane += count;
  }
  return true;
}

void BlockRaces::touched(Warp& warp, const Site& site, const std::vector<Touch>& touches) {
  const u32 control = site.instruction->control;
  std::optional<Current> now;
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
    Shadow& shadow = shared ? Watch::of(*touch.owner).races()->shadow_ : grid_.shadow;
    if (!now || now->kind != kind || now->size != touch.size || &now->shadow != &shadow) {
      now.emplace(Current{warp, site, touch.space, touch.size, kind, shared ? log() : grid_.log, shadow,
                          entry(warp, site, shared, kind)});
    }
    check(*now, touch.lane, touch.address);
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

}  // namespace cudasim
