// Finds a lesson's kernel images: they are next to its executable, whatever the current folder is.
#pragma once
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cu {

// Returns the path of the image `file` ("kernels.ptx", for example) next to the executable, for cuModuleLoad. Does not
// check that the file exists. If Linux does not provide the executable's path, prints an error and ends the program.
inline std::string image(const std::string& file) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (length < 0 || length == static_cast<ssize_t>(sizeof self)) {
    std::perror("/proc/self/exe");
    std::exit(EXIT_FAILURE);
  }
  const std::string path(self, static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/') + 1) + file;
}

}  // namespace cu
