// Rejected with: "the rpath of the library in between applies, too"
// The libraries between the program and the binary have rpaths, too.
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

std::map<std::string, std::string> loaded(const Machine& machine, const Binary& program) {
  struct Step {
    const Binary* binary;
  };
  std::map<std::string, std::string> found;
  std::vector<Step> steps = {{&program}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Binary& binary = *steps[i].binary;
    for (const std::string& soname : binary.needs) {
      if (found.count(soname) != 0) continue;  // a library is loaded once under its name
      Folders folders;
      if (binary.runpath.empty()) {
        // The rpaths of the binary, of the library that has loaded it, and so on up to the program.
        append(folders, binary.rpath);
        if (program.runpath.empty()) append(folders, program.rpath);
      }
      append(folders, machine.ld_library_path);
      append(folders, binary.runpath);
      std::string path = first_match(machine, folders, soname);
      if (path.empty() && machine.cache.count(soname) != 0) path = machine.cache.at(soname);
      found[soname] = path;
      if (!path.empty()) steps.push_back({&machine.files.at(path)});
    }
  }
  return found;
}
