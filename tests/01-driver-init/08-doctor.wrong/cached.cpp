// Rejected with: "after an update, the result is the new file"
// Hides one symptom: the process no longer grows, because it asks only once. It never notices an update.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <map>
#include <string>

std::string library_path(const std::string& name) {
  static std::map<std::string, std::string> known;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  std::string file;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0 && realpath(loaded->l_name, path)) file = path;
  dlclose(library);
  return known[name] = file;
}
