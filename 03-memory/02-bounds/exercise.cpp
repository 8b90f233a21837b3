// Find the writes outside an array that the driver cannot detect.
#include "03-memory/02-bounds/guarded.hpp"
#include "common/cu.hpp"

// Each function throws cu::Error if a driver call fails (CU_THROW).

// Allocates device memory with kGuard bytes of guard on each side, in the current context. No memory stays allocated if
// it throws. 0 bytes are rejected, as by cuMemAlloc.
Guarded allocate_guarded(std::size_t bytes) {
  // Your code here.
  (void)bytes;
  return {};
}

// Returns 0 if both guards are as they were, otherwise the offset of a damaged byte from memory.address: -1 is the byte
// before the memory, memory.bytes the one after it. Of several damaged bytes, the one that is closest to the memory
// counts; of two that are equally close, the one after it. Includes what the device was still doing when it was called.
long long damage(const Guarded& memory) {
  // Your code here.
  (void)memory;
  return 0;
}

// Frees what allocate_guarded() has allocated.
void free_guarded(const Guarded& memory) {
  // Your code here.
  (void)memory;
}
