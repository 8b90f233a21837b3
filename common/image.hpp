// Where a lesson's kernel images are: beside its executable, whatever the current folder is.
#pragma once
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cu {

// The path of the image called `file` ("kernels.ptx" for example), for cuModuleLoad, which says whether it is there.
// Linux tells a process where its own executable lies; if it does not, a line on stderr says so and the program ends.
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
