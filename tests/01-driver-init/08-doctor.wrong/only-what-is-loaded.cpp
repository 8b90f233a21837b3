// Rejected with: "a library is found even if it was not loaded before"
// RTLD_NOLOAD asks which libraries this process has loaded, not which files the loader would find.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <string>

std::string library_path(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return "";
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  std::string file;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0 && realpath(loaded->l_name, path)) file = path;
  dlclose(library);
  return file;
}
