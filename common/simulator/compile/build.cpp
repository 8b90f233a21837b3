// Keeps what the user's compiler makes: a folder of libraries, each named by a hash of everything that it is made of,
// so that an entry is never out of date. Many processes may use the folder at the same time: an entry appears by being
// renamed, whole, and one that is damaged counts as none.
#include "common/simulator/compile/build.hpp"

#include "common/simulator/compile/compiler.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/wanted.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <vector>

namespace cudasim::compile {
namespace {

namespace fs = std::filesystem;

constexpr auto kNoted = std::chrono::hours(24);  // so exactly the time of an entry's last use is known

// Two of FNV-1a's, from different beginnings.
std::string hash(const std::string& text) {
  u64 a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    b = (b ^ static_cast<unsigned char>(c)) * 0x100000001b3u + 1;
  }
  return hex(a).substr(2) + hex(b).substr(2);
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
  for (const std::string& flag : flags()) all += " " + flag;
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

void keep(const Source& source) {
  const std::string& to = compile_wanted().keep;
  if (to.empty()) return;
  std::error_code error;
  fs::create_directories(to, error);
  write_file(to + "/cudasim.hpp", headers());
  write_file(to + "/" + source.name.substr(0, 100) + "-" + hash(source.text).substr(0, 8) + ".cpp", source.text);
}

fs::path entry_of(const Source& source, const std::string& own) { return own + "/" + key_of(source) + ".so"; }

// So that make_room() leaves it.
void note_use(const fs::path& entry) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  if (now - fs::last_write_time(entry, error) > kNoted && !error) fs::last_write_time(entry, now, error);
}

// Makes the entry in a folder of its own and moves it to its place, so that no process sees half of it.
bool make_entry(const Source& source, const std::string& own, const fs::path& entry, bool politely) {
  remove_abandoned(own);
  make_room(own, kMostBytes);
  const Work work(own);
  if (work.path().empty() || !write_file(work.path() + "/cudasim.hpp", headers()) ||
      !write_file(work.path() + "/kernel.cpp", source.text))
    return false;
  if (!work.compile(politely)) {
    if (!compile_wanted().keep.empty())
      std::fprintf(stderr, "cudasim: %s was not compiled: %s\n", source.name.c_str(),
                   contents(work.path() + "/messages").c_str());
    return false;
  }
  const std::string made = work.path() + "/kernel.so", library = contents(made);
  return write_file(made, library + mark_of(library)) && rename(made.c_str(), entry.c_str()) == 0;
}

}  // namespace

void make_room(const fs::path& own, u64 most) {
  struct Entry {
    fs::file_time_type time;
    u64 size;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code error;
  u64 sum = 0;
  for (const auto& each : fs::directory_iterator(own, error)) {
    if (each.is_directory(error)) continue;
    const auto time = each.last_write_time(error);
    const u64 size = each.file_size(error);
    if (error) continue;
    entries.push_back({time, size, each.path()});
    sum += size;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& each : entries) {
    if (sum <= most) return;
    if (fs::remove(each.path, error)) sum -= each.size;
  }
}

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
  if (!is_whole(entry)) return {};
  note_use(entry);
  return entry;
}

std::optional<fs::path> make(const Source& source, bool politely) {
  if (auto found = kept(source)) return found;
  const std::string own = folder();
  if (own.empty() || compiler().path.empty()) return {};
  std::optional<Turn> turn;
  if (politely) {
    turn.emplace(own);
    if (auto found = kept(source)) return found;  // another process has made it
  }
  const fs::path entry = entry_of(source, own);
  return make_entry(source, own, entry, politely) && is_whole(entry) ? std::optional(entry) : std::nullopt;
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
