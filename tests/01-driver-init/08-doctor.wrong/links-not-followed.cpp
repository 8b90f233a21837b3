// Rejected with: "symbolic links are resolved"
// libcuda.so.1 is a symbolic link. It points to a file such as libcuda.so.580.65.06.
#include <dlfcn.h>
#include <link.h>

#include <string>

std::string library_path(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  link_map* loaded = nullptr;
  std::string file;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0) file = loaded->l_name;
  dlclose(library);
  return file;
}
