// Rejected with: "with a current context nothing is missing, and asking allocates nothing"
// It asks for memory to see whether it gets some, and keeps it.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

Ready ready() {
  CUdeviceptr memory;
  const CUresult answer = cuMemAlloc(&memory, 4);
  if (answer == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialised;
  return answer == CUDA_SUCCESS ? Ready::yes : Ready::no_context;
}
