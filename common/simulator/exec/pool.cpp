// The threads of the machine that help grids along. They start when the first grid needs them and sleep while none
// does.
#include "common/simulator/exec/pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace cudasim {
namespace {

struct Pool {
  std::mutex mutex;
  std::condition_variable offered, left;
  std::vector<Grid*> grids;
  bool started = false;

  void start() {
    started = true;
    for (u32 i = 1; i < machine_threads(); ++i) std::thread([this] { serve(); }).detach();
  }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      offered.wait(lock, [this] { return !grids.empty(); });
      Grid* grid = grids.front();
      std::rotate(grids.begin(), grids.begin() + 1, grids.end());
      ++grid->helpers;
      lock.unlock();
      grid->work(false);
      lock.lock();
      // It has nothing left to start: more helpers would find nothing either.
      grids.erase(std::remove(grids.begin(), grids.end(), grid), grids.end());
      if (--grid->helpers == 0) left.notify_all();
    }
  }
};

Pool& pool() {
  static Pool* made = new Pool;  // its threads run until the process ends
  return *made;
}

}  // namespace

u32 machine_threads() {
  static const u32 count = [] {
    const char* wanted = std::getenv("CUDASIM_THREADS");
    const long n = wanted != nullptr ? std::strtol(wanted, nullptr, 10) : 0;
    if (n >= 1 && n <= 1024) return static_cast<u32>(n);
    return std::max(1u, std::thread::hardware_concurrency());
  }();
  return count;
}

void offer(Grid& grid) {
  if (machine_threads() == 1) return;
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  if (!p.started) p.start();
  p.grids.push_back(&grid);
  p.offered.notify_all();
}

void withdraw(Grid& grid) {
  Pool& p = pool();
  std::unique_lock lock(p.mutex);
  p.grids.erase(std::remove(p.grids.begin(), p.grids.end(), &grid), p.grids.end());
  p.left.wait(lock, [&] { return grid.helpers == 0; });
}

}  // namespace cudasim
