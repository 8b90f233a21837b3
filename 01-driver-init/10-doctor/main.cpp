// Asks the dynamic loader for libraries by name: which file does it take for each, and what version is that one?
#include "common/cu.hpp"

#include <dlfcn.h>
#include <link.h>

#include <climits>

// The file behind a loaded library, symbolic links followed; shortened from the left to fit into a row.
std::string file_of(void* library) {
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0 || !realpath(loaded->l_name, path)) return "unknown";
  const std::string file = path;
  return file.size() <= 52 ? file : "…" + file.substr(file.size() - 51);
}

// What the library says: 13000 for 13.0; cuDNN and NCCL count in their own ways (91900 for 9.19.0, 22809 for 2.28.9).
int version_of(void* library, const char* function) {
  void* found = dlsym(library, function);
  if (!found) return -1;
  int version = 0;
  if (std::string(function) == "cudnnGetVersion") return static_cast<int>(reinterpret_cast<std::size_t (*)()>(found)());
  return reinterpret_cast<int (*)(int*)>(found)(&version) == 0 ? version : -1;
}

int main() {
  const char* asked[][2] = {
      {"libcuda.so.1", "cuDriverGetVersion"},       {"libcudart.so.11.0", "cudaRuntimeGetVersion"},
      {"libcudart.so.12", "cudaRuntimeGetVersion"}, {"libcudart.so.13", "cudaRuntimeGetVersion"},
      {"libcudnn.so.8", "cudnnGetVersion"},         {"libcudnn.so.9", "cudnnGetVersion"},
      {"libnccl.so.2", "ncclGetVersion"},
  };
  int own = 0, first = -1;
  CU_CHECK(cuDriverGetVersion(&own));

  std::printf("asked for         | says  | on this driver | the loader takes\n");
  for (const auto& [name, function] : asked) {
    void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
      std::printf("%-17s | -     | -              | nothing\n", name);
      continue;
    }
    const int version = version_of(library, function);
    const bool is_runtime = std::string(function) == "cudaRuntimeGetVersion";
    const bool starts = version <= own || version / 1000 == own / 1000;  // the rule of 01-07
    const char* verdict = !is_runtime ? "-" : starts ? "starts" : "too new for it";
    std::printf("%-17s | %-5d | %-14s | %s\n", name, version, verdict, file_of(library).c_str());
    if (first < 0) first = version;
    dlclose(library);
  }
  // Linked with -lcuda, this program asked for libcuda.so.1 at its start: the loader must have taken the same file.
  return first == own ? 0 : 1;
}
