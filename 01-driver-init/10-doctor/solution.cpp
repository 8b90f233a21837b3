// Find out which file the loader takes for a name.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <string>

// The path of the file that the loader takes for this library ("libcuda.so.1", or a path), symbolic links followed;
// "" if it finds none. What was not loaded before is not loaded afterwards.
std::string taken_for(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  std::string file;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0 && realpath(loaded->l_name, path)) file = path;
  dlclose(library);  // the handle only: a library that others use stays
  return file;
}
