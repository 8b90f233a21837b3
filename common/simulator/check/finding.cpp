#include "common/simulator/check/finding.hpp"

#include "common/simulator/check/report.hpp"
#include "common/simulator/exec/grid.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

namespace cudasim {
namespace {

// What one process prints at most: who has made as many mistakes reads the first ones first.
constexpr std::size_t kMost = 50;

bool first_of_its_kind(const std::string& key) {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  if (told.size() > kMost || !told.insert(key).second) return false;
  if (told.size() <= kMost) return true;
  std::fputs("cudasim: there are more findings; these are enough to begin with\n", stderr);
  return false;
}

void print(const std::string& title, const std::vector<std::pair<const char*, std::string>>& rows) {
  std::string text = "========= simulated GPU: " + title + "\n";
  for (const auto& [head, what] : rows) text += row(head, what);
  std::fputs(text.c_str(), stderr);
}

}  // namespace

std::string plain_name(std::string name) {
  for (const char* end : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"}) {
    const std::size_t at = name.rfind(end);
    if (at != std::string::npos && at != 0 && name.size() - at == std::strlen(end))
      return plain_name(name.substr(0, at));
  }
  return name;
}

std::string where(const Program& program, const Place& place) {
  if (place.instruction->statement >= place.code->statements.size()) return place.code->name;
  const StatementInfo& info = place.code->statements[place.instruction->statement];
  const std::string line = "PTX line " + std::to_string(info.line);
  if (info.source.file == 0 || info.source.file >= program.files.size()) return line;
  const auto written = [&](u32 file, u32 number) {
    const std::string& path = program.files[file];
    return path.substr(path.rfind('/') + 1) + ":" + std::to_string(number);
  };
  const std::string own = written(info.source.file, info.source.line);
  if (info.source.outer_file == 0 || info.source.outer_file >= program.files.size()) return own;
  return written(info.source.outer_file, info.source.outer_line) + " (in " + own + ")";
}

std::string thread_name(const Grid& grid, u64 block, u32 thread) {
  const Dim3 size = grid.launch.grid;
  const Dim3 index{static_cast<u32>(block % size.x), static_cast<u32>(block / size.x % size.y),
                   static_cast<u32>(block / size.x / size.y)};
  const Dim3 own{grid.tid[0][thread], grid.tid[1][thread], grid.tid[2][thread]};
  return coordinates(own) + " of block " + coordinates(index);
}

std::string shared_name(const Grid& grid, u64 address) {
  std::string text = "byte " + std::to_string(address) + " of the block's shared memory";
  const Kernel::SharedVariable* found = nullptr;
  for (const auto& variable : grid.kernel.shared_variables) {
    if (address < variable.offset || (variable.size != 0 && address >= variable.offset + variable.size)) continue;
    found = &variable;
    if (variable.size != 0) break;
  }
  if (found == nullptr) return text;
  std::string name = demangled(found->name);
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  return "byte " + std::to_string(address - found->offset) + " of '" + name + "', " + text;
}

void find(const Grid& grid, const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows) {
  if (!first_of_its_kind(grid.kernel.name + " " + key)) return;
  std::vector<std::pair<const char*, std::string>> all{{"kernel", demangled(grid.kernel.name)}};
  all.insert(all.end(), rows.begin(), rows.end());
  print(title, all);
}

void find(const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows) {
  if (first_of_its_kind(key)) print(title, rows);
}

}  // namespace cudasim
