// Finds the user's compiler and runs it, so that the program does not notice: at the end of the program, the compiler
// ends as well, and its folder is removed.
#include "common/simulator/compile/compiler.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <thread>

extern char** environ;

namespace cudasim::compile {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kAbandoned = 1min;  // a folder that no process uses is younger only if it has just been made
constexpr int kLow = 5;  // priority: if the program uses all cores, the compiler has a fourth of one
constexpr auto kLook = 100ms;
constexpr int kLooks = 300;  // for the end of another process's compiler
constexpr auto kEnd = 2s;  // that the end of the program waits at most

#if defined(__AVX2__) && defined(__x86_64__)
// Does the processor have the parts of AVX-512 below, and does the operating system save their registers?
// __builtin_cpu_supports needs a variable of libgcc, which zig, the compiler of `make wheel`, does not have.
bool has_avx512() {
  constexpr unsigned kParts = bit_AVX512F | bit_AVX512VL | bit_AVX512BW | bit_AVX512DQ | bit_AVX512CD;
  constexpr unsigned kSaved = 0xe6;  // of XCR0: XMM, YMM, the masks, the upper halves of ZMM0 to 15, and ZMM16 to 31
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & kParts) != kParts) return false;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (a & kSaved) == kSaved;
}
#endif

// The instruction set is at least the one that the simulator itself is compiled for.
std::vector<std::string> architecture() {
#if defined(__AVX2__) && defined(__x86_64__)
  std::vector<std::string> set = {"-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2", "-mlzcnt", "-mmovbe"};
  // Twice as many registers, and masks. Vectors stay at 256 bits: longer ones were not faster.
  if (has_avx512())
    set.insert(set.end(),
               {"-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mavx512cd", "-mprefer-vector-width=256"});
  return set;
#else
  return {};
#endif
}
constexpr const char* kFlags[] = {"-std=c++20",
                                  "-O3",
                                  "-ffp-contract=off",
                                  "-fno-math-errno",
                                  "-fno-trapping-math",
                                  "-fPIC",
                                  "-shared",
                                  "-fvisibility=default",
                                  "-w",
                                  "-pipe"};

struct Environment {
  std::mutex mutex;
  std::vector<std::string> variables;  // NAME=value
};
Environment& remembered() {
  static Environment& all = *new Environment;
  return all;
}

// The environment without what makes the compiler load our library, or another that belongs to the program.
std::vector<std::string> plain_environment() {
  Environment& all = remembered();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> plain = all.variables;
  std::erase_if(plain, [](const std::string& each) { return each.starts_with("LD_") || each.starts_with("CUDASIM_"); });
  return plain;
}

// Pointers into the texts, as exec() takes them.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& each : texts) all.push_back(each.data());
  all.push_back(nullptr);
  return all;
}

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::string find_compiler() {
  for (const std::string& name : {environment("CXX"), std::string("g++"), std::string("clang++"), std::string("c++")}) {
    if (name.empty() || name.find(' ') != name.npos) continue;
    if (name.find('/') != name.npos) {
      if (is_program(name)) return name;
      continue;
    }
    std::istringstream folders(environment("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (!folder.empty() && is_program(folder + "/" + name)) return folder + "/" + name;
    }
  }
  return "";
}

// The compilers that run now. The program's end stops them and waits until their folders are gone.
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  const pid_t owner = getpid();  // not a copy of it that has only been forked
  std::vector<pid_t> children;  // each leads a group, of which the compiler's parts are
  int folders = 0;
  bool ending = false;
};
Running& running();

void stop_compilers() {
  Running& all = running();
  if (all.owner != getpid()) return;
  std::unique_lock lock(all.mutex);
  all.ending = true;
  for (const pid_t child : all.children) kill(-child, SIGKILL);
  all.changed.wait_for(lock, kEnd, [&] { return all.folders == 0; });
}

Running& running() {
  static Running& all = *[] {
    std::atexit(stop_compilers);
    return new Running;
  }();
  return all;
}

struct Actions {
  posix_spawn_file_actions_t raw;
  explicit Actions(const std::string& messages) {
    posix_spawn_file_actions_init(&raw);
    posix_spawn_file_actions_addopen(&raw, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&raw, 1, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&raw, 1, 2);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    // Who reads the program's pipes need not wait for the compiler.
    posix_spawn_file_actions_addclosefrom_np(&raw, 3);
#endif
#endif
  }
  ~Actions() { posix_spawn_file_actions_destroy(&raw); }
};

