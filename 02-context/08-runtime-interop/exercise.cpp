// The runtime's cudaSetDevice, in a few driver calls: what makes the two APIs meet.
#include "common/cu.hpp"

// Makes the primary context of a device current for the calling thread, in the place of what was on top of its stack
// (if anything was). However often it is called, and by however many threads, the primary context of a device is
// retained once, and never released. Initialises the driver if nobody has. Throws cu::Error if there is no such device
// (CU_THROW), and changes nothing then.
void set_device(int ordinal) {
  // Your code here.
  (void)ordinal;
}
