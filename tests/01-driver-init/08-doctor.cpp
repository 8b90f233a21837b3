// Checks the exercise of 01-driver-init/08-doctor.
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

std::string library_path(const std::string& name);

namespace {

namespace fs = std::filesystem;

// A part of the C library that no program needs: it exists, and it is not loaded.
const char* const kUnused = "libBrokenLocale.so.1";

// True if this process has mapped the file.
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

// A temporary folder, removed with its files at the end of the scope.
struct Folder {
  fs::path path;

  Folder() {
    char name[] = "/tmp/course-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path = fs::canonical(name);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

}  // namespace

TEST_CASE("for the driver's library, the result is the file that this program has loaded") {
  int version;
  CU_CHECK(cuDriverGetVersion(&version));  // otherwise the linker would drop the library as unused
  const std::string file = library_path("libcuda.so.1");
  CAPTURE(file);
  CHECK(file.substr(0, 1) == "/");
  CHECK(is_mapped(file));
}

TEST_CASE("for a library that does not exist, the result is empty") { CHECK(library_path("libcuda.so.99") == ""); }

TEST_CASE("a library is found even if it was not loaded before") { CHECK(library_path(kUnused) == unused_file()); }

TEST_CASE("symbolic links are resolved") {
  const Folder folder;
  const std::string link = folder.path / "liblink.so.1", file = unused_file();
  fs::create_symlink(file, link);
  CHECK(library_path(link) == file);
}

TEST_CASE("after an update, the result is the new file") {
  const Folder folder;
  const std::string link = folder.path / "libupdated.so.1";
  const std::string before = folder.path / "libupdated.so.1.1", after = folder.path / "libupdated.so.1.2";
  fs::copy_file(unused_file(), before);
  fs::copy_file(unused_file(), after);
  fs::create_symlink(before, link);
  CHECK(library_path(link) == before);
  fs::remove(link);
  fs::create_symlink(after, link);
  CHECK(library_path(link) == after);
}

// lesson.mk gives this program two folders to search: its own, and then that of the lesson's libraries.
TEST_CASE("after an installation in a folder that is searched earlier, the result is the new file") {
  const fs::path own = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string name = "libinstalled-" + std::to_string(getpid()) + ".so.1";
  const fs::path earlier = own / name, later = own / "../../../../01-driver-init/08-doctor" / name;
  fs::copy_file(unused_file(), later);
  const std::string before = library_path(name), expected_before = fs::canonical(later);
  fs::copy_file(unused_file(), earlier);
  const std::string after = library_path(name), expected_after = fs::canonical(earlier);
  fs::remove(earlier);
  fs::remove(later);
  CHECK(before == expected_before);
  CHECK(after == expected_after);
}

TEST_CASE("a file that is not a library is rejected") {
  const Folder folder;
  const std::string file = folder.path / "libtext.so.1";
  std::ofstream(file) << "not a library\n";
  CHECK(library_path(file) == "");
}

TEST_CASE("no library stays loaded that was not loaded before") {
  library_path(kUnused);
  CHECK(dlopen(kUnused, RTLD_LAZY | RTLD_NOLOAD) == nullptr);
}

TEST_CASE("a library that the program has loaded can still be unloaded afterwards") {
  void* library = dlopen(kUnused, RTLD_LAZY);
  REQUIRE(library != nullptr);
  library_path(kUnused);
  CHECK(dlopen(kUnused, RTLD_LAZY | RTLD_NOLOAD) == library);
  dlclose(library);  // the handle of the line above
  dlclose(library);
  CHECK(dlopen(kUnused, RTLD_LAZY | RTLD_NOLOAD) == nullptr);
}

TEST_CASE("the driver's library stays loaded") {
  library_path("libcuda.so.1");
  CHECK(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr);
}
