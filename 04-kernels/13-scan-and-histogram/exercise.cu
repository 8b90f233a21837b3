// Count how often each byte value occurs, with bins in shared memory.

// Adds to bins[0 … 255] how often each value occurs among the n bytes. Launched with any number of blocks of any number
// of threads up to 1024. Every block counts in bins of its own, in shared memory, and adds them to the common ones in
// the end.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned long long n) {
  // Your code here.
}
