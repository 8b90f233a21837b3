// Link several images into one module.
#include "common/cu.hpp"

#include <string>
#include <vector>

// Links the PTX files and loads the result into the current context; the caller unloads it. If a driver call fails,
// throws cu::Error (CU_THROW) and sets `log` to the linker's error log; otherwise sets it to an empty string. Destroys
// the linker on every path.
CUmodule link_files(const std::vector<std::string>& files, std::string* log) {
  // Your code here.
  (void)files, (void)log;
  return nullptr;
}
