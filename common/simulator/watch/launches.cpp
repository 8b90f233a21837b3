#include "common/simulator/watch/launches.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/race.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

namespace cudasim {
namespace {

constexpr std::size_t kMostWaiting = 256;  // launches that have not ended; more are taken for ordered

// What a launch has done to a word, or a byte.
enum : u8 { kReads = 1, kWrites = 2, kReadsStrong = 4, kWritesStrong = 8 };
struct Mark {
  u8 kinds = 0;
  u8 lane = 0;
  u32 entry = 0;  // of one that wrote, if one did
  u32 grid = 0;   // whose: a launch's children belong to it

  bool writes() const { return (kinds & (kWrites | kWritesStrong)) != 0; }
  void join(const Mark& other) {
    const u8 both = kinds | other.kinds;
    if (kinds == 0 || (other.writes() && !writes())) *this = other;
    kinds = both;
  }
};
struct MarkedPage {
  u64 unit = 4;  // bytes of a mark
  std::vector<Mark> marks;

  void split() {
    if (unit == 1) return;
    std::vector<Mark> bytes(marks.size() * unit);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = marks[i / unit];
    marks = std::move(bytes);
    unit = 1;
  }
};

struct Ran {
  std::string kernel;
  std::shared_ptr<const Program> program;
  Dim3 grid, block;
  std::vector<Site> sites;
  std::vector<AccessLog::Entry> entries;
};

// What is left of a launch, and of the grids that it has launched itself.
struct Remains {
  u64 context = 0;
  std::vector<Ran> grids;
  std::map<u64, MarkedPage> pages;

  void add(Remains more) {
    const auto before = static_cast<u32>(grids.size());
    context = more.context;
    std::move(more.grids.begin(), more.grids.end(), std::back_inserter(grids));
    for (auto& [number, page] : more.pages) {
      for (Mark& mark : page.marks) mark.grid += before;
      MarkedPage& mine = pages[number];
      if (mine.marks.empty()) {
        mine = std::move(page);
        continue;
      }
      if (mine.unit != page.unit) mine.split(), page.split();
      for (std::size_t i = 0; i < page.marks.size(); ++i) mine.marks[i].join(page.marks[i]);
    }
  }
};

struct Launched {
  std::set<u64> beside;  // launches that may run at the same time
  bool ended = false;
  Remains remains;
};

struct Launches {
  std::mutex mutex;
  u64 count = 0;
  std::map<const void*, std::set<u64>> before;  // launches not ended yet that each task comes after, itself included
  std::map<const void*, u64> numbers;           // of tasks that are launches
  std::map<u64, Launched> launched;

