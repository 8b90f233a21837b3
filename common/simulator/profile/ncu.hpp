// The counters under the names that Nsight Compute gives them, in the form of `ncu --csv`: so a script reads both.
#pragma once
#include "common/simulator/types.hpp"

#include <string>

namespace cudasim {

struct KernelCount;

struct NcuLaunch {
  u64 id = 0;  // in the order of the launches
  std::string kernel;
  Dim3 grid, block;
};

std::string ncu_heading();
// A row for each metric.
std::string ncu_rows(const NcuLaunch& launch, const KernelCount& count);

}  // namespace cudasim
