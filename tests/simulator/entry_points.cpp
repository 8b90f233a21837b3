// The table of the driver's functions (common/simulator/api/functions.inc).
#include "common/simulator/api/entry_points.hpp"

#include "tests/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>

using cudasim::entry_points;
using cudasim::EntryPoint;

TEST_CASE("The names are sorted, their forms too, and each has an address", "[names]") {
  const EntryPoint* before = nullptr;
  for (const EntryPoint& form : entry_points()) {
    CAPTURE(form.symbol);
    CHECK(form.address != nullptr);
    CHECK((form.per_thread_since == 0) == (form.per_thread_address == nullptr));
    if (before != nullptr) {
      const int order = std::strcmp(before->name, form.name);
      CHECK((order < 0 || (order == 0 && before->since < form.since)));
    }
    before = &form;
  }
}

TEST_CASE("Every name of the recorded driver is in the table", "[names]") {
  std::set<std::string> symbols;
  for (const EntryPoint& form : entry_points()) {
    symbols.insert(form.symbol);
    // The recorded list holds per-thread forms too; their names follow from the symbol's.
    if (form.per_thread_address != nullptr) {
      symbols.insert(std::string(form.symbol) + "_ptsz");
      symbols.insert(std::string(form.symbol) + "_ptds");
    }
  }
  for (const char* const name : {
#include "tests/conformance/exported_names.inc"
       }) {
    CAPTURE(name);
    CHECK(symbols.count(name) == 1);
  }
}

namespace {

// What a command says, and whether it ends with 0.
std::pair<std::string, bool> ask(const std::string& command) {
  std::string text;
  std::FILE* const output = popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr) return {"it could not be started", false};
  char part[512];
  while (std::fgets(part, sizeof part, output) != nullptr) text += part;
  return {text, pclose(output) == 0};
}

}  // namespace

// A new toolkit brings new functions: this test lists them, and functions.py adds them.
TEST_CASE("The table has every name of this toolkit's headers", "[names]") {
  const char* const include = std::getenv("CUDA_INCLUDE");
  if (include == nullptr || *include == '\0') SKIP_TEST("CUDA_INCLUDE does not say where the headers are");
  const auto [text, good] = ask("python3 common/simulator/api/functions.py --check \"$CUDA_INCLUDE\"");
  CAPTURE(text);
  CHECK(good);
}

TEST_CASE("The simulator's README lists the functions that are implemented", "[names]") {
  const auto [text, good] = ask("python3 common/simulator/api/functions.py --readme --check");
  CAPTURE(text);
  CHECK(good);
}
