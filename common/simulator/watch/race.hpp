// Data races: two threads touch the same bytes, one of them writes, and nothing orders them.
//
// The rules are those of PTX ISA, "Memory Consistency Model", and of its barriers. Each accessed byte remembers up to
// four accesses; each thread knows up to which time it knows those of others (clock.hpp). These establish an order:
// barriers of the block, its warps and its cluster; release and acquire; fences with strong accesses (volatile,
// relaxed, atomic) after and before them; mbarriers; waits for asynchronous copies.
//
// One rule is stricter: lanes of a warp that write volatile shared memory together and then read each other's values
// rely on running in step, which no device since sm_70 promises.
//
// Four rules are weaker than the manual's, because common programs would be reported otherwise. A barrier makes what
// an earlier atomic operation or volatile read has seen known to the block, as a fence does. Warp-wide operations with
// a member mask order memory, which the manual promises for bar.warp.sync only. Threads that write the value that is
// there already do not race with other writers, nor with readers in other blocks. A plain read of what the same thread
// then compares and swaps is only a guess at it, as in the programming guide's own atomic operations.
#pragma once
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/watch/clock.hpp"
#include "common/simulator/watch/families.hpp"
#include "common/simulator/watch/together.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace cudasim {

struct Grid;
struct Block;

// All that a lane's access is remembered by: an index in here, and the lane.
struct Access32 {
  u32 bits = 0;  // 0: none
  u32 index() const { return bits >> 5; }
  u32 lane() const { return bits & 31; }
};

class AccessLog {
 public:
  enum : u8 {
    kWrites = 1,
    kIsStrong = 2,
    kInBlock = 4,
    kAsync = 8,
    kAtomic = 16,
    kSilent = 32,
    kIsVolatile = 64,
    kSwaps = 128,  // compares and swaps
  };
  struct Entry {
    u32 block = 0, time = 0, site = 0;
    u32 lanes = 0;  // that have executed it
    u8 warp = 0, kind = 0;
  };
  AccessLog() { clear(); }
  void clear() { entries_.assign(1, Entry()); }
  u32 add(const Entry& entry) {
    entries_.push_back(entry);
    return static_cast<u32>(entries_.size() - 1);
  }
  const Entry& operator[](u32 index) const { return entries_[index]; }
  Entry& operator[](u32 index) { return entries_[index]; }
  u32 size() const { return static_cast<u32>(entries_.size()); }
  bool full() const { return entries_.size() >= kMost; }

 private:
  static constexpr u32 kMost = 1u << 24;
  std::vector<Entry> entries_;
};

// What has touched each byte; words are split into bytes where an access does.
class Shadow {
 public:
  struct Cell {
    std::array<Access32, 4> by;
  };
  // f(cell) for each cell of [address, address + size).
  template <class F>
  void each(u64 address, u64 size, F f);
  // Accesses of `size` bytes from `address` on, aligned to it, to the end of the page: their cells, and each one's.
  // Null: they have parts of cells, or too many.
  struct Row {
    Cell* cells = nullptr;
    u32 each = 0, count = 0;
  };
  Row row(u64 address, u32 size);
  // f(number of the page, bytes of a cell, cells)
  template <class F>
  void each_page(F f) const {
    for (const auto& [number, page] : pages_) f(number, page.split ? 1 : 4, page.cells);
  }
  // The same for those that are there.
  template <class F>
  void each_known(u64 address, u64 size, F f) const;
  void clear() { pages_.clear(), last_ = nullptr, bytes_ = 0; }
  u64 bytes() const { return bytes_; }  // that it takes

 private:
  static constexpr u64 kPage = 4096;
  struct Page {
    bool split = false;
    std::vector<Cell> cells;
  };
  Page& page(u64 number);
  void split(Page& page);

  std::unordered_map<u64, Page> pages_;
  Page* last_ = nullptr;
  u64 last_number_ = 0;
  u64 bytes_ = 0;
};

// A place that threads tell each other something through.
struct Message {
  Ref<Blocks> wide;   // for all threads
  Ref<Times> narrow;  // for the block only
  u64 narrow_block = 0;
};
using Messages = std::unordered_map<u64, Message>;

// Two accesses that race, as they are reported.
struct Race {
  struct Side {
    u64 block = 0;
    u32 thread = 0;  // of the block
    u8 kind = 0;
    Site site;
  };
  Side now, before;
  Space space = Space::global;
  u64 address = 0;
  u32 size = 0;
};

void report_race(const Grid& grid, const Race& race);
// "reads 4 bytes" (now), "has read there".
std::string done(u8 kind, bool now, u32 size);
// Whether an access of this kind by a thread of `block` conflicts with one that does not happen before it.
bool conflict(u8 now, u64 block, bool silent, const AccessLog::Entry& before);

