#include "common/simulator/state/modules/jit_cache.hpp"

#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/types.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace cudasim {
namespace {

u64 setting(const char* variable, u64 otherwise) {
  const std::string& text = at_init(variable);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

// Empty if there is no cache.
fs::path folder() { return setting("CUDA_CACHE_DISABLE", 0) == 0 ? at_init("CUDA_CACHE_PATH") : ""; }

u64 most_bytes() { return std::min<u64>(setting("CUDA_CACHE_MAXSIZE", u64{1} << 30), u64{4} << 30); }

// What another build of the simulator has compiled does not count: as after an update of the driver.
const std::string& build() {
  static const std::string& stamp = *new std::string([] {
    Dl_info self{};
    std::error_code none;
    if (dladdr(reinterpret_cast<void*>(&in_jit_cache), &self) == 0) return std::string("simulator");
    const auto written = static_cast<long long>(fs::last_write_time(self.dli_fname, none).time_since_epoch().count());
    return "simulator " + std::to_string(written) + " " + std::to_string(fs::file_size(self.dli_fname, none));
  }());
  return stamp;
}

std::string entry_for(std::string_view text) { return build() + "\n" + std::string(text); }

// FNV-1a. Entries are compared in full, so it need not be free of collisions.
fs::path file_for(const std::string& entry) {
  u64 hash = 0xcbf29ce484222325;
  for (const char byte : entry) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  char name[24];
  std::snprintf(name, sizeof name, "%016" PRIx64 ".ptx", hash);
  return folder() / name;
}

struct Old {
  fs::file_time_type written;
  u64 bytes;
  fs::path file;
};

// Removes the oldest entries until there is room for so many bytes.
void make_room(u64 bytes) {
  std::error_code error;
  std::vector<Old> all;
  u64 sum = bytes;
  for (fs::directory_iterator at(folder(), error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const u64 size = at->path().extension() == ".ptx" ? at->file_size(gone) : 0;
    if (gone || size == 0) continue;
    all.push_back({at->last_write_time(gone), size, at->path()});
    sum += size;
  }
  std::sort(all.begin(), all.end(), [](const Old& a, const Old& b) { return a.written < b.written; });
  for (std::size_t i = 0; i < all.size() && sum > most_bytes(); ++i) {
    if (fs::remove(all[i].file, error)) sum -= all[i].bytes;
  }
}

}  // namespace

bool jit_disabled() { return setting("CUDA_DISABLE_PTX_JIT", 0) != 0; }

bool in_jit_cache(std::string_view text) {
  if (folder().empty()) return false;
  const std::string entry = entry_for(text);
  std::ifstream file(file_for(entry), std::ios::binary);
  std::string found(entry.size() + 1, '\0');
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  found.resize(static_cast<std::size_t>(file.gcount()));
  return found == entry;
}

// Other processes may read and write the same entry: a file appears when it is complete.
void add_to_jit_cache(std::string_view text) {
  const std::string entry = entry_for(text);
  if (folder().empty() || entry.size() > most_bytes()) return;
  std::error_code error;
  fs::create_directories(folder(), error);
  if (error) return;
  make_room(entry.size());
  const fs::path file = file_for(entry), unfinished = file.string() + "." + std::to_string(getpid());
  std::ofstream out(unfinished, std::ios::binary);
  out << entry;
  out.close();
  if (out) fs::rename(unfinished, file, error);
  if (!out || error) fs::remove(unfinished, error);
}

}  // namespace cudasim
