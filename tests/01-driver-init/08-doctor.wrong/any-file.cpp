// Rejected with: "a file that is not a library is rejected"
// Accepts any path that exists. The loader opens the file and rejects what is not a library.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <string>

std::string library_path(const std::string& name) {
  char path[PATH_MAX] = "";
  if (name.find('/') != std::string::npos) return realpath(name.c_str(), path) ? path : "";
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  link_map* loaded = nullptr;
  std::string file;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0 && realpath(loaded->l_name, path)) file = path;
  dlclose(library);
  return file;
}
