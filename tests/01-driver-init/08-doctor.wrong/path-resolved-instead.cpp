// Rejected with: "no library stays loaded that was not loaded before"
// Hides one symptom: resolves paths itself, so that updates are noticed. The libraries still stay loaded.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <string>

std::string library_path(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  char path[PATH_MAX] = "";
  if (name.find('/') != std::string::npos) return realpath(name.c_str(), path) ? path : "";
  link_map* loaded = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0) return "";
  return realpath(loaded->l_name, path) ? path : "";
}
