// Rejected with: "the result is the launch that failed, not a later one"
// Waits only once, after all launches, and blames the last one.
#include "common/cu.hpp"

#include <functional>
#include <vector>

int first_guilty(const std::vector<std::function<CUresult()>>& launches) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i]() != CUDA_SUCCESS) return static_cast<int>(i);
  }
  return cuCtxSynchronize() == CUDA_SUCCESS ? -1 : static_cast<int>(launches.size()) - 1;
}
