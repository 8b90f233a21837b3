// Compute the softmax of rows that are loaded once, with one exponential for each element.

constexpr int kThreads = 256, kMostColumns = 4096;

__device__ inline float masked() { return __int_as_float(0xff800000); }  // -inf

// y = the softmax of each row of x. Both have gridDim.x rows of `columns` floats, row after row; 1 <= columns <=
// kMostColumns. Elements may be -inf, for example because they are masked, but no row consists of -inf alone. Loads
// each element of x once, stores each element of y once, and computes at most one exponential for each element, apart
// from a few for each thread. Launched with one block of kThreads threads for each row.
extern "C" __global__ void __launch_bounds__(kThreads) softmax(const float* x, float* y, int columns) {
  // Your code here.
}
