// A grid while it runs: which blocks are to start, which go on, what went wrong first.
#pragma once
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/observer.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace cudasim {

struct Grid {
  const Launch& launch;
  const Program& program;
  const Kernel& kernel;
  const Code& entry;
  u32 threads, warps;       // of a block
  Dim3 cluster;             // blocks of a cluster
  bool explicit_cluster;    // that the kernel or the launch has asked for
  u32 shared_bytes;         // static and dynamic
  u32 stored_shared_bytes;  // and what the system keeps behind them, if the kernel asks where
  u32 local_bytes;          // of a thread
  u32 frame_stride;         // from one warp's registers to the next's
  std::vector<u32> tid[3];  // x, y, z of each thread of a block
  const std::byte* constants;  // the entry's, with this launch's own

  explicit Grid(const Launch& launch);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  // A cooperative launch has a few words of device memory for its barrier (cooperative_groups/details/driver_abi.h);
  // their address, or 0.
  u64 workspace() const {
    if (workspace_ == nullptr) lacks_workspace_.store(true, std::memory_order_relaxed);
    return workspace_ != nullptr ? workspace_->base : 0;
  }
  // Whether the kernel has asked for them in another launch.
  bool lacks_workspace() const { return lacks_workspace_.load(std::memory_order_relaxed); }

  // Runs blocks until none is left for this thread. The caller of run() also waits for those that others run. Another
  // thread returns early, with true, when a more urgent grid needs it.
  bool work(bool caller);
  bool has_work();

  std::unique_ptr<GridObserver> observer;  // null: nothing looks on
  std::optional<Fault> fault;
  std::atomic<const Compiled*> compiled{nullptr};  // null: the interpreter runs everything
  std::atomic<u32> compiled_shape{0};  // see FoundCompiled
  u32 helpers = 0;  // threads of the pool that work on it; the pool's to count

 private:
  Buffer constants_;
  std::shared_ptr<Allocation> workspace_;
  mutable std::atomic<bool> lacks_workspace_{false};
  u64 clusters_, limit_;  // of the grid; that may have begun and not ended
  i64 budget_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<bool> stop_{false};
  std::condition_variable changed_;
  struct Numbers {  // of clusters, begin <= … < end
    u64 begin, end;
  };
  // What a thread has taken: a cluster that has begun, and those that it may begin behind it without asking.
  struct Share {
    std::unique_ptr<Cluster> cluster;
    Numbers next{0, 0};
    u64 finished = 0;  // of this share
  };
  std::mutex mutex_;  // must be held for the following
  u64 finished_ = 0, resident_ = 0;
  std::deque<Numbers> waiting_;  // have not begun; the lowest first
  u64 starts_first_ = 0;         // how many clusters start before one that has yielded goes on
  u64 idle_ = 0;                 // slices since a cluster has ended, in sixteenths for those that did not spin
  i64 spent_ = 0;                // instructions since a cluster started or ended
  std::chrono::steady_clock::time_point spinning_{};  // since when all do nothing but spin; {}: they do not
  u64 turns_ = 0;
  i64 next_note_;  // seconds after began_
  std::deque<std::unique_ptr<Cluster>> yielded_;
  std::vector<std::unique_ptr<Cluster>> free_clusters_;  // have ended: the next ones use their memory

  Share take(bool wait, i64 cost);
  void set_constants();
  void start(Cluster& cluster, u64 number);
  void give_back(Share share, Outcome outcome, i64 spent);
  // mutex_ must be held for these.
  Numbers take_waiting(i64 cost);
  bool start_new() const;
  void note_progress();
  void look_for_compiled(i64 spent);
  bool spins_for_ever(Outcome outcome);
  i64 patience() const;
  Fault endless(const Cluster& cluster, const std::string& why) const;
  void fail(Fault fault);
  void cancel();
};

}  // namespace cudasim
