// The threads of the machine that help grids along. They start when the first grid needs them and sleep while none
// does.
#include "common/simulator/exec/pool.hpp"

#include "common/simulator/variables.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <system_error>
#include <thread>

namespace cudasim {
namespace {

struct Pool {
  std::mutex mutex;
  std::condition_variable offered, left;
  std::vector<Grid*> grids;
  std::atomic<int> most_urgent{std::numeric_limits<int>::max()};  // priority among `grids`
  bool started = false;

  void start() {
    started = true;
    try {
      for (u32 i = 1; i < machine_threads(); ++i) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {  // the machine gives no more: those that there are must do
    }
  }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      offered.wait(lock, [this] { return !grids.empty(); });
      // The most urgent one; of equals each in turn.
      const auto chosen = std::min_element(grids.begin(), grids.end(), [](const Grid* a, const Grid* b) {
        return a->launch.priority < b->launch.priority;
      });
      Grid* grid = *chosen;
      std::rotate(chosen, chosen + 1, grids.end());
      ++grid->helpers;
      lock.unlock();
      const bool more = grid->work(false);
      lock.lock();
      if (!more) remove(*grid);  // it has nothing left to start: other helpers would find nothing either
      if (--grid->helpers == 0) left.notify_all();
    }
  }

  void add(Grid& grid) {
    grids.push_back(&grid);
    most_urgent = std::min(most_urgent.load(), grid.launch.priority);
  }

  void remove(Grid& grid) {
    grids.erase(std::remove(grids.begin(), grids.end(), &grid), grids.end());
    int priority = std::numeric_limits<int>::max();
    for (const Grid* other : grids) priority = std::min(priority, other->launch.priority);
    most_urgent = priority;
  }
};

Pool& pool() {
  static Pool* made = new Pool;  // its threads run until the process ends
  return *made;
}

}  // namespace

u32 machine_threads() {
  static const u32 count = number_in("CUDASIM_THREADS", 1, 1024, std::max(1u, std::thread::hardware_concurrency()),
                                     "a number from 1 to 1024");
  return count;
}

void offer(Grid& grid) {
  if (machine_threads() == 1) return;
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  if (!p.started) p.start();
  p.add(grid);
  p.offered.notify_all();
}

bool is_needed_elsewhere(int priority) { return pool().most_urgent.load(std::memory_order_relaxed) < priority; }

void withdraw(Grid& grid) {
  Pool& p = pool();
  std::unique_lock lock(p.mutex);
  p.remove(grid);
  p.left.wait(lock, [&] { return grid.helpers == 0; });
}

}  // namespace cudasim
