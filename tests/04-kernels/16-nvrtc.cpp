// Self-check of 04-kernels/16-nvrtc: judges the learner's image_of(). It needs neither NVRTC nor a device.
#include "tests/catch.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

std::string image_of(const std::string& folder, const std::string& key, const std::function<std::string()>& compile);

namespace {

namespace fs = std::filesystem;

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

  std::string file(const std::string& key) const { return folder + "/" + key + ".ptx"; }
};

}  // namespace

TEST_CASE_METHOD(Caching, "what is not there is compiled, and returned") {
  CHECK(get("one", "image 1") == "image 1");
  CHECK(compiled == 1);
}

TEST_CASE_METHOD(Caching, "what is there is not compiled again") {
  get("one", "image 1");
  CHECK(get("one", "another") == "image 1");
  CHECK(compiled == 1);
}

TEST_CASE_METHOD(Caching, "another key is another image") {
  get("one", "image 1");
  CHECK(get("two", "image 2") == "image 2");
  CHECK(get("one", "another") == "image 1");
}

TEST_CASE_METHOD(Caching, "every byte comes back") {
  const std::string bytes("a\0b\r\n\xff c\n", 9);
  get("bytes", bytes);
  CHECK(get("bytes", "another") == bytes);
}

TEST_CASE_METHOD(Caching, "a failed compilation is not kept") {
  CHECK(get("one", "").empty());
  CHECK(get("one", "image 1") == "image 1");
}

TEST_CASE_METHOD(Caching, "whoever looks finds the whole image or none") {
  const std::size_t large = 96 << 20;  // long enough to be caught at
  std::atomic<bool> done{false};
  std::atomic<int> halves{0};
  std::thread reader([&] {
    while (!done) {
      std::error_code none;
      const auto size = fs::file_size(file("large"), none);
      if (!none && size != large) ++halves;
    }
  });
  get("large", std::string(large, 'x'));
  done = true;
  reader.join();
  CHECK(fs::file_size(file("large")) == large);
  CHECK(halves == 0);
}

TEST_CASE_METHOD(Caching, "nothing but the image stays in the folder") {
  get("one", "image 1");
  const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  CHECK(files == 1);
}

TEST_CASE_METHOD(Caching, "a folder that cannot be written is no reason to fail") {
  CHECK(image_of(folder + "/not/there", "one", [] { return std::string("image 1"); }) == "image 1");
}

TEST_CASE_METHOD(Caching, "two processes never write to the same file") {
  const auto names_while = [this](const std::function<void()>& work) {
    std::set<std::string> names;
    std::atomic<bool> done{false};
    std::thread watcher([&] {
      while (!done) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(folder, none)) names.insert(entry.path().filename().string());
      }
    });
    work();
    done = true;
    watcher.join();
    return names;
  };
  const std::string large(48 << 20, 'x');  // long enough to be seen
  const auto ours = names_while([&] { get("large", large); });
  fs::remove(file("large"));
  const auto theirs = names_while([&] {
    const pid_t other = fork();
    if (other == 0) {
      get("large", large);
      _exit(0);
    }
    int status;
    waitpid(other, &status, 0);
  });
  std::vector<std::string> common;
  std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(common));
  CHECK(common == std::vector<std::string>{"large.ptx"});
}

TEST_CASE_METHOD(Caching, "what cannot be written whole is returned, and leaves nothing behind") {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{1 << 20, before.rlim_max};  // bytes in a file, as if the disk were full then
  const auto on_signal = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  const std::string large(4 << 20, 'x');
  const bool returned = get("large", large) == large;
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, on_signal);
  CHECK(returned);
  CHECK(fs::is_empty(folder));
}
