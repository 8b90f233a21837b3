// Runs the user's compiler and keeps what it makes: a folder of libraries, each named by a hash of everything that it
// is made of, so that an entry is never out of date. Many processes may use the folder at the same time: an entry
// appears by being renamed, whole, and one that is damaged counts as none.
#include "common/simulator/compile/build.hpp"

#include "common/simulator/numbers.hpp"
#include "common/simulator/wanted.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <vector>

extern char** environ;

namespace cudasim::compile {
namespace {

namespace fs = std::filesystem;

constexpr u64 kMostBytes = u64{256} << 20;  // of the folder
constexpr auto kAbandoned = std::chrono::hours(1);  // so old is a working folder that a process has left behind

// The instruction set is the one that the simulator itself is compiled for.
#if defined(__AVX2__) && defined(__x86_64__)
const std::vector<std::string> kArch = {"-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2", "-mlzcnt", "-mmovbe"};
#else
const std::vector<std::string> kArch = {};
#endif
const std::vector<std::string> kFlags = {"-std=c++20",
                                         "-O3",
                                         "-ffp-contract=off",
                                         "-fno-math-errno",
                                         "-fno-trapping-math",
                                         "-fPIC",
                                         "-shared",
                                         "-fvisibility=default",
                                         "-w",
                                         "-pipe"};

// Two of FNV-1a's, from different beginnings.
std::string hash(const std::string& text) {
  u64 a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    b = (b ^ static_cast<unsigned char>(c)) * 0x100000001b3u + 1;
  }
  return hex(a).substr(2) + hex(b).substr(2);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The compiler's path, or an empty string if no compiler was found.
std::string find_compiler() {
  std::string path = environment("PATH");
  std::vector<std::string> names = {environment("CXX"), "g++", "clang++", "c++"};
  for (const std::string& name : names) {
    if (name.empty() || name.find(' ') != name.npos) continue;
    if (name.find('/') != name.npos && access(name.c_str(), X_OK) == 0) return name;
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string full = folder + "/" + name;
      if (!folder.empty() && name.find('/') == name.npos && access(full.c_str(), X_OK) == 0) return full;
    }
  }
  return "";
}

struct Compiler {
  std::string path, identity;
};
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

// The user's own folder; empty if there cannot be one.
std::string folder() {
  std::string base = environment("XDG_CACHE_HOME");
  if (base.empty() && !environment("HOME").empty()) base = environment("HOME") + "/.cache";
  if (base.empty() || base[0] != '/') return "";
  std::error_code error;
  fs::create_directories(base, error);
  const std::string own = base + "/cudasim";
  mkdir(own.c_str(), 0700);
  struct stat status{};
  const bool good = lstat(own.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
  return good && ((status.st_mode & 077) == 0 || chmod(own.c_str(), 0700) == 0) ? own : "";
}

std::string key_of(const Source& source) {
  std::string all = source.text + headers() + compiler().identity;
  for (const auto* flags : {&kArch, &kFlags}) {
    for (const std::string& flag : *flags) all += " " + flag;
  }
  return hash(all);
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return in ? all.str() : "";
}

// An entry ends with a hash of what is before it: a library that is cut off would end the process that loads it.
constexpr std::size_t kMark = 40;
std::string mark_of(const std::string& library) {
  std::string mark = "cudasim " + hash(library);
  mark.resize(kMark, '.');
  return mark;
}
bool write_file(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return !out.fail();
}

// The environment without what makes the compiler load our library, or another that belongs to the program.
std::vector<char*> plain_environment() {
  std::vector<char*> result;
  for (char** each = environ; *each != nullptr; ++each) {
    const bool hidden = std::strncmp(*each, "LD_", 3) == 0 || std::strncmp(*each, "CUDASIM_", 8) == 0;
    if (!hidden) result.push_back(*each);
  }
  result.push_back(nullptr);
  return result;
}

bool compile(const std::string& work) {
  std::vector<std::string> words = {compiler().path};
  words.insert(words.end(), kArch.begin(), kArch.end());
  words.insert(words.end(), kFlags.begin(), kFlags.end());
  for (const std::string& each :
       {std::string("-I") + work, work + "/kernel.cpp", std::string("-o"), work + "/kernel.so"})
    words.push_back(each);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, (work + "/messages").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&actions,
                                           3);  // a reader of the program's pipes need not wait for the compiler
#endif
#endif
  // The thread that calls this blocks all signals; the compiler is not to.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> variables = plain_environment();
  pid_t child = 0;
  const bool started =
      posix_spawn(&child, words[0].c_str(), &actions, &attributes, arguments.data(), variables.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  while (started && waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return access((work + "/kernel.so").c_str(), R_OK) == 0;  // the program collects all children
  }
  return started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The oldest entries go until the folder is small enough, and what other processes have left behind.
void make_room(const std::string& own) {
  struct Entry {
    fs::file_time_type time;
    u64 size;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code error;
  u64 sum = 0;
  for (const auto& each : fs::directory_iterator(own, error)) {
    const auto time = each.last_write_time(error);
    if (each.is_directory(error)) {
      if (fs::file_time_type::clock::now() - time > kAbandoned) fs::remove_all(each.path(), error);
      continue;
    }
    const u64 size = each.file_size(error);
    if (error) continue;
    entries.push_back({time, size, each.path()});
    sum += size;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& each : entries) {
    if (sum <= kMostBytes) return;
    if (fs::remove(each.path, error)) sum -= each.size;
  }
}

void keep(const Source& source) {
  const std::string& to = compile_wanted().keep;
  if (to.empty()) return;
  std::error_code error;
  fs::create_directories(to, error);
  write_file(to + "/cudasim.hpp", headers());
  write_file(to + "/" + source.name.substr(0, 100) + "-" + hash(source.text).substr(0, 8) + ".cpp", source.text);
}

fs::path entry_of(const Source& source, const std::string& own) { return own + "/" + key_of(source) + ".so"; }

// Makes the entry in a folder of its own and moves it to its place, so that no process sees half of it.
bool make_entry(const Source& source, const std::string& own, const fs::path& entry) {
  make_room(own);
  std::string work = own + "/work-XXXXXX";
  if (mkdtemp(work.data()) == nullptr) return false;
  const std::string made = work + "/kernel.so";
  bool good =
      write_file(work + "/cudasim.hpp", headers()) && write_file(work + "/kernel.cpp", source.text) && compile(work);
  if (!good && !compile_wanted().keep.empty())
    std::fprintf(stderr, "cudasim: %s was not compiled: %s\n", source.name.c_str(),
                 contents(work + "/messages").c_str());
  if (good) {
    const std::string library = contents(made);
    good = write_file(made, library + mark_of(library)) && rename(made.c_str(), entry.c_str()) == 0;
  }
  std::error_code error;
  fs::remove_all(work, error);
  return good;
}

}  // namespace

bool is_whole(const fs::path& library) {
  const std::string all = contents(library);
  return all.size() > kMark && all.substr(all.size() - kMark) == mark_of(all.substr(0, all.size() - kMark));
}

std::optional<fs::path> kept(const Source& source) {
  if (compiler().path.empty()) return {};
  keep(source);
  const std::string own = folder();
  if (own.empty()) return {};
  const fs::path entry = entry_of(source, own);
  return is_whole(entry) ? std::optional(entry) : std::nullopt;
}

std::optional<fs::path> make(const Source& source) {
  if (auto found = kept(source)) return found;
  const std::string own = folder();
  if (own.empty() || compiler().path.empty()) return {};
  const fs::path entry = entry_of(source, own);
  return make_entry(source, own, entry) && is_whole(entry) ? std::optional(entry) : std::nullopt;
}

const Compiled* load(const fs::path& library) {
  static auto& mutex = *new std::mutex;
  static auto& loaded = *new std::unordered_map<std::string, const Compiled*>;
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(library); found != loaded.end()) return found->second;
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return nullptr;
  auto made = std::make_unique<Compiled>();
  made->together = reinterpret_cast<CompiledFunction>(dlsym(opened, "together"));
  made->apart = reinterpret_cast<CompiledFunction>(dlsym(opened, "apart"));
  made->begins = static_cast<const bool*>(dlsym(opened, "begins"));
  if (made->together == nullptr || made->apart == nullptr || made->begins == nullptr) return nullptr;
  return loaded[library] = made.release();
}

}  // namespace cudasim::compile
