// Barriers and member masks that part of the threads misses. Those that can never complete end the kernel anyway;
// this check finds what happens to work.
#pragma once
#include "common/simulator/exec/observer.hpp"

#include <array>
#include <vector>

namespace cudasim {

struct Grid;

class BlockSync {
 public:
  explicit BlockSync(Block& block) : block_(block) {}
  void start();
  void arrive(Warp& warp, const Site& at, u32 id, u32 count);
  void open(u32 id);
  void meet(Warp& warp, const Site& at, const u32* members);
  void come(Warp& warp, const Site& at, const u32* members);

 private:
  void say(Warp& warp, u32 lane, const Site& at, const char* title, const std::string& why);
  struct Phase {
    Site at;  // where the first to come came
    u32 count = 0;
    u32 warp = 0, lane = 0;
    bool any = false;
    std::vector<Site> by_warp;
  };
  Block& block_;
  std::array<Phase, 16> phases_;
};

}  // namespace cudasim
