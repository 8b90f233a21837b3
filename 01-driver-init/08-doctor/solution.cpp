// Find and repair the cause of outdated results and a growing process.
//
// The cause: no dlclose() matched the dlopen(). Every library that was asked for stayed loaded, and for a name that is
// already loaded, dlopen() returns the loaded library without looking at the files again.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <string>

// Returns the path of the file that the loader finds for a library ("libcuda.so.1", or a path), with all symbolic links
// resolved, or "" if it finds none.
std::string library_path(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  std::string file;
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0 && realpath(loaded->l_name, path)) file = path;
  dlclose(library);
  return file;
}
