// Which checks the program's owner has asked for: CUDASIM_CHECK=race,init,sync,leak or all.
#pragma once

namespace cudasim {

struct Checks {
  bool race = false;  // two threads at one place, one of them writes, and nothing orders them
  bool init = false;  // reads of memory that nobody has written
  bool sync = false;  // barriers and masks that part of the threads misses
  bool leak = false;  // what is not given back
  bool accesses() const { return race || init; }
  bool any() const { return race || init || sync || leak; }
};

// Read once, when first asked for; an unknown word is told of on stderr. Tests change it.
Checks& checks();

}  // namespace cudasim
