// Rejected with: "a rejected launch is found"
// A launch that was rejected never runs, so waiting does not report it.
#include "common/cu.hpp"

#include <functional>
#include <vector>

int first_guilty(const std::vector<std::function<CUresult()>>& launches) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    launches[i]();
    if (cuCtxSynchronize() != CUDA_SUCCESS) return static_cast<int>(i);
  }
  return -1;
}
