// A block of threads while it runs: its warps, its shared and local memory, its barriers. It can stop after any
// instruction and go on later, on another thread of the machine.
#pragma once
#include "common/simulator/exec/async.hpp"
#include "common/simulator/exec/compiled.hpp"
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/exec/warp.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/wanted.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace cudasim {

struct Block;
struct Cluster;
struct Grid;

constexpr u32 kBarriers = 16;
constexpr u32 kMaxWarps = 32;

// How far a block can access shared memory on a GPU, past the end of its own.
constexpr u32 mapped_shared(u32 shared_bytes) { return static_cast<u32>(round_up(shared_bytes, kSharedMapped)); }
// What is stored for that.
inline u32 stored_shared(u32 shared_bytes) { return hardware_bounds() ? mapped_shared(shared_bytes) : shared_bytes; }
// Where the system's part of shared memory is stored, behind the block's own.
inline u32 reserved_shared_at(u32 shared_bytes) { return static_cast<u32>(round_up(stored_shared(shared_bytes), 128)); }

// Bytes that come from a store of used ones; not cleared.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(u64 size);
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept { return swap(other), *this; }
  ~Buffer();
  std::byte* get() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept { std::swap(bytes_, other.bytes_), std::swap(capacity_, other.capacity_); }
  std::byte* bytes_ = nullptr;
  u64 capacity_ = 0;
};

// The views of a thread of the machine that runs blocks of a grid. They come from a store of used ones, too: what one
// launch has looked up serves the next.
class Views {
 public:
  explicit Views(u64 context);
  ~Views();
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;
  View* refreshed();  // forgets them if the map of memory has changed

 private:
  struct Kept {
    View views[kViews];
    u64 epoch = ~u64{0}, context = 0;
  };
  struct Store;
  static Store& store();
  std::unique_ptr<Kept> kept_;
};

// PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
struct Barrier {
  u32 wanted = 0;                // threads; 0: all that have not exited
  u32 threads = 0;               // that have arrived
  u32 holding = 0, reduced = 0;  // bar.red: threads whose predicate is true; that take part
  u32 arrived[kMaxWarps] = {};   // lanes, by warp
};

enum class Outcome : u8 {
  finished,
  spins,    // or waits for another block of its cluster
  expired,  // has used its slice
};

// Runs one warp until it ends, waits, spins or has used `budget` instructions. Throws Fault.
enum class Pause : u8 { ended, blocked, yielded, expired };
Pause run_warp(Warp& warp, i64& budget);

struct Block {
  Grid* grid = nullptr;
  Cluster* cluster = nullptr;
  Dim3 index{0, 0, 0};
  u64 number = 0;  // in the grid, x fastest
  u32 rank = 0;    // in its cluster
  u32 live_threads = 0;
  u32 runnable = 0;       // warps, a bit each
  u32 busy_barriers = 0;  // those at which threads have arrived
  std::byte* shared = nullptr;
  u32 shared_bytes = 0;
  u32 shared_begin = 0;        // its first address, in which the block's rank is
  u32 quick_shared_bytes = 0;  // what instructions may touch without access(): none, if an observer wants accesses
  std::vector<Warp> warps;
  std::array<Barrier, kBarriers> barriers;
  std::unique_ptr<BlockObserver> observer;  // null: nothing looks on
  AsyncGroups async;

  explicit Block(Grid& grid);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void start(Cluster& cluster, u64 number, Dim3 index, u32 rank);
  // Runs until it ends, spins, or has used `budget` instructions; what is left of it comes back. Throws Fault.
  Outcome run(Views& views, i64& budget);

  // The thread's local memory, of Grid::local_bytes; made when first asked for.
  std::byte* local(const Warp& warp, u32 lane);
  // The device runtime's last error in a thread, which begins as 0.
  u32& last_error(const Warp& warp, u32 lane);

  // The executing lanes arrive at a barrier; with `wait` they also wait there. count 0: all threads of the block.
  // holding: lanes whose predicate is true. Throws Fault if the barrier is used incorrectly.
  void arrive(Warp& warp, const Instruction& at, u32 id, u32 count, bool wait, Reduction reduction = Reduction::none,
              u32 holding = 0);
  void threads_exited(Warp& warp, u32 lanes);
  void park_held();  // makes fragments of warps that wait at barriers, which reports know
  std::string who_waits_where() const;  // for reports, one line each

 private:
  Buffer registers_, shared_, local_;
  std::vector<u32> last_errors_;  // of each thread; empty until one is asked for

  Pause run_hearing_all(Warp& warp, i64& left);
  bool complete(const Barrier& barrier) const;
  void open(u32 id);
};

// What the threads of the warp may touch of their local memory without access(): nothing, if an observer wants accesses
// or an alloca has moved the ends.
LocalRange local_range(const Warp& warp);

// The blocks of a cluster share memory, so one thread of the machine runs them in turn. Without clusters: one block.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  u32 arrived = 0;  // threads, at barrier.cluster
  AsyncSignals signals;

  Outcome run(Views& views, i64& budget);
  u32 live_threads() const;
  void look_again();  // a thread has arrived at barrier.cluster, or exited

 private:
  [[noreturn]] void deadlocked() const;
};

}  // namespace cudasim
