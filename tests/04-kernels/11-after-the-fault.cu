// Two kernels that a process does not survive.
#include <cassert>

extern "C" __global__ void store_to_nowhere(int* nowhere) { *nowhere = 1; }
extern "C" __global__ void fail_an_assertion(int* zero) { assert(zero != nullptr); }
