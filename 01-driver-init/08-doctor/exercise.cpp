// Find and repair the cause of outdated results and a growing process.
//
// A monitoring service calls library_path() once a minute for every NVIDIA library on a server, and shows the results.
// At first, they are correct. Its users report:
//
//   "Last night we installed a new libnccl.so.2 in /usr/local/lib, and every program that we start gets it. The page
//    still shows the old file in /usr/lib. After a restart of the service, it shows the new one."
//   "The service uses 3 GB of address space. It had 20 MB when it started."
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
  link_map* loaded = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0) return "";
  char path[PATH_MAX] = "";
  if (!realpath(loaded->l_name, path)) return "";
  return path;
}
