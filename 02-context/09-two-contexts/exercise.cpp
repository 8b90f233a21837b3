// Checks before a launch whether a stream and memory can be used together.
#include "common/cu.hpp"

#include <vector>

// Returns whether kernels in `stream` can use all of `memory`. That is the case for memory that belongs to the stream's
// context, and for memory that belongs to no context (from a memory pool, for example) but to the stream's device. The
// null stream belongs to the current context. An address can be anywhere inside an allocation; address 0 is ignored.
// The context stack does not change. Throws cu::Error (CU_THROW) if a driver call fails, for example because an address
// belongs to no allocation.
bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory) {
  // Your code here.
  (void)stream;
  return !memory.empty();
}
