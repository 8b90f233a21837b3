// Checks the exercise of 01-driver-init/08-doctor. The rules are those of ld.so(8) and of the GNU C library.
#include "01-driver-init/08-doctor/machine.hpp"

#include "tests/catch.hpp"

namespace {

// A machine with a cuDNN in several folders.
struct Server {
  Machine machine;
  Binary program;

  void install(const std::string& path, const Binary& binary = {}) { machine.files[path] = binary; }
  // The path of a library that the program loads.
  std::string gets(const std::string& soname) const {
    const auto found = loaded(machine, program);
    return found.count(soname) != 0 ? found.at(soname) : "it is not loaded";
  }
};

}  // namespace

TEST_CASE_METHOD(Server, "LD_LIBRARY_PATH comes before a runpath") {
  install("/own/libcudnn.so.9");
  install("/older/libcudnn.so.9");
  program = {{"libcudnn.so.9"}, {}, {"/own"}};
  machine.ld_library_path = {"/older"};
  CHECK(gets("libcudnn.so.9") == "/older/libcudnn.so.9");
}

TEST_CASE_METHOD(Server, "an rpath comes before LD_LIBRARY_PATH") {
  install("/own/libcudnn.so.9");
  install("/older/libcudnn.so.9");
  program = {{"libcudnn.so.9"}, {"/own"}, {}};
  machine.ld_library_path = {"/older"};
  CHECK(gets("libcudnn.so.9") == "/own/libcudnn.so.9");
}

TEST_CASE_METHOD(Server, "the program's runpath does not apply to what its libraries need") {
  install("/own/libplugin.so", {{"libnccl.so.2"}, {}, {}});
  install("/own/libnccl.so.2");
  program = {{"libplugin.so"}, {}, {"/own"}};
  CHECK(gets("libplugin.so") == "/own/libplugin.so");
  CHECK(gets("libnccl.so.2") == "");
}

TEST_CASE_METHOD(Server, "the rpath of a program also applies to what its libraries need") {
  install("/own/libplugin.so", {{"libnccl.so.2"}, {}, {}});
  install("/own/libnccl.so.2");
  program = {{"libplugin.so"}, {"/own"}, {}};
  CHECK(gets("libnccl.so.2") == "/own/libnccl.so.2");
}

TEST_CASE_METHOD(Server, "the rpath of the library in between applies, too") {
  install("/a/libone.so", {{"libtwo.so"}, {"/b"}, {}});
  install("/b/libtwo.so", {{"libthree.so"}, {}, {}});
  install("/b/libthree.so");
  program = {{"libone.so"}, {"/a"}, {}};
  CHECK(gets("libthree.so") == "/b/libthree.so");
}

TEST_CASE_METHOD(Server, "with a runpath, all rpaths are ignored") {
  install("/own/libcudnn.so.9");
  install("/a/libone.so", {{"libcudnn.so.9"}, {"/own"}, {"/elsewhere"}});
  program = {{"libone.so"}, {"/a", "/own"}, {}};
  CHECK(gets("libcudnn.so.9") == "");
}

TEST_CASE_METHOD(Server, "the first copy that is loaded serves all") {
  install("/a/libone.so", {{"libcudnn.so.9"}, {"/a"}, {}});
  install("/a/libcudnn.so.9");
  install("/b/libtwo.so", {{"libcudnn.so.9"}, {"/b"}, {}});
  install("/b/libcudnn.so.9");
  program = {{"libone.so", "libtwo.so"}, {}, {"/a", "/b"}};
  CHECK(gets("libcudnn.so.9") == "/a/libcudnn.so.9");
}

TEST_CASE_METHOD(Server, "what the program needs is loaded first") {
  install("/a/libone.so", {{"libcudnn.so.9"}, {"/a"}, {}});
  install("/a/libcudnn.so.9");
  install("/b/libcudnn.so.9");
  machine.cache = {{"libone.so", "/a/libone.so"}};
  program = {{"libone.so", "libcudnn.so.9"}, {}, {"/b"}};
  CHECK(gets("libcudnn.so.9") == "/b/libcudnn.so.9");

  install("/a/libone.so", {{"libmid.so"}, {"/a"}, {}});
  install("/a/libmid.so", {{"libdeep.so"}, {"/a"}, {}});
  install("/a/libdeep.so");
  install("/b/libtwo.so", {{"libdeep.so"}, {"/b"}, {}});
  install("/b/libdeep.so");
  program = {{"libone.so", "libtwo.so"}, {}, {"/b"}};
  CHECK(gets("libdeep.so") == "/b/libdeep.so");
}

TEST_CASE_METHOD(Server, "the cache comes last, and what is nowhere is not found") {
  install("/usr/lib/libcudart.so.13");
  install("/own/libcudart.so.13");
  machine.cache = {{"libcudart.so.13", "/usr/lib/libcudart.so.13"}};
  program = {{"libcudart.so.13", "libcudart.so.12"}, {}, {}};
  CHECK(gets("libcudart.so.13") == "/usr/lib/libcudart.so.13");
  CHECK(gets("libcudart.so.12") == "");
  program.runpath = {"/own"};
  CHECK(gets("libcudart.so.13") == "/own/libcudart.so.13");
}

TEST_CASE_METHOD(Server, "libraries may need each other") {
  install("/a/libone.so", {{"libtwo.so"}, {"/a"}, {}});
  install("/a/libtwo.so", {{"libone.so"}, {"/a"}, {}});
  program = {{"libone.so"}, {"/a"}, {}};
  CHECK(loaded(machine, program).size() == 2);
}
