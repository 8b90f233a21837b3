// Find the largest of many numbers.

// Sets *largest to the largest of the n numbers, which may all be negative; before, it holds INT_MIN. n may be 0: then
// it stays. Launched with any number of blocks, of any number of threads that is a multiple of 32.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  // Your code here.
}
