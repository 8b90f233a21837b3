// Reads of memory that was never written, byte by byte.
//
// Device memory (cuMemAlloc and the like, malloc in a kernel) begins unwritten. Kernels, copies and fills write it; a
// copy from one allocation to another also copies which bytes are unwritten. Memory that the host can write without a
// call and a module's variables count as written. A block's shared memory becomes unwritten when the block begins, a
// function's local memory with each call.
//
// Padding between the members of a structure is never written, but copied with it. A load of some bytes that were
// written and some that follow them and were not is a copy, if its value is only stored (copies.hpp); then the same
// bytes are unwritten where it is stored.
#pragma once
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/memory/written.hpp"
#include "common/simulator/watch/copies.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace cudasim {

struct Grid;

// The host reads device memory: reported if part of it was never written. `by`: the call.
void memory_is_read(u64 address, u64 size, const char* by);

// What a grid's threads read.
class GridReads {
 public:
  explicit GridReads(Grid& grid);
  // The marks of the tracked allocation at `address`, and where it begins; null if none is tracked.
  Written* find(u64 address, u64& base);
  Grid& grid;
  Copies copies;

 private:
  Tracked last_;
  u64 generation_ = ~u64{0};
};

class BlockReads {
 public:
  BlockReads(GridReads& grid, Block& block);
  void start();
  void touched(Warp& warp, const Site& site, const std::vector<Touch>& touches);
  void local_begins(const Warp& warp, u32 lanes, u32 offset, u32 size);
  void local_is_written(const Warp& warp, u32 lanes, u32 offset, u32 size);

 private:
  Written& local(u32 thread);
  struct Place {
    Written* written = nullptr;
    u64 offset = 0;
  };
  Place place_of(const Warp& warp, const Touch& touch);
  bool is_copy(const Site& site, const Touch& touch, const Place& place);
  bool writes_bits(const Site& site, const Touch& touch);
  void loaded(u32 thread, const Site& site, const Touch& touch, const Place& place);
  void stored(u32 thread, const Site& site, const Touch& touch, const Place& place);
  void report(Warp& warp, const Site& site, const Touch& touch, u64 missing);

  GridReads& grid_;
  Block& block_;
  std::unique_ptr<Written> shared_;
  std::vector<std::unique_ptr<Written>> local_;  // by thread
  std::unordered_map<u64, u32> unwritten_;  // by thread and register: which of its bytes were loaded unwritten
};

}  // namespace cudasim
