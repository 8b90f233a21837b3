// What becomes of a kernel if the compiler or its cache does not work, and of the compiler if the program ends.
#include "common/simulator/compile/build.hpp"
#include "common/simulator/compile/compiler.hpp"
#include "tests/simulator/exec_kernel.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

using namespace cudasim;
using namespace cudasim::testing;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 1500 && !condition(); ++i) std::this_thread::sleep_for(20ms);
  return condition();
}

// A folder for a cache, for compilers that are none, and for what processes say.
class Place {
 public:
  Place() {
    std::string name = "/tmp/cudasim-cache-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Place() { fs::remove_all(path); }
  fs::path cache() const { return path / "cudasim"; }
  std::vector<fs::path> left() const {
    std::vector<fs::path> all;
    if (fs::exists(cache())) {
      for (const auto& each : fs::directory_iterator(cache())) all.push_back(each.path());
    }
    return all;
  }
  // A compiler that first says in `started` which process it is.
  std::string script(const std::string& body) const {
    const fs::path file = path / "compiler";
    std::ofstream(file) << "#!/bin/sh\necho $$ > " << (path / "started").string() << "\n" << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
  pid_t started() const {
    pid_t process = 0;
    std::ifstream(path / "started") >> process;
    return process;
  }
  // The command line of the test case at the end of this file.
  std::string alone(const std::string& settings) const {
    return "XDG_CACHE_HOME=" + path.string() + " PLACE=" + path.string() + " " + settings + " exec " +
           fs::read_symlink("/proc/self/exe").string() + " '[.alone]' >>" + said().string() + " 2>&1";
  }
  int run(const std::string& settings, const std::string& before = "") const {
    return std::system((before + alone(settings)).c_str());
  }
  fs::path said() const { return path / "said"; }

  fs::path path;
};

bool says(const Place& place, const std::string& word) {
  return contents(place.said()).find(word) != std::string::npos;
}
bool complains(const Place& place) { return says(place, "cudasim:"); }

pid_t begin(const std::string& command) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  return child;
}

}  // namespace

TEST_CASE("A kernel that cannot be compiled is interpreted, and nothing is said or left") {
  struct Row {
    const char* why;
    std::string compiler, settings, before;
  };
  const Row rows[] = {
      {"there is no compiler", "", "PATH=/nowhere CXX=", ""},
      {"the compiler fails", "exit 1", "", ""},
      {"the compiler is too old", "echo \"error: unrecognized option '-std=c++20'\" >&2; exit 1", "", ""},
      {"the compiler ends by a signal", "kill -SEGV $$", "", ""},
      {"what it makes is no library", "for last; do :; done; echo nonsense > $last", "", ""},
      {"the home folder cannot be written", "", "XDG_CACHE_HOME= HOME=/proc/nowhere", ""},
      {"there is no home folder", "", "XDG_CACHE_HOME= HOME=", ""},
      {"the disk is full", "", "", "trap '' XFSZ; ulimit -f 8; "},
  };
  for (const Row& row : rows) {
    CAPTURE(row.why);
    const Place place;
    const std::string compiler = row.compiler.empty() ? "" : "CXX=" + place.script(row.compiler) + " ";
    CHECK(place.run("CUDASIM_COMPILE=now " + compiler + row.settings, row.before) == 0);
    INFO(contents(place.said()));
    CHECK(says(place, "interpreted"));
    CHECK_FALSE(complains(place));
    for (const fs::path& each : place.left()) CHECK(each.extension() == ".so");
  }
}

TEST_CASE("Many processes that compile a kernel at the same time make one entry") {
  const Place place;
  std::vector<pid_t> all;
  for (int i = 0; i < 4; ++i) all.push_back(begin(place.alone("CUDASIM_COMPILE=now")));
  for (const pid_t each : all) {
    int status = 0;
    REQUIRE(waitpid(each, &status, 0) == each);
    CHECK(status == 0);
  }
  INFO(contents(place.said()));
  CHECK_FALSE(says(place, "interpreted"));
  CHECK(place.left().size() == 1);
}

TEST_CASE("A program that ends while its kernel is compiled ends at once, with its compiler, and leaves nothing") {
  const Place place;
  const std::string compiler = place.script("sleep 30 & wait");
  const auto from = std::chrono::steady_clock::now();
  CHECK(place.run("CUDASIM_COMPILE=background THEN=exit CXX=" + compiler) == 0);
  CHECK(std::chrono::steady_clock::now() - from < 20s);
  INFO(contents(place.said()));
  const pid_t group = place.started();
  REQUIRE(group > 1);
  CHECK(comes_true([&] { return kill(-group, 0) != 0; }));
  CHECK(place.left().empty());
  CHECK_FALSE(complains(place));
}

