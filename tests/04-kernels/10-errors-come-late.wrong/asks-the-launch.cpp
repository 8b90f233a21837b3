// Rejected with: "the last launch can be the one that failed"
// Every result is checked, but it is the result of the launch, when the kernel has barely started.
#include "common/cu.hpp"

#include <functional>
#include <vector>

int first_guilty(const std::vector<std::function<CUresult()>>& launches) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i]() != CUDA_SUCCESS) return static_cast<int>(i);
  }
  return -1;
}
