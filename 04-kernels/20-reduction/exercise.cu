// Find the maximum of many elements.

// Sets *largest to the maximum of the n elements, which may all be negative. Before, it contains INT_MIN; if n is 0, it
// stays unchanged. Loads every element once, and uses at most one atomic operation per block. `in` is aligned to 16
// bytes. Launched with any number of blocks, and any number of threads per block that is a multiple of 32.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  // Your code here.
}
