// Asynchronous copies that have not completed. A copy may complete at any time between the instruction and the wait for
// it. Here it completes as late as possible: at the wait for its group, when a thread tests the mbarrier that it
// signals, or at the block's end. A program that forgets to wait therefore sees the old data, every time.
#pragma once
#include "common/simulator/types.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace cudasim {

struct Warp;

using Completion = std::function<void()>;

// The copies of one block's threads, which they wait for in groups.
class AsyncGroups {
 public:
  static constexpr u32 kMostBytes = 16;

  // cp.async of the thread `lane` of `warp`: the bytes go to `to`.
  void copy(const Warp& warp, u32 lane, std::byte* to, const std::byte* bytes, u32 size);
  void commit(const Warp& warp);
  // Complete, for the executing lanes, all groups except the newest `left`; or everything, committed or not.
  void wait(const Warp& warp, u32 left);
  void wait_all(const Warp& warp);
  // Completes what a thread has begun before now, whenever it is called.
  Completion everything_before(const Warp& warp, u32 lane);

  // cp.async.bulk without an mbarrier: the same with groups of their own.
  void bulk(const Warp& warp, u32 lane, Completion copy);
  void commit_bulk(const Warp& warp);
  void wait_bulk(const Warp& warp, u32 lane, u32 left);

  // wgmma whose sums are deferred: the same for the products of a warp.
  void multiply(const Warp& warp, Completion product);
  void commit_products(const Warp& warp);
  void wait_for_products(const Warp& warp, u32 left);

  void start();  // of a block: nothing is left of the one before
  void end();  // of a block: its bulk copies complete

 private:
  struct Copy {
    std::byte* to;
    u64 group;
    u32 size;
    std::byte bytes[kMostBytes];
  };
  // What has not completed, each with the group that it is in, and how many groups have been committed.
  struct Queue {
    u64 committed = 0;
    std::vector<std::pair<u64, Completion>> waiting;
    void add(Completion completion) { waiting.emplace_back(committed, std::move(completion)); }
    void complete_all_but(u64 left);
  };
  struct Thread {
    u64 committed = 0, issued = 0, done = 0;
    std::vector<Copy> copies;
    Queue bulk, products;  // products: of the warp, if this is its first thread
  };
  Thread& thread(const Warp& warp, u32 lane);
  static void complete(Thread& thread, std::size_t count);

  std::vector<Thread> threads_;  // none until one of them copies
};

// The copies of a cluster's threads that signal mbarriers, in the order in which they were begun.
class AsyncSignals {
 public:
  void add(const std::byte* barrier, Completion completion) { waiting_.push_back({barrier, std::move(completion)}); }
  // Somebody looks at `barrier`: what it waits for completes.
  void settle(const std::byte* barrier) {
    if (!waiting_.empty()) settle_some(barrier);
  }
  void clear() { waiting_.clear(); }

 private:
  struct Entry {
    const std::byte* barrier;
    Completion completion;
  };
  void settle_some(const std::byte* barrier);
  std::vector<Entry> waiting_;
};

}  // namespace cudasim