class GridRaces : public std::enable_shared_from_this<GridRaces> {
 public:
  explicit GridRaces(Grid& grid);
  // f(entry, lane) for each access to those bytes that did not happen before the launch at `point`, by whose grid it
  // was made.
  template <class F>
  void each_beside(const LaunchPoint& point, u64 address, u64 size, F f) const;
  // Memory that is not looked at: the places of children's parameters, of which each is one thread's at a time.
  bool left_out(const Touch& touch) const {
    return touch.space == Space::global && touch.address - left_out_ < left_out_size_;
  }
  // Whether a plain access of a warp concerns neither that nor an ancestor.
  bool plain() const { return launched_at == nullptr && left_out_size_ == 0; }
  u32 site(const Site& site);
  const Site& site(u32 index) const { return sites_[index]; }
  u32 sites() const { return static_cast<u32>(sites_.size()); }
  void make_room();  // forgets all accesses if they take too much memory

  // A race between a plain read and an atomic operation is reported in the end, unless the reader takes it back by a
  // compare-and-swap of the same place.
  void doubt(const Race& race);
  void take_back(u64 block, u32 thread, u64 address);
  void report_doubts();

  Grid& grid;  // until it ends
  const std::string kernel;
  const std::shared_ptr<const Program> program;
  const Dim3 blocks, threads;                            // of the grid, and of its blocks
  const std::shared_ptr<const LaunchPoint> launched_at;  // null: by the host
  AccessLog log;
  Shadow shadow;  // of global memory
  Messages messages;

 private:
  std::unordered_map<const Instruction*, u32> numbers_;
  std::vector<Site> sites_;
  std::map<std::tuple<u64, u32, u64>, Race> doubts_;  // by block and thread of the reader, and address
  u64 left_out_ = 0, left_out_size_ = 0;
  bool told_ = false;
};

class BlockRaces {
 public:
  BlockRaces(GridRaces& grid, Block& block);
  void start();

  void touched(Warp& warp, const Site& site, const std::vector<Touch>& touches);
  // The accesses of a whole warp; false if they have to be looked at one by one.
  bool touched(Warp& warp, const Site& site, const Together& all);

  void arrive(Warp& warp, u32 lanes, u32 id);
  void open(u32 id);
  void meet(Warp& warp, u32 lanes);
  void fence(Warp& warp, bool in_block);
  void cluster_arrive(Warp& warp, u32 lanes);
  void cluster_open();
  void release(Warp& warp, u32 lane, u64 address, Block& owner, bool copies);
  void acquire(Warp& warp, u32 lane, u64 address, Block& owner);
  void commit(Warp& warp, u32 lanes, bool bulk);
  void wait(Warp& warp, u32 lane, u32 pending, bool bulk);
  void wait_all(Warp& warp, u32 lanes);
  std::shared_ptr<const LaunchPoint> launch_point(const Warp& warp, u32 lane);

 private:
  struct Thread {
    Clock seen;
    Clock fenced;                           // what all threads may learn of it by a strong write …
    Clock fenced_here;                      // … and its block
    u32 fenced_at = 0, fenced_here_at = 0;  // its own time in them
    Clock heard;                            // by strong reads: known behind a fence or barrier
    std::vector<u32> groups, bulk;          // of copies: their times
  };
  // Threads that come together.
  struct Meeting {
    Clock seen, fenced, fenced_here;
    Clock last;  // joined last: most threads bring the same
    bool any = false;
  };

  u32 member(const Warp& warp, u32 lane) const;
  const Thread& knows(const Warp& warp, u32 lane) const {
    return threads_[alike_[warp.index] ? warp.index * kWarpSize : member(warp, lane)];
  }
  Thread& thread(const Warp& warp, u32 lane);
  template <class F>
  void each_thread(const Warp& warp, u32 lanes, F f);
  void settle_heard(Thread& thread);
  void bring(Meeting& meeting, Warp& warp, u32 lanes);
  void take(const Meeting& meeting, Warp& warp, u32 lanes);
  u32 entry(Warp& warp, const Site& site, bool shared, u8 kind);
  struct Current;
  struct Step;
  struct Pass;
  u32 known_lanes(const Thread& self, const AccessLog::Entry& e) const;
  void plan(Step& step, Current& now, const Shadow::Cell& cell, u32 lane, u64 address);
  void report(const Current& now, u32 lane, u64 address, Access32 other);
  void check(Current& now, u32 lane, u64 address);
  void check_ancestors(Warp& warp, const Site& site, const Touch& touch, u8 kind);
  void converse(Warp& warp, const Touch& touch, u32 control);
  void publish(Message& message, const Clock& clock, u32 member, u32 time, bool wide);
  void hear(Thread& thread, const Message& message, bool at_once, bool in_block);
  AccessLog& log();  // of shared memory: a cluster's blocks use the grid's

  GridRaces& grid_;
  Block& block_;
  std::vector<Thread> threads_;
  std::vector<u8> alike_;  // by warp: what its first thread knows, all know
  std::vector<u32> now_, copies_now_;  // by warp
  AccessLog log_;
  Shadow shadow_;  // of the block's shared memory
  Messages messages_;
  std::array<Meeting, 16> barriers_;
  Meeting cluster_;  // the first block's is the cluster's

  struct Recent {
    const Instruction* instruction = nullptr;
    u32 time = 0, index = 0;
    u8 kind = 0;
    bool shared = false;
  };
  static constexpr u32 kRecent = 32;
  std::vector<Recent> recent_;  // by warp, kRecent of them
};

}  // namespace cudasim
