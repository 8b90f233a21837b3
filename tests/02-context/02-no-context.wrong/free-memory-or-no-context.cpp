// Rejected with: "other trouble is thrown, and not called by another name"
// It asks for the free memory; whatever keeps the driver from telling it is called a missing context.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

Ready ready() {
  std::size_t free, total;
  const CUresult answer = cuMemGetInfo(&free, &total);
  if (answer == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialised;
  return answer == CUDA_SUCCESS ? Ready::yes : Ready::no_context;
}