// Our threads block all signals; the compiler is not to.
struct Attributes {
  posix_spawnattr_t raw;
  Attributes() {
    posix_spawnattr_init(&raw);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&raw, &none);
    posix_spawnattr_setpgroup(&raw, 0);
    posix_spawnattr_setflags(&raw, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { posix_spawnattr_destroy(&raw); }
};

// The process's number; 0: it does not run.
pid_t start(std::vector<std::string> words, const std::string& messages, bool politely) {
  const Actions actions(messages);
  const Attributes attributes;
  std::vector<std::string> variables = plain_environment();
  Running& all = running();
  const std::lock_guard lock(all.mutex);
  pid_t child = 0;
  if (all.ending || posix_spawn(&child, words[0].c_str(), &actions.raw, &attributes.raw, pointers(words).data(),
                                pointers(variables).data()) != 0)
    return 0;
  if (politely) setpriority(PRIO_PGRP, static_cast<id_t>(child), kLow);  // what it starts later inherits that
  all.children.push_back(child);
  return child;
}

// Whether it has succeeded. If the program collects all of its children, the library tells.
bool has_ended_well(pid_t child, const std::string& library) {
  int status = 0;
  pid_t got = 0;
  do got = waitpid(child, &status, 0);
  while (got < 0 && errno == EINTR);
  Running& all = running();
  const std::lock_guard lock(all.mutex);
  std::erase(all.children, child);
  return got < 0 ? access(library.c_str(), R_OK) == 0 : WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int open_folder(const fs::path& folder) { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

}  // namespace

void remember_environment() {
  Environment& all = remembered();
  const std::lock_guard lock(all.mutex);
  all.variables.clear();
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) all.variables.emplace_back(*each);
}

std::string environment(const std::string& name) {
  Environment& all = remembered();
  const std::lock_guard lock(all.mutex);
  for (const std::string& each : all.variables) {
    if (each.starts_with(name + "=")) return each.substr(name.size() + 1);
  }
  return "";
}

const Compiler& compiler() {
  static const Compiler& found = *new Compiler([] {
    Compiler c{find_compiler(), ""};
    std::error_code error;
    const fs::path real = fs::canonical(c.path, error);
    struct stat status{};
    if (!c.path.empty() && stat(real.c_str(), &status) == 0)
      c.identity = real.string() + " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtime);
    return c;
  }());
  return found;
}

const std::vector<std::string>& flags() {
  static const auto& all = *new std::vector<std::string>([] {
    std::vector<std::string> both = architecture();
    both.insert(both.end(), std::begin(kFlags), std::end(kFlags));
    return both;
  }());
  return all;
}

Work::Work(const fs::path& own) : path_(own / "work-XXXXXX") {
  Running& all = running();
  const std::lock_guard lock(all.mutex);
  if (all.ending || mkdtemp(path_.data()) == nullptr) {
    path_.clear();
    return;
  }
  ++all.folders;
  lock_ = open_folder(path_);
  if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
}

Work::~Work() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove_all(path_, error);
  if (lock_ >= 0) close(lock_);
  Running& all = running();
  const std::lock_guard lock(all.mutex);
  --all.folders;
  all.changed.notify_all();
}

bool Work::compile(bool politely) const {
  std::vector<std::string> words = {compiler().path};
  words.insert(words.end(), flags().begin(), flags().end());
  words.insert(words.end(), {"-I" + path_, path_ + "/kernel.cpp", "-o", path_ + "/kernel.so"});
  const pid_t child = start(std::move(words), path_ + "/messages", politely);
  return child != 0 && has_ended_well(child, path_ + "/kernel.so");
}

void remove_abandoned(const fs::path& own) {
  std::error_code error;
  for (const auto& each : fs::directory_iterator(own, error)) {
    if (!each.path().filename().string().starts_with("work-")) continue;
    if (fs::file_time_type::clock::now() - each.last_write_time(error) < kAbandoned || error) continue;
    const int lock = open_folder(each.path());
    if (lock < 0) continue;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(each.path(), error);
    close(lock);
  }
}

Turn::Turn(const fs::path& own) : lock_(open_folder(own)) {
  for (int look = 0; lock_ >= 0 && look < kLooks && flock(lock_, LOCK_EX | LOCK_NB) != 0; ++look)
    std::this_thread::sleep_for(kLook);
}
Turn::~Turn() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace cudasim::compile
