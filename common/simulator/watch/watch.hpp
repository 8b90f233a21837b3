// Passes what the executor reports about a grid to the checks, the counters and the trace that the environment asks
// for.
#pragma once
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/profile/sight.hpp"
#include "common/simulator/watch/init.hpp"
#include "common/simulator/watch/race.hpp"
#include "common/simulator/watch/sync.hpp"

#include <memory>
#include <vector>

namespace cudasim {

// What observes the grid; null if nothing is asked for.
std::unique_ptr<GridObserver> watch_grid(Grid& grid);

// Null pointers for what is not asked for.
class GridWatch final : public GridObserver {
 public:
  explicit GridWatch(Grid& grid);
  ~GridWatch() override;
  std::unique_ptr<BlockObserver> observe(Block& block) override;

  std::shared_ptr<GridRaces> races;  // children of the grid compare what they do
  std::unique_ptr<GridReads> reads;
  bool variables = false;  // of shared memory: whether accesses stay within them
  bool sync = false;
  std::unique_ptr<Sight> sight;  // counters and trace
};

class Watch final : public BlockObserver {
 public:
  Watch(GridWatch& grid, Block& block);
  void start() override;

  void touch(u32 lane, Space space, u64 address, std::byte* at, u32 size, Access kind) override;
  void begins(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) override;
  void executed(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) override;
  void failed(Warp& warp, const Fault& fault) override;
  void asynchronous() override { asynchronous_ = true; }
  void local_is_new(const Warp& warp, u32 offset, u32 size) override;
  void frame_is_new(const Frame& frame) override;
  void passed(const Warp& warp, const Passed& to, const Passed& from, u32 size) override;
  void local_is_written(const Warp& warp, u32 lane, u32 offset, u32 size) override;

  void arrive(Warp& warp, const Instruction& at, u32 id, u32 count) override;
  void open(u32 id) override;
  void meet(Warp& warp, const Instruction& at, const u32* members) override;
  void come(Warp& warp, const Instruction& at, const u32* members) override;
  void met(Warp& warp, u32 lanes) override;
  void fence(Warp& warp, const Instruction& at) override;
  void cluster_arrive(Warp& warp) override;
  void cluster_open() override;
  void release(Warp& warp, u32 lane, std::byte* at) override;
  void acquire(Warp& warp, u32 lane, std::byte* at) override;
  void commit(Warp& warp, bool bulk) override;
  void wait(Warp& warp, u32 lane, u32 pending, bool bulk) override;
  void wait_all(Warp& warp) override;
  void release_copies(Warp& warp, u32 lane, std::byte* at) override;

  // Those of a block that a GridWatch observes.
  static Watch& of(const Block& block) { return static_cast<Watch&>(*block.observer); }
  BlockRaces* races() const { return races_.get(); }
  BlockReads* reads() const { return reads_.get(); }

 private:
  void hand_on(Warp& warp, const Site& site);
  void hand_on_together(Warp& warp, const Site& site);

  GridWatch& grid_;
  Block& block_;
  std::unique_ptr<BlockRaces> races_;
  std::unique_ptr<BlockReads> reads_;
  std::unique_ptr<BlockSync> sync_;
  std::vector<Touch> touches_;
  Sight* sight_ = nullptr;  // if it sees this block
  bool asynchronous_ = false;
  Together together_;
  bool is_together_ = false;  // the accesses of the instruction that runs
};

}  // namespace cudasim
