// Rejected with: "nothing is launched after the failure"
// The first failure is remembered, but the other kernels are still launched in a context that is lost.
#include "common/cu.hpp"

#include <functional>
#include <vector>

int first_guilty(const std::vector<std::function<CUresult()>>& launches) {
  int first = -1;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const bool failed = launches[i]() != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS;
    if (failed && first < 0) first = static_cast<int>(i);
  }
  return first;
}
