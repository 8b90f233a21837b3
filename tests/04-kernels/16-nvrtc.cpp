// Self-check of 04-kernels/16-nvrtc: judges the learner's image_of(). It needs neither NVRTC nor a device.
#include "tests/catch.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

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
