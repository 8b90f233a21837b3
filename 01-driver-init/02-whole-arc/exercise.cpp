// The whole arc for two inputs.
#include "common/cu.hpp"

#include <string>
#include <vector>

// Adds two vectors of equal length on device 0 and returns the sums. The file `image` contains the kernel
//   add(int* a, const int* b, int count)     a[i] += b[i] for every i < count, one thread per element
// The caller has not called the driver before. Check each call with CU_THROW(call), which throws an exception instead
// of ending the program. Free the memory, unload the module, and release the primary context before you return.
std::vector<int> add_on_gpu(const std::string& image, std::vector<int> a, const std::vector<int>& b) {
  // Your code here.
  (void)image;
  (void)b;
  return a;
}
