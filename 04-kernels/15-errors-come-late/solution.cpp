// Find out which of several launches is the guilty one.
#include "common/cu.hpp"

#include <functional>
#include <vector>

// Each function launches one kernel and returns what cuLaunchKernel answered. Runs them in turn, and returns the number
// of the first that is refused, or whose kernel fails; -1 if there is none. Nothing is launched after it. A context is
// current, and nothing has gone wrong in it before.
int first_guilty(const std::vector<std::function<CUresult()>>& launches) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i]() != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS) return static_cast<int>(i);
  }
  return -1;
}
