// Tell a caller whether this thread can ask the driver for memory, and if not, what is missing.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

// What stands between this thread and a first cuMemAlloc. Asking changes nothing: it initialises nothing, creates no
// context, allocates nothing, and remembers nothing from one call to the next. Throws cu::Error for any other trouble
// (CU_THROW).
Ready ready() {
  // Your code here.
  return Ready::yes;
}
