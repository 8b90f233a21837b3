// Uses of memory that was never written, as Valgrind's memcheck finds them on a CPU.
//
// Device memory (cuMemAlloc and the like, malloc in a kernel) begins unwritten. Kernels, copies and fills write it; a
// copy from one allocation to another also copies which bytes are unwritten. Memory that the host can write without a
// call and a module's variables count as written. A block's shared memory becomes unwritten when the block begins, a
// function's local memory with each call.
//
// To read unwritten memory is no mistake by itself: a copy of a structure copies the padding between its members, too.
// So registers remember which of their bits are unwritten (unwritten.hpp), instructions pass them on (carry.cpp), and a
// store makes its bytes unwritten again. It is a mistake to use them: as an address, as the condition of a branch or
// the predicate of an instruction, as the operand of a barrier or of an atomic operation, or to let the host see them.
#pragma once
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/memory/written.hpp"
#include "common/simulator/watch/together.hpp"
#include "common/simulator/watch/unwritten.hpp"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace cudasim {

struct Grid;

// The host reads device memory: reported if part of it was never written. `by`: the call.
void memory_is_read(u64 address, u64 size, const char* by);

// What a grid's threads read.
class GridReads {
 public:
  explicit GridReads(Grid& grid) : grid(grid) {}
  // The marks of the tracked allocation at `address`, and where it begins; null if none is tracked.
  Written* find(u64 address, u64& base);
  // The same of all that a warp accesses, if it is in one allocation, or in none.
  bool find(const Together& all, Written*& written, u64& base);
  // What an instruction reads and writes.
  std::span<const Code::Use> uses(const Site& site);
  // The number of the load that `site` is; the first thread that has read unwritten memory there tells of it.
  template <class Describe>
  u32 origin(const Site& site, Describe describe);
  Grid& grid;

 private:
  Tracked last_;
  u64 generation_ = ~u64{0};
  const Code* code_ = nullptr;  // whose first_ it is
  std::unordered_map<const Code*, std::vector<u32>> first_;  // by instruction: the first of Code::uses
  std::vector<u32>* now_ = nullptr;
  std::unordered_map<const Instruction*, u32> origins_;
};

class BlockReads {
 public:
  BlockReads(GridReads& grid, Block& block) : grid_(grid), block_(block) {}
  void start();
  // Whether a register has unwritten bits: only then begins() and carried() have something to do.
  bool holds() const { return !frames_.empty(); }
  void begins(Warp& warp, const Site& site, u32 mask);
  void carried(Warp& warp, const Site& site);
  void touched(Warp& warp, const Site& site, const std::vector<Touch>& touches);
  // The accesses of a whole warp; false if they have to be looked at one by one.
  bool touched(const Together& all);
  void ended() { sources_.clear(); }
  void local_is_new(const Warp& warp, u32 offset, u32 size);
  void local_is_written(const Warp& warp, u32 lane, u32 offset, u32 size);
  void frame_is_new(const Frame& frame) { frames_.erase(&frame); }
  void passed(const Warp& warp, const Passed& to, const Passed& from, u32 size);

 private:
  // A register with unwritten bits that the instruction reads, and what was in it.
  struct Source {
    Unwritten::Register bits;
    std::array<std::byte, Unwritten::Register::kWidest * kWarpSize> before;
  };
  struct Place {
    Written* written = nullptr;
    u64 offset = 0;
  };
  Written& local(u32 thread);
  Unwritten& unwritten_of(const Frame* frame);
  Place place_of(const Warp& warp, const Touch& touch);

  void carry_bits(Warp& warp, const Site& site);
  void carry_whole(const Warp& warp, const Site& site, u32 from, u32 to);
  void loaded(const Warp& warp, const Site& site, const Touch& touch, const Place& place, Slot slot, u32 at, u32 size);
  void stored(Warp& warp, const Site& site, const Touch& touch, const Place& place, Slot slot, u32 at, u32 size);
  void read(Warp& warp, const Site& site, const std::vector<Touch>& touches, const Touch& touch, const Place& place);
  void wrote(Warp& warp, const Site& site, const Touch& touch, const Place& place);
  const Source* source(Slot slot) const;
  std::string access_of(const Touch& touch) const;
  std::string lies(const Touch& touch, u64 missing) const;
  void report_read(Warp& warp, const Site& site, const Touch& touch, u64 missing);
  void report_use(const Warp& warp, const Site& site, u32 lane, u32 origin, const std::string& use);

  GridReads& grid_;
  Block& block_;
  std::unique_ptr<Written> shared_;
  std::vector<std::unique_ptr<Written>> local_;  // by thread
  std::unordered_map<const Frame*, Unwritten> frames_;  // those with unwritten bits
  const Frame* frame_ = nullptr;  // of the instruction that runs, if it is one of them
  std::vector<Source> sources_;
};

}  // namespace cudasim
