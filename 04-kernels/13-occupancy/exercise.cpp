// How much shared memory may a block have, if so many blocks are to fit on a multiprocessor?
#include "common/cu.hpp"

// The most dynamic shared memory, in bytes and rounded down to a multiple of 1024, with which `blocks` blocks of
// `threads` threads of this kernel fit on a multiprocessor of the current context's device at the same time; -1 if they
// do not fit even with none. The kernel's own limit (MAX_DYNAMIC_SHARED_SIZE_BYTES) has been raised as far as it goes.
// Throws cu::Error if the driver refuses anything (CU_THROW).
int largest_shared(CUfunction kernel, int threads, int blocks) {
  // Your code here.
  (void)kernel, (void)threads, (void)blocks;
  return 0;
}
