// Checks the learner's image_of() (exercise of 04-kernels/13-nvrtc). It needs neither NVRTC nor a device.
#include "tests/catch.hpp"
#include "tests/child.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

std::string image_of(const std::string& folder, const std::string& key, const std::function<std::string()>& compile);

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// An empty folder, and a compiler that counts.
struct Caching {
  std::string folder;
  int compiled = 0;

  Caching() {
    std::string name = (fs::temp_directory_path() / "image-of-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~Caching() { fs::remove_all(folder); }

  std::string get(const std::string& key, const std::string& result) {
    return image_of(folder, key, [&] {
      ++compiled;
      return result;
    });
  }

  Names files() const {
    Names names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
    return names;
  }

  // What another process finds in the initially empty folder while one process writes the image of this key. The writer
  // is terminated by a signal when its file would grow beyond a mebibyte.
  Names files_in_the_middle_of_writing(const std::string& key) {
    const Child writer = in_a_child([&] {
      const rlimit nothing{0, 0}, little{1 << 20, 1 << 20};
      setrlimit(RLIMIT_CORE, &nothing);
      setrlimit(RLIMIT_FSIZE, &little);
      return std::to_string(get(key, std::string(4 << 20, 'x')).size()) + " bytes";
    });
    if (!writer.threw.empty()) FAIL("image_of threw: " << writer.threw);
    const bool stopped = WIFSIGNALED(writer.status) && WTERMSIG(writer.status) == SIGXFSZ;
    if (!stopped)
      FAIL("image_of did not write a file of 4 MiB. It returned "
           << (writer.returned.empty() ? "nothing" : writer.returned));
    const Names names = files();
    fs::remove_all(folder);
    fs::create_directory(folder);
    return names;
  }
};

bool another_disk = false;  // while this is true, each folder is on its own disk

}  // namespace

// A function in the program replaces a library function of the same name. This one does not rename across disks.
extern "C" int rename(const char* from, const char* to) noexcept {
  if (another_disk && fs::path(from).parent_path() != fs::path(to).parent_path()) {
    errno = EXDEV;
    return -1;
  }
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

TEST_CASE_METHOD(Caching, "a missing image is compiled and returned") {
  CHECK(get("one", "image 1") == "image 1");
  CHECK(compiled == 1);
}

TEST_CASE_METHOD(Caching, "a cached image is not compiled again") {
  get("one", "image 1");
  CHECK(get("one", "another") == "image 1");
  CHECK(compiled == 1);
}

TEST_CASE_METHOD(Caching, "another key has another image") {
  get("one", "image 1");
  CHECK(get("two", "image 2") == "image 2");
  CHECK(get("one", "another") == "image 1");
}

TEST_CASE_METHOD(Caching, "every byte is returned") {
  const std::string bytes("a\0b\r\n\xff c\n", 9);
  get("bytes", bytes);
  CHECK(get("bytes", "another") == bytes);
}

TEST_CASE_METHOD(Caching, "a failed compilation is not stored") {
  CHECK(get("one", "").empty());
  CHECK(files() == Names{});
  CHECK(get("one", "image 1") == "image 1");
}

TEST_CASE_METHOD(Caching, "the folder may be on another disk than the temporary files") {
  another_disk = true;
  get("one", "image 1");
  another_disk = false;
  CHECK(get("one", "another") == "image 1");
}

// Left behind by a write without a rename, or by a full disk.
TEST_CASE_METHOD(Caching, "an empty file is not an image") {
  std::ofstream(folder + "/one.ptx").close();
  CHECK(get("one", "image 1") == "image 1");
  CHECK(get("one", "another") == "image 1");
}

TEST_CASE_METHOD(Caching, "another process finds the whole image or none") {
  const Names found = files_in_the_middle_of_writing("large");
  CAPTURE(found);
  CHECK(found.count("large.ptx") == 0);
}

TEST_CASE_METHOD(Caching, "only the image remains in the folder") {
  get("one", "image 1");
  CHECK(files() == Names{"one.ptx"});
}

TEST_CASE_METHOD(Caching, "a folder that cannot be written does not cause a failure") {
  CHECK(image_of(folder + "/not/there", "one", [] { return std::string("image 1"); }) == "image 1");
}

TEST_CASE_METHOD(Caching, "two processes never write to the same file") {
  const Names ours = files_in_the_middle_of_writing("large"), theirs = files_in_the_middle_of_writing("large");
  Names both_write;
  std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                        std::inserter(both_write, both_write.end()));
  CHECK(both_write == Names{});
}

TEST_CASE_METHOD(Caching, "an image that cannot be written completely is returned, and no file remains") {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{1 << 20, before.rlim_max};  // the maximum size of a file, as if the disk were then full
  const auto on_signal = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  const std::string large(4 << 20, 'x');
  const bool returned = get("large", large) == large;
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, on_signal);
  CHECK(returned);
  CHECK(files() == Names{});
}
