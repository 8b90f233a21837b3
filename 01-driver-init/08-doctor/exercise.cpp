// Find and repair the causes of three wrong diagnoses.
//
// A doctor for servers reads the search paths of a program and of all libraries, and predicts which file the program
// gets for each library. Its users report:
//
//   "PyTorch's folder with cuDNN 9.19 is on its runpath, and LD_LIBRARY_PATH names one with 9.1. The doctor says 9.19,
//    and the program gets 9.1."
//   "Our server has a runpath. It needs a plugin, and the plugin needs libnccl.so.2, which is in a folder of that
//   runpath
//    and nowhere else. The doctor says that it is found. The server ends with: libnccl.so.2: cannot open shared object
//    file."
//   "Two of our libraries need libcudnn.so.9, and each has its own copy on its rpath. The doctor names the copy of the
//    second library. Both get the first one's."
#include "01-driver-init/08-doctor/machine.hpp"

#include <cstddef>

namespace {

// The path of the first of these folders that contains the library, or "".
std::string first_match(const Machine& machine, const Folders& folders, const std::string& soname) {
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + soname;
    if (machine.files.count(path) != 0) return path;
  }
  return "";
}

void append(Folders& folders, const Folders& more) { folders.insert(folders.end(), more.begin(), more.end()); }

}  // namespace

// The loader looks for what the program needs first, in order, then for what these libraries need, and so on.
std::map<std::string, std::string> loaded(const Machine& machine, const Binary& program) {
  std::map<std::string, std::string> found;
  std::vector<const Binary*> waiting = {&program};
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const Binary& binary = *waiting[i];
    for (const std::string& soname : binary.needs) {
      Folders folders = binary.rpath;
      append(folders, binary.runpath);
      append(folders, program.rpath);
      append(folders, program.runpath);
      append(folders, machine.ld_library_path);
      std::string path = first_match(machine, folders, soname);
      if (path.empty() && machine.cache.count(soname) != 0) path = machine.cache.at(soname);
      if (found.count(soname) != 0 && found[soname] == path) continue;
      found[soname] = path;
      if (!path.empty()) waiting.push_back(&machine.files.at(path));
    }
  }
  return found;
}
