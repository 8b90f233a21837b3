// A View: memory that may be accessed at once, without a look-up.
#pragma once
#include "common/simulator/words.hpp"

namespace cudasim {

// A stretch of memory that may be touched at once, for the executor's fast path.
struct View {
  u64 begin = ~u64{0}, end = ~u64{0};  // empty until filled: nothing fits, whatever its size
  i64 delta = 0;         // host address - device address
  bool readable = false, writable = false;
  u64 epoch = ~u64{0};
};

}  // namespace cudasim
