// Rejected with: "the result is the launch that failed, not a later one"
// Finds the right launch, but throws an exception instead of returning its index.
#include "common/cu.hpp"

#include <functional>
#include <vector>

int first_guilty(const std::vector<std::function<CUresult()>>& launches) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    CU_THROW(launches[i]());
    CU_THROW(cuCtxSynchronize());
  }
  return -1;
}
