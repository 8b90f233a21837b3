// Checks that each row of the instruction table has a test case, and each type and modifier of each row: a form that
// was never run is not known to be right. The cases are those of tests/instructions, which have their own expected
// values. They run once more here and report what they have loaded.
#include "common/simulator/isa/row.hpp"
#include "common/simulator/ptx/version.hpp"
#include "tests/catch.hpp"
#include "tests/simulator/forms.hpp"

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace cudasim;

namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> all;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  std::filesystem::remove(file);
  return all;
}

// What the suite loads, while all of its cases pass.
std::vector<std::string> loaded_by_the_suite() {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("instructions-" + std::to_string(getpid()))).string();
  const std::string command = "INSTRUCTIONS_LOADED='" + file +
                              "' LD_LIBRARY_PATH=build/simulator build/tests/instructions/check >'" + file +
                              ".said' 2>&1";
  const int status = std::system(command.c_str());
  const auto forms = lines_of(file), said = lines_of(file + ".said");
  if (status != 0) {
    std::string end;
    for (std::size_t k = said.size() - std::min<std::size_t>(said.size(), 60); k < said.size(); ++k)
      end += said[k] + '\n';
    FAIL("the instructions' suite ended with " << status << ":\n" << end);
  }
  return forms;
}

// A row's types by their order, its modifiers under -1.
using Words = std::set<std::pair<int, std::string>>;

// The words that no case of the row has; an empty row of types: not one case.
std::string untried(const Row& row, const Words& tried) {
  std::string missing;
  int types = 0;
  for (const Alternatives& place : alternatives(row)) {
    const int index = place.is_type ? types++ : -1;
    for (const std::string_view word : place.words) {
      if (tried.count({index, std::string(word)}) == 0) missing += " ." + std::string(word);
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("every row has a case and so has each type and modifier of it") {
  std::map<std::string_view, Words> tried;  // by the row's syntax
  const std::vector<std::string> loaded = loaded_by_the_suite();
  if (ptx::newest_ptx() < 87) SKIP_TEST("a driver for CUDA 12.7 or before does not take all of them");
  for (const std::string& form : loaded) {
    const Match found = find(form);
    if (!found.row) continue;
    Words& words = tried[found.row->syntax];
    words.insert({-1, ""});
    for (u32 k = 0; k < found.form.types; ++k) words.insert({int(k), name(found.form.type[k])});
    for (const std::string_view word : found.form.modifiers) words.insert({-1, std::string(word)});
  }
  for (const Row& row : all_rows()) {
    if (!row.bind || row.ptx > ptx::newest_ptx()) continue;  // of a later target, or a later driver: refused
    const auto found = tried.find(row.syntax);
    CAPTURE(row.syntax);
    CHECK(found != tried.end());
    if (found != tried.end()) CHECK(untried(row, found->second) == "");
  }
}
