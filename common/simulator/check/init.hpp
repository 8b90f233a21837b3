// Reads of memory that nobody has written, byte by byte.
//
// Device memory (cuMemAlloc and its kin, malloc in a kernel) begins unwritten; kernels, copies and fills write it, and
// a copy from one allocation to another carries along what is unwritten. Memory that the host can write, too, and a
// module's variables count as written. A block's shared memory begins unwritten with the block, a function's local
// memory with each call.
#pragma once
#include "common/simulator/check/touch.hpp"

#include <memory>
#include <vector>

namespace cudasim {

struct Grid;

// One bit a byte of an allocation.
class Written {
 public:
  explicit Written(u64 size);
  ~Written();
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  void set(u64 offset, u64 size);
  void unset(u64 offset, u64 size);
  // Of [offset, offset + size) the first byte that nobody has written; `size` if all have been.
  u64 first_unwritten(u64 offset, u64 size) const;

 private:
  u64 words_;
  u64* bits_;
};

// Device memory, of all contexts. Nothing is kept unless the check is on.
void memory_begins(u64 base, u64 size);
void memory_ends(u64 base);
void memory_is_written(u64 address, u64 size);
// `to` becomes as written as `from` is; what is not tracked counts as written.
void memory_is_copied(u64 to, u64 from, u64 size);
// The host reads device memory: reported if part of it was never written. `by`: the call.
void memory_is_read(u64 address, u64 size, const char* by);

// What a grid's threads read.
class GridReads {
 public:
  explicit GridReads(Grid& grid) : grid(grid) {}
  // The tracked allocation that holds `address`, and where it begins; null if there is none.
  Written* find(u64 address, u64& base);
  Grid& grid;

 private:
  std::shared_ptr<Written> last_;
  u64 begin_ = 0, end_ = 0, generation_ = ~u64{0};
};

class BlockReads {
 public:
  BlockReads(GridReads& grid, Block& block);
  void start();
  void touched(Warp& warp, const Place& place, const std::vector<Touch>& touches);
  void local_begins(const Warp& warp, u32 lanes, u32 offset, u32 size);
  void local_is_written(const Warp& warp, u32 lanes, u32 offset, u32 size);

 private:
  Written& local(u32 thread);
  void report(Warp& warp, const Place& place, const Touch& touch, u64 missing);

  GridReads& grid_;
  Block& block_;
  std::unique_ptr<Written> shared_;
  std::vector<std::unique_ptr<Written>> local_;  // by thread
};

}  // namespace cudasim
