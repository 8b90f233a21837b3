// Rejected with: "any other error is thrown"
// Queries the free memory and reports every error as a missing context.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  std::size_t free, total;
  const CUresult result = cuMemGetInfo(&free, &total);
  if (result == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialized;
  return result == CUDA_SUCCESS ? Ready::yes : Ready::no_context;
}