  void forget_old() {
    for (auto at = launched.begin(); at != launched.end();) {
      const auto has_ended = [this](u64 other) { return launched.count(other) == 0 || launched[other].ended; };
      const bool old = at->second.ended && std::all_of(at->second.beside.begin(), at->second.beside.end(), has_ended);
      at = old ? launched.erase(at) : std::next(at);
    }
  }
};

Launches& launches() {
  static Launches& made = *new Launches;
  return made;
}

thread_local u64 running = 0;  // the launch that this thread runs

std::string told(const Ran& of, const Mark& mark) {
  const AccessLog::Entry& e = of.entries[mark.entry];
  return coordinates(place_in(e.warp * kWarpSize + mark.lane, of.block)) + " of block " +
         coordinates(place_in(e.block, of.grid)) + (mark.writes() ? " writes there, at " : " reads there, at ") +
         where(*of.program, of.sites[e.site]);
}

bool conflict(u8 a, u8 b) {
  const auto writes = [](u8 kinds) { return (kinds & (kWrites | kWritesStrong)) != 0; };
  const auto weak = [](u8 kinds) { return (kinds & (kReads | kWrites)) != 0; };
  return a != 0 && b != 0 && (writes(a) || writes(b)) && (weak(a) || weak(b));
}
bool talks(u8 a, u8 b) {
  constexpr u8 kStrong = kReadsStrong | kWritesStrong;
  return (a & kStrong) != 0 && (b & kStrong) != 0 && ((a | b) & kWritesStrong) != 0;
}

void report(const Ran& a, const Mark& of_a, const Ran& b, const Mark& of_b, u64 address, u64 context) {
  const std::string at_a = where(*a.program, a.sites[a.entries[of_a.entry].site]);
  const std::string at_b = where(*b.program, b.sites[b.entries[of_b.entry].site]);
  const auto does = [](const Mark& mark) { return mark.writes() ? " writes" : " reads"; };
  const std::string one = a.kernel + at_a + does(of_a), other = b.kernel + at_b + does(of_b);
  const std::string key = "race between " + std::min(one, other) + std::max(one, other);
  find("data race", key,
       {{"kernel", readable(b.kernel)},
        {"thread", told(b, of_b)},
        {"kernel", readable(a.kernel) + (a.kernel == b.kernel ? ", launched before" : "")},
        {"thread", told(a, of_a)},
        {"where", hex(address) + " (global): " + AddressSpace::instance().describe(address, 1, context)},
        {"why",
         "both launches may run at the same time, because nothing orders them (the same stream would, or an event that "
         "one records and the other's stream waits for, or a wait on the host between them)"}});
}

// `a` was launched before `b`.
void compare(const Remains& a, const Remains& b) {
  const Mark *of_a = nullptr, *of_b = nullptr;
  u64 address = 0;
  for (const auto& [number, page] : a.pages.size() < b.pages.size() ? a.pages : b.pages) {
    const auto in_a = a.pages.find(number), in_b = b.pages.find(number);
    if (in_a == a.pages.end() || in_b == b.pages.end()) continue;
    const MarkedPage &page_a = in_a->second, &page_b = in_b->second;
    const u64 unit = std::min(page_a.unit, page_b.unit), bytes = page_a.unit * page_a.marks.size();
    for (u64 at = 0; at < bytes; at += unit) {
      const Mark &mark_a = page_a.marks[at / page_a.unit], &mark_b = page_b.marks[at / page_b.unit];
      if (talks(mark_a.kinds, mark_b.kinds)) return;
      if (of_a != nullptr || !conflict(mark_a.kinds, mark_b.kinds)) continue;
      of_a = &mark_a, of_b = &mark_b;
      address = number * bytes + at;
    }
  }
  if (of_a != nullptr) report(a.grids[of_a->grid], *of_a, b.grids[of_b->grid], *of_b, address, b.context);
}

Remains remains_of(GridRaces& races) {
  Remains left;
  const Launch& launch = races.grid.launch;
  left.context = launch.context;
  Ran& ran = left.grids.emplace_back();
  ran.kernel = races.grid.kernel.name;
  ran.program = launch.program;
  ran.grid = launch.grid;
  ran.block = launch.block;
  for (u32 site = 0; site < races.sites(); ++site) ran.sites.push_back(races.site(site));
  for (u32 entry = 0; entry < races.log.size(); ++entry) ran.entries.push_back(races.log[entry]);
  races.shadow.each_page([&](u64 number, u64 unit, const std::vector<Shadow::Cell>& cells) {
    MarkedPage& page = left.pages[number];
    page.unit = unit;
    for (const Shadow::Cell& cell : cells) {
      Mark& mark = page.marks.emplace_back();
      for (const Access32 access : cell.by) {
        if (access.bits == 0) break;
        const u8 kind = races.log[access.index()].kind;
        if ((kind & AccessLog::kSilent) != 0) continue;
        const bool writes = (kind & AccessLog::kWrites) != 0;
        const bool strong = (kind & AccessLog::kIsStrong) != 0;
        const u8 does = writes ? (strong ? kWritesStrong : kWrites) : strong ? kReadsStrong : kReads;
        mark.join({does, static_cast<u8>(access.lane()), access.index()});
      }
    }
  });
  return left;
}

}  // namespace

void launches_enter(const void* task, bool is_kernel, const std::vector<const void*>& after) {
  Launches& all = launches();
  const std::scoped_lock lock(all.mutex);
  std::set<u64>& before = all.before[task];
  before.clear();
  for (const void* other : after) {
    const auto found = other == nullptr ? all.before.end() : all.before.find(other);
    if (found != all.before.end()) before.insert(found->second.begin(), found->second.end());
  }
  if (!is_kernel || all.numbers.size() >= kMostWaiting) return;
  const u64 number = ++all.count;
  for (const auto& [other, its_number] : all.numbers) {
    if (before.count(its_number) != 0) continue;
    all.launched[its_number].beside.insert(number);
    all.launched[number].beside.insert(its_number);
  }
  all.numbers[task] = number;
  before.insert(number);
}

void launches_run(const void* task) {
  Launches& all = launches();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.numbers.find(task);
  running = found == all.numbers.end() ? 0 : found->second;
}

void launches_end(const void* task) {
  Launches& all = launches();
  const std::scoped_lock lock(all.mutex);
  all.before.erase(task);
  const auto found = all.numbers.find(task);
  if (found == all.numbers.end()) return;
  const auto launched = all.launched.find(found->second);
  if (launched != all.launched.end()) launched->second.ended = true;
  all.numbers.erase(found);
  all.forget_old();
}

void launches_left(GridRaces& races) {
  Launches& all = launches();
  const std::scoped_lock lock(all.mutex);
  const auto self = all.launched.find(running);
  if (running == 0 || self == all.launched.end()) return;
  Remains mine = remains_of(races);
  for (const u64 other : self->second.beside) {
    const auto found = all.launched.find(other);
    if (found == all.launched.end()) continue;
    if (other < running)
      compare(found->second.remains, mine);
    else
      compare(mine, found->second.remains);
  }
  self->second.remains.add(std::move(mine));
}

}  // namespace cudasim
