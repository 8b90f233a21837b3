#include "common/simulator/watch/finding.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/profile/film.hpp"
#include "common/simulator/text.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>

namespace cudasim {
namespace {

// Findings that one process prints at most.
constexpr std::size_t kMost = 50;

bool first_of_its_kind(const std::string& key) {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  if (told.size() > kMost || !told.insert(key).second) return false;
  if (told.size() <= kMost) return true;
  std::fputs("cudasim: more faults were found, but only the first ones are reported\n", stderr);
  return false;
}

void print(const std::string& title, const std::vector<std::pair<const char*, std::string>>& rows) {
  std::string text = "========= simulated GPU: " + title + "\n";
  for (const auto& [head, what] : rows) text += row(head, what);
  std::fputs(text.c_str(), stderr);
}

}  // namespace

void find(const Grid& grid, const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows) {
  Film::add_finding(grid, title, rows);
  if (!first_of_its_kind(grid.kernel.name + " " + key)) return;
  std::vector<std::pair<const char*, std::string>> all{{"kernel", readable(grid.kernel.name)}};
  all.insert(all.end(), rows.begin(), rows.end());
  const auto& files = grid.program.files;
  const bool has_lines = std::any_of(files.begin(), files.end(), [](const std::string& file) { return !file.empty(); });
  if (!has_lines) all.push_back({"hint", "with nvcc's -lineinfo, reports name lines of the source"});
  print(title, all);
}

void find(const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows) {
  if (first_of_its_kind(key)) print(title, rows);
}

}  // namespace cudasim
