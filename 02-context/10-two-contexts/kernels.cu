// Stores a number with a single thread.
extern "C" __global__ void store(unsigned* address, unsigned number) { *address = number; }
