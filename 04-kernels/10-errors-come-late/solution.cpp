// Find out which of several launches caused a fault.
#include "common/cu.hpp"

#include <functional>
#include <vector>

// Each function launches one kernel and returns the result of cuLaunchKernel. Runs them in order. Returns the index of
// the first whose launch is rejected or whose kernel fails, or -1 if there is none. Launches nothing after it. A
// context is current and has had no fault.
int first_guilty(const std::vector<std::function<CUresult()>>& launches) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i]() != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS) return static_cast<int>(i);
  }
  return -1;
}
