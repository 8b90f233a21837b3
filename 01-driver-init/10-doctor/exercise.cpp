// Find out which file the loader takes for a name.
#include <string>

// The path of the file that the loader takes for this library ("libcuda.so.1", or a path), symbolic links followed;
// "" if it finds none. What was not loaded before is not loaded afterwards.
std::string taken_for(const std::string& name) {
  // Your code here.
  return name;
}
