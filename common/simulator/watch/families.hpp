// Races between a grid and the grid whose kernel launched it, or that one's: what the launching thread knew when it
// launched has happened before; nothing orders what the ancestor does otherwise, as no thread of a device can wait for
// a child.
#pragma once
#include "common/simulator/exec/warp.hpp"
#include "common/simulator/watch/clock.hpp"

#include <memory>

namespace cudasim {

class GridRaces;

struct LaunchPoint {
  std::shared_ptr<GridRaces> parent;  // what its grid has touched, also when it has ended
  Clock known;
  u64 block = 0;
  u32 thread = 0, time = 0;  // the thread that launched, and the time of its warp's clock
};

// The launch point of a thread that launches a child; null if races are not looked for.
std::shared_ptr<const LaunchPoint> launch_point(const Warp& warp, u32 lane);

// While one exists, the grid that this thread runs has been launched there.
class LaunchedAt {
 public:
  explicit LaunchedAt(std::shared_ptr<const LaunchPoint> point);
  ~LaunchedAt();
  LaunchedAt(const LaunchedAt&) = delete;
  LaunchedAt& operator=(const LaunchedAt&) = delete;
  static std::shared_ptr<const LaunchPoint> current();
};

}  // namespace cudasim
