// Self-check of 01-driver-init/10-doctor: judges the learner's taken_for().
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <string>

std::string taken_for(const std::string& name);

namespace {

// A library of the C library's that no program needs: it is there, and not loaded.
const char* const kUnused = "libBrokenLocale.so.1";

// True if this process has a file mapped.
bool is_mapped(const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.size() > file.size() && line.substr(line.size() - file.size()) == file) return true;
  }
  return false;
}

std::string unused_file() {
  void* library = dlopen(kUnused, RTLD_LAZY);
  REQUIRE(library != nullptr);
  link_map* loaded = nullptr;
  REQUIRE(dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0);
  char path[PATH_MAX];
  REQUIRE(realpath(loaded->l_name, path) != nullptr);
  dlclose(library);
  return path;
}

}  // namespace

TEST_CASE("the driver's library is the one that this program has loaded") {
  int version;
  CU_CHECK(cuDriverGetVersion(&version));  // called, so that the linker notes that this program needs the library
  const std::string file = taken_for("libcuda.so.1");
  CAPTURE(file);
  CHECK(file.substr(0, 1) == "/");
  CHECK(is_mapped(file));
}

TEST_CASE("a library that is nowhere has no file") { CHECK(taken_for("libcuda.so.99") == ""); }

TEST_CASE("a library that was not loaded is found, too") { CHECK(taken_for(kUnused) == unused_file()); }

TEST_CASE("symbolic links are followed") {
  char folder[] = "/tmp/course-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string link = std::string(folder) + "/liblink.so.1", file = unused_file();
  REQUIRE(symlink(file.c_str(), link.c_str()) == 0);
  const std::string answer = taken_for(link);
  unlink(link.c_str());
  rmdir(folder);
  CHECK(answer == file);
}

TEST_CASE("a file that is no library is not taken") {
  char file[] = "/tmp/course-XXXXXX";
  const int opened = mkstemp(file);
  REQUIRE(opened >= 0);
  const bool written = write(opened, "no library\n", 11) == 11;
  close(opened);
  const std::string answer = taken_for(file);
  unlink(file);
  REQUIRE(written);
  CHECK(answer == "");
}

TEST_CASE("nothing stays loaded that was not loaded before") {
  taken_for(kUnused);
  CHECK(dlopen(kUnused, RTLD_LAZY | RTLD_NOLOAD) == nullptr);
}

TEST_CASE("the driver's library stays loaded") {
  taken_for("libcuda.so.1");
  CHECK(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr);
}
