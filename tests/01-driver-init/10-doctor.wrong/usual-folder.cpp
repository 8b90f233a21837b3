// Rejected with: "the driver's library is the one that this program has loaded"
// "It is always in /usr/lib": the loader asks LD_LIBRARY_PATH first, and distributions differ.
#include <unistd.h>

#include <string>

std::string taken_for(const std::string& name) {
  const std::string file = "/usr/lib64/" + name;
  return access(file.c_str(), F_OK) == 0 ? file : "";
}
