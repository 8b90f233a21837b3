// Rejected with: "after an installation in a folder that is searched earlier, the result is the new file"
// The loader counts every dlopen and unloads a library only after as many calls of dlclose.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <string>

std::string library_path(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0 || !realpath(loaded->l_name, path)) return "";
  return path;
}
