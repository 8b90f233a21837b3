// What CUDASIM_CHECK finds, and what it lets pass. Each group of cases runs in a process of its own, since the variable
// is read once; the child says which case comes next, and the parent reads what the checks have said behind that.
#include "tests/checks/cases.hpp"

#include "tests/conformance/scenario.hpp"

#include <map>

namespace {

const char* kVariable = "CHECKS_CASES";  // names, separated by blanks

// Runs the cases in a child; what it wrote between a case's name and the next one's.
std::map<std::string, std::string> said(const std::vector<std::string>& names, const char* wanted,
                                        const char* image = "") {
  std::string list;
  for (const std::string& name : names) list += name + " ";
  const auto ending =
      conformance::spawn({cu::image("check"), "The child runs the cases that it is given"},
                         {{kVariable, list.c_str()}, {"CUDASIM_CHECK", wanted}, {"CHECKS_IMAGE", image}});
  INFO(ending.output);
  REQUIRE(ending.good());
  std::map<std::string, std::string> texts;
  std::istringstream lines(ending.output);
  std::string line, name = "before";
  while (std::getline(lines, line)) {
    if (line.rfind("CASE ", 0) == 0)
      name = line.substr(5);
    else
      texts[name] += line + "\n";
  }
  return texts;
}
std::string said_of(const std::string& name, const char* wanted) { return said({name}, wanted)[name]; }

bool library_is_there() { return access(cu::image("library.ptx").c_str(), R_OK) == 0; }

std::vector<std::string> named(const std::string& beginning) {
  static const bool library = library_is_there();
  std::vector<std::string> names;
  for (const checks::Case& c : checks::all()) {
    if (std::string(c.name).rfind(beginning, 0) != 0) continue;
    if (c.host == nullptr && !library && checks::image_of(c.name).empty()) continue;
    names.push_back(c.name);
  }
  return names;
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool simulated() {
  CU_CHECK(cuInit(0));
  return conformance::on_simulator();
}

// On a GPU there is nothing to find: its own tool is not part of the driver.
#define ON_THE_SIMULATOR_ONLY() \
  if (!simulated()) return

// Every case of a kind is found by the check of that name, and each finding has that title.
void each_is_found(const std::string& kind, const char* title) {
  const auto names = named(kind + "_");
  REQUIRE(names.size() > 5);
  auto texts = said(names, kind.c_str());
  for (const std::string& name : names) {
    INFO(name << "\n" << texts[name]);
    CHECK(count(texts[name], "=========") >= 1);
    CHECK(count(texts[name], "=========") <= 3);
    if (title != nullptr) CHECK(count(texts[name], title) == count(texts[name], "========="));
  }
}

}  // namespace

TEST_CASE("The child runs the cases that it is given", "[.child]") {
  const char* list = std::getenv(kVariable);
  if (list == nullptr) return;
  std::istringstream names(list);
  for (std::string name; names >> name;) {
    std::fprintf(stderr, "CASE %s\n", name.c_str());
    const checks::Case* c = checks::find(name);
    REQUIRE(c != nullptr);
    const CUresult result = checks::run(*c);
    CHECK((result == CUDA_SUCCESS || result == CUDA_ERROR_LAUNCH_FAILED));
  }
  std::fprintf(stderr, "CASE end\n");
}

TEST_CASE("The kernels with the toolkit's headers are there", "[library]") {
  if (!library_is_there()) SKIP_TEST("library.cu needs a whole nvcc");
}

TEST_CASE("Every race is found", "[race]") {
  ON_THE_SIMULATOR_ONLY();
  each_is_found("race", "simulated GPU: data race\n");
}

TEST_CASE("Every read of memory never written is found", "[init]") {
  ON_THE_SIMULATOR_ONLY();
  each_is_found("init", "simulated GPU: use of memory never written\n");
}

TEST_CASE("Every barrier and mask that threads miss is found", "[sync]") {
  ON_THE_SIMULATOR_ONLY();
  auto names = named("sync_");
  std::map<std::string, std::string> texts;
  for (const std::string& name : names) {
    // What can never be complete ends the kernel, and with it the device: a process of its own.
    const std::string text = said_of(name, "sync");
    INFO(name << "\n" << text);
    CHECK(count(text, "=========") >= 1);
    CHECK(count(text, "=========") <= 2);
  }
}

TEST_CASE("Every index outside a shared variable is found", "[memory]") {
  ON_THE_SIMULATOR_ONLY();
  const auto names = named("memory_");
  REQUIRE(names.size() >= 3);
  auto texts = said(names, "memory");
  for (const std::string& name : names) {
    INFO(name << "\n" << texts[name]);
    CHECK(count(texts[name], "simulated GPU: index outside a shared variable\n") == 1);
    CHECK(count(texts[name], "=========") == 1);
  }
  const std::string& text = texts["memory_index_beyond_shared_array"];
  INFO(text);
  CHECK(contains(text, "(63,0,0) of block (0,0,0)"));
  CHECK(contains(text, "write of 4 bytes"));
  CHECK(contains(text, "just past the end of 'values', which has 256 bytes"));
}

TEST_CASE("A barrier at two places is reported with both", "[sync]") {
  ON_THE_SIMULATOR_ONLY();
  const std::string text = said_of("sync_barrier_at_two_places", "sync");
  INFO(text);
  CHECK(contains(text, "simulated GPU: barrier at two places\n"));
  CHECK(count(text, "kernels.cu:") == 2);
}

TEST_CASE("Everything that is not released is found", "[leak]") {
  ON_THE_SIMULATOR_ONLY();
  auto names = named("leak_");
  names.pop_back();  // the context, which is reported at the end
  auto texts = said(names, "leak");
  for (const std::string& name : names) {
    INFO(name << "\n" << texts[name]);
    CHECK(count(texts[name], "simulated GPU: not released\n") == 1);
  }
  const std::string text = said({"leak_context"}, "leak")["end"];
  INFO(text);
  CHECK(contains(text, "the process ended"));
  CHECK(contains(text, "cuCtxCreate"));
  CHECK(contains(text, "cuMemAlloc, 4096 bytes"));
}

TEST_CASE("After a fault nothing can be released, so nothing is reported as missing", "[leak]") {
  ON_THE_SIMULATOR_ONLY();
  const std::string text = said_of("sync_counts_differ", "leak");
  INFO(text);
  CHECK(contains(text, "a barrier that can never complete"));
  CHECK(!contains(text, "not released"));
}

TEST_CASE("No check cries wolf", "[fine]") {
  ON_THE_SIMULATOR_ONLY();
  const auto names = named("fine_");
  auto texts = said(names, "all");
  for (const std::string& name : names) {
    INFO(name);
    CHECK(texts[name] == "");
  }
}

TEST_CASE("Nor does one in code that is not optimized", "[fine]") {
  ON_THE_SIMULATOR_ONLY();
  if (!library_is_there()) SKIP_TEST("debug.cu needs a whole nvcc");
  const std::string text = checks::text_of(cu::image("debug.ptx"));
  std::vector<std::string> names;
  for (const std::string& name : named("fine_")) {
    if (contains(text, ".entry " + name + "(")) names.push_back(name);
  }
  CHECK(names.size() > 25);
  auto texts = said(names, "all", "debug.ptx");
  for (const std::string& name : names) {
    INFO(name);
    CHECK(texts[name] == "");
  }
}

TEST_CASE("Unless they are asked for, the checks say nothing", "[fine]") {
  ON_THE_SIMULATOR_ONLY();
  auto names = named("race_");
  for (const std::string& name : named("init_")) names.push_back(name);
  auto texts = said(names, "");
  for (const std::string& name : names) CHECK(texts[name] == "");
}

TEST_CASE("A race's report names both accesses, and the memory", "[race]") {
  ON_THE_SIMULATOR_ONLY();
  const std::string shared = said_of("race_shared_neighbour", "race");
  INFO(shared);
  CHECK(contains(shared, "kernel   race_shared_neighbour\n"));
  CHECK(contains(shared, "reads 4 bytes at races.cu:"));
  CHECK(contains(shared, "has written there, at races.cu:"));
  CHECK(contains(shared, "of block (0,0,0)"));
  CHECK(contains(shared, "of 'values', byte "));
  const std::string global = said_of("race_between_blocks_same_word", "race");
  INFO(global);
  CHECK(contains(global, "of block (1,0,0) writes 4 bytes at races.cu:"));
  CHECK(contains(global, "of block (0,0,0) has written there, at races.cu:"));
  CHECK(contains(global, "(global)"));
  CHECK(contains(global, "the allocation of 16384 bytes at 0x"));
  CHECK(contains(global, "blocks run in any order"));
}

TEST_CASE("A finding is reported once", "[race]") {
  ON_THE_SIMULATOR_ONLY();
  auto ending = said({"race_histogram", "fine_reduction", "race_histogram"}, "race");
  CHECK(count(ending["race_histogram"], "=========") == 1);
}

TEST_CASE("A read of memory never written is reported with its byte", "[init]") {
  ON_THE_SIMULATOR_ONLY();
  const std::string text = said_of("init_bytes", "init");
  INFO(text);
  CHECK(contains(text, "(77,0,0) of block (0,0,0)"));
  CHECK(contains(text, "read of 1 byte at 0x"));
  CHECK(contains(text, "77 bytes into the allocation of 16384 bytes"));
  const std::string copy = said_of("init_copy_to_host", "init");
  INFO(copy);
  CHECK(contains(copy, "cuMemcpyDtoH"));
}

TEST_CASE("A use of memory never written is reported with the load", "[init]") {
  ON_THE_SIMULATOR_ONLY();
  auto texts = said({"init_condition", "init_address", "init_shuffled"}, "init");
  const std::string& condition = texts["init_condition"];
  INFO(condition);
  CHECK(contains(condition, "the condition of a branch"));
  CHECK(count(condition, "at kernels.cu:") + count(condition, "kernels.cu:") >= 2);
  CHECK(contains(condition, "read of 4 bytes at 0x"));
  CHECK(contains(texts["init_address"], "use      an address"));
  const std::string& shuffled = texts["init_shuffled"];
  INFO(shuffled);
  CHECK(contains(shuffled, "(8,0,0) of block (0,0,0)"));
  CHECK(contains(shuffled, "of 'values', byte 36 of the block's shared memory") +
            contains(shuffled, "byte 36 of 'values'") >=
        1);
}

TEST_CASE("A word that is not a check is reported", "[words]") {
  ON_THE_SIMULATOR_ONLY();
  const std::string text = said_of("fine_copies", "race,sink");
  INFO(text);
  CHECK(contains(text, "'sink' is not a check"));
  CHECK(contains(text, "memory, race, init, sync, leak"));
  CHECK(said_of("fine_copies", "memory,race") == "");
}

TEST_CASE("The table of verdicts names every case, and our verdict is the one that is tested", "[table]") {
  const std::string readme =
      checks::text_of(std::string(__FILE__).substr(0, std::string(__FILE__).rfind('/')) + "/README.md");
  for (const checks::Case& c : checks::all()) {
    const std::string verdict = c.finding().empty() ? "–" : c.finding();
    INFO(c.name);
    CHECK(contains(readme, "| `" + std::string(c.name) + "` | " + verdict + " |"));
  }
}
