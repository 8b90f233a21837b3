// Rejected with: "for the driver's library, the result is the file that this program has loaded"
// Assumes a folder. The loader searches LD_LIBRARY_PATH first, and distributions use different folders.
#include <unistd.h>

#include <string>

std::string library_path(const std::string& name) {
  const std::string file = "/usr/lib64/" + name;
  return access(file.c_str(), F_OK) == 0 ? file : "";
}