TEST_CASE("What a program that was killed has left in the cache goes when the next one compiles") {
  const Place place;
  const pid_t program = begin(place.alone("CUDASIM_COMPILE=background THEN=wait CXX=" + place.script("sleep 2")));
  REQUIRE(comes_true([&] { return place.started() > 1; }));
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  REQUIRE(place.left().size() == 1);
  const auto next = [&] { return place.run("CUDASIM_COMPILE=now CXX=" + place.script("exit 1")); };
  CHECK(next() == 0);
  CHECK(place.left().size() == 1);  // it may be another program's that has just begun
  fs::last_write_time(place.left().front(), fs::file_time_type::clock::now() - 2min);
  CHECK(next() == 0);
  CHECK(place.left().empty());
}

TEST_CASE("A copy of the program that ends while a kernel is compiled does not disturb the compiler") {
  const Place place;
  const std::string compiler = place.script("sleep 1; exec g++ \"$@\"");
  CHECK(place.run("CUDASIM_COMPILE=background THEN=fork CXX=" + compiler) == 0);
  INFO(contents(place.said()));
  CHECK(says(place, "compiled"));
  CHECK(place.left().size() == 1);
}

TEST_CASE("If the cache is too large, the entries that have not been used for longest go") {
  const Place place;
  fs::create_directory(place.cache());
  for (int age = 0; age < 4; ++age) {
    const fs::path entry = place.cache() / (std::to_string(age) + ".so");
    std::ofstream(entry) << std::string(1000, 'x');
    fs::last_write_time(entry, fs::file_time_type::clock::now() - age * 1h);
  }
  compile::make_room(place.cache(), 4000);
  CHECK(place.left().size() == 4);
  compile::make_room(place.cache(), 2500);
  CHECK(place.left().size() == 2);
  CHECK(fs::exists(place.cache() / "0.so"));
  CHECK(fs::exists(place.cache() / "1.so"));
}

// Adds up to `last` in each thread, long enough to be worth compiling if `last` is large.
TEST_CASE("In a process of its own, for the test cases above", "[.alone]") {
  if (std::getenv("PLACE") == nullptr) SKIP_TEST("the test cases above run this one");
  const Module module(kHeader + R"(
.visible .entry k(.param .u64 out, .param .u32 last) {
  .reg .u64 %out, %slot;
  .reg .u32 %t, %i, %sum, %last;
  .reg .pred %p;
  ld.param.u64 %out, [out]; cvta.to.global.u64 %out, %out;
  ld.param.u32 %last, [last];
  mov.u32 %t, %tid.x; mad.wide.u32 %slot, %t, 4, %out;
  mov.u32 %i, 0; mov.u32 %sum, %t;
AGAIN:
  add.u32 %i, %i, 1; add.u32 %sum, %sum, %i; setp.lt.u32 %p, %i, %last; @%p bra AGAIN;
  st.global.u32 [%slot], %sum;
  ret;
})");
  constexpr u32 kThreads = 512;
  Buffer<u32> out(kThreads);
  const auto sums = [&](u32 last) {
    REQUIRE_FALSE(module.run("k", {1, 1, 1}, {kThreads, 1, 1}, out.address(), last).has_value());
    for (u32 t = 0; t < kThreads; ++t) REQUIRE(out[t] == static_cast<u32>(t + u64{last} * (last + 1) / 2));
  };
  const auto& compiled = module.program->functions[0]->compiled[0];
  const std::string then = std::getenv("THEN") == nullptr ? "" : std::getenv("THEN");
  const fs::path place = std::getenv("PLACE");
  sums(then.empty() ? 3 : 600'000);
  if (!then.empty()) REQUIRE(comes_true([&] { return fs::exists(place / "started"); }));
  if (then == "wait") std::this_thread::sleep_for(60s);
  if (then == "fork") {
    const pid_t copy = fork();
    if (copy == 0) std::exit(0);
    int status = 1;
    CHECK(waitpid(copy, &status, 0) == copy);
    CHECK(status == 0);
    CHECK(comes_true([&] { return compiled.load() != nullptr; }));
    sums(5);
  }
  std::cout << (compiled.load() != nullptr ? "compiled\n" : "interpreted\n");
}
