// The PTX versions and architectures that the simulated driver takes.
#pragma once
#include "common/simulator/types.hpp"

#include <string_view>

namespace cudasim::ptx {

// The simulated device's compute capability, times ten.
constexpr u32 kDeviceTarget = 90;

// 90 for PTX ISA 9.0: that of the toolkit whose headers the simulator is built with, as a driver of that release has.
u32 newest_ptx();

// Whether there was such a PTX version (78 for 7.8), or whether it is newer than those that are known here.
bool is_release(u32 version);

struct Target {
  u32 number = 0;  // 90 for sm_90 and sm_90a; 0: unknown name
  u32 since = 0;   // the first PTX version that knows it
};
Target target_named(std::string_view name);

// What of a module's text, its instructions aside, came later than the rest: a directive, an attribute, a type.
struct Later {
  std::string_view word;  // as it is written
  const char* name;       // as ptxas calls it
  u32 ptx, target;        // the first PTX version (78 for 7.8) and architecture that have it
};
const Later* later(std::string_view word);  // null: as old as what this driver takes

}  // namespace cudasim::ptx
