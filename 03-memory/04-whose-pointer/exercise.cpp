// Say where an address lies.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

// Where the byte at `pointer` lies. What the driver does not know is pageable memory of the host, as far as anybody can
// tell. The driver is initialised. Throws cu::Error if it refuses to answer (CU_THROW).
Where where(const void* pointer) {
  // Your code here.
  (void)pointer;
  return Where::pageable;
}
