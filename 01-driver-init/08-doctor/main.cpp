// Asks the dynamic loader which file it finds for a name: for NVIDIA's libraries on this machine, and for a library of
// which there are two versions.
#include "common/cu.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstring>

// The file of a loaded library, with all symbolic links resolved.
std::string file_of(void* library) {
  link_map* loaded = nullptr;
  char path[PATH_MAX] = "";
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0 || !realpath(loaded->l_name, path)) return "unknown";
  return path;
}

// Shortens a path so that it fits into a row of the table.
std::string shortened(const std::string& path) {
  return path.size() <= 52 ? path : "…" + path.substr(path.size() - 51);
}

// The version that a library reports: 13000 for 13.0. cuDNN and NCCL have encodings of their own (91900 is 9.19.0).
int version_of(void* library, const char* function) {
  void* found = dlsym(library, function);
  if (!found) return -1;
  if (std::string(function) == "cudnnGetVersion") return static_cast<int>(reinterpret_cast<std::size_t (*)()>(found)());
  int version = 0;
  return reinterpret_cast<int (*)(int*)>(found)(&version) == 0 ? version : -1;
}

// Prints which file the loader finds for each name. Returns true if libcuda.so.1 is the library that this program has
// been using all along.
bool list_libraries() {
  const char* wanted[][2] = {
      {"libcuda.so.1", "cuDriverGetVersion"},       {"libcudart.so.11.0", "cudaRuntimeGetVersion"},
      {"libcudart.so.12", "cudaRuntimeGetVersion"}, {"libcudart.so.13", "cudaRuntimeGetVersion"},
      {"libcudnn.so.8", "cudnnGetVersion"},         {"libcudnn.so.9", "cudnnGetVersion"},
      {"libnccl.so.2", "ncclGetVersion"},
  };
  int driver = 0, first = -1;
  CU_CHECK(cuDriverGetVersion(&driver));
  std::printf("name              | version | on this driver | file\n");
  for (const auto& [name, function] : wanted) {
    void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
      std::printf("%-17s | -       | -              | not found\n", name);
      continue;
    }
    const int version = version_of(library, function);
    const bool is_runtime = std::strcmp(function, "cudaRuntimeGetVersion") == 0;
    const bool starts = version <= driver || version / 1000 == driver / 1000;  // the rules of 01-06
    const char* verdict = !is_runtime ? "-" : starts ? "starts" : "too new";
    std::printf("%-17s | %-7d | %-14s | %s\n", name, version, verdict, shortened(file_of(library)).c_str());
    if (first < 0) first = version;
    dlclose(library);
  }
  return first == driver;
}

// Runs in a process of its own: loads a framework and prints which version of libdnn.so.9 it works with.
int load(const char* framework) {
  void* library = dlopen(framework, RTLD_NOW);
  void* found = library ? dlsym(library, "version_in_use") : nullptr;
  if (!found) return 1;
  std::printf("%s\n", reinterpret_cast<const char* (*)()>(found)());
  return 0;
}

// What load(framework) prints in a process whose LD_LIBRARY_PATH begins with `folder`.
std::string version_loaded_by(const std::string& framework, const std::string& folder) {
  setenv("FOLDER", folder.c_str(), 1);  // the shell reads these variables, so the paths may contain any character
  setenv("FRAMEWORK", framework.c_str(), 1);
  FILE* output =
      popen("LD_LIBRARY_PATH=\"$FOLDER${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" \"$PROGRAM\" \"$FRAMEWORK\"", "r");
  if (!output) return "";
  char line[100] = "";
  if (!std::fgets(line, sizeof line, output)) line[0] = '\0';
  line[std::strcspn(line, "\n")] = '\0';
  return pclose(output) == 0 ? line : "";
}

int main(int arguments, char** argument) {
  if (arguments > 1) return load(argument[1]);
  bool passed = list_libraries();

  char program[PATH_MAX] = "";
  if (!realpath("/proc/self/exe", program)) return 1;
  setenv("PROGRAM", program, 1);
  void* framework = dlopen("libframework-rpath.so", RTLD_LAZY);
  if (!framework) return 1;
  const std::string file = file_of(framework);
  const std::string older = file.substr(0, file.rfind('/')) + "/older";
  dlclose(framework);

  std::printf("\nLD_LIBRARY_PATH=…/older (version 9.1)\n");
  const std::string with_rpath = version_loaded_by("libframework-rpath.so", older);
  const std::string with_runpath = version_loaded_by("libframework-runpath.so", older);
  std::printf("  framework with rpath …/own (9.19)   | gets %s\n", with_rpath.c_str());
  std::printf("  framework with runpath …/own (9.19) | gets %s\n", with_runpath.c_str());
  passed &= with_rpath == "9.19" && with_runpath == "9.1";
  return passed ? 0 : 1;
}
