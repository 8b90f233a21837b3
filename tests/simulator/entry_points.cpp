// The table of the driver API's names (common/simulator/api/entry_points.inc).
#include "common/simulator/api/entry_points.hpp"

#include "tests/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

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

// A new toolkit brings new names: this test lists them, and entry_points.py adds them.
TEST_CASE("The table has every name of this toolkit's headers", "[names]") {
  const char* const include = std::getenv("CUDA_INCLUDE");
  if (include == nullptr || *include == '\0') SKIP_TEST("CUDA_INCLUDE does not say where the headers are");
  const std::string command =
      "python3 common/simulator/api/entry_points.py --check '" + std::string(include) + "' 2>&1";
  std::FILE* const output = popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  std::string text;
  char part[512];
  while (std::fgets(part, sizeof part, output) != nullptr) text += part;
  CAPTURE(text);
  CHECK(pclose(output) == 0);
}
