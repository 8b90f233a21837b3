// What those who look on see: CUDASIM_PROFILE, CUDASIM_TRACE=ptx, CUDASIM_FILM, CUDASIM_TIMELINE. What they count is
// held against what the H200's own profiler has counted for the same launches (h200.inc).
#include "tests/profile/cases.hpp"
#include "tests/profile/scenes.hpp"

#include "tests/conformance/scenario.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <set>

namespace {

const char* kVariable = "PROFILE_CASES";  // "lessons", how the names of probes begin, or one of the scenes below
const char* kChild = "The child launches the cases that it is given";

using Cases = std::vector<profile::Case>;

Cases chosen(const std::string& which) {
  if (which == "lessons") return profile::lessons();
  Cases all = profile::lessons(), some;
  for (profile::Case& c : profile::all_probes()) all.push_back(std::move(c));
  all.push_back(profile::calls());
  for (profile::Case& c : all) {
    if (c.name.rfind(which, 0) == 0) some.push_back(std::move(c));
  }
  return some;
}

// ---- The child, and what it wrote

struct Said {
  std::string text;
  std::vector<std::string> lines;
};

Said child(const char* cases, const std::vector<conformance::Variable>& more) {
  std::vector<conformance::Variable> variables = more;
  variables.push_back({kVariable, cases});
  const auto ending = conformance::spawn({"check", kChild}, variables);
  INFO(ending.output);
  CHECK(ending.good());
  Said said{ending.output, {}};
  std::istringstream lines(ending.output);
  for (std::string line; std::getline(lines, line);) said.lines.push_back(line);
  return said;
}

std::size_t columns(const std::string& line) {
  std::size_t n = 0;
  for (const char c : line) n += (c & 0xc0) != 0x80;
  return n;
}

void shows(const Said& said, const char* pattern) {
  INFO(pattern << "\n" << said.text);
  CHECK(std::regex_search(said.text, std::regex(pattern)));
}
void shows_not(const Said& said, const char* pattern) {
  INFO(pattern << "\n" << said.text);
  CHECK(!std::regex_search(said.text, std::regex(pattern)));
}

bool simulated() {
  CU_CHECK(cuInit(0));
  return conformance::on_simulator();
}

// A GPU has its own tools for all this.
#define ON_THE_SIMULATOR_ONLY() \
  if (!simulated()) return

// A file of this process's, gone at the end.
struct Scratch {
  std::string path;
  explicit Scratch(const std::string& name) : path("/tmp/profile-" + std::to_string(getpid()) + "-" + name) {}
  ~Scratch() { std::remove(path.c_str()); }
  std::string text() const {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

// Enough of JSON to read what we write: checks that it is JSON at all, and finds numbers by their keys.
class Json {
 public:
  explicit Json(const std::string& text) : text_(text) {}
  bool valid() {
    at_ = 0;
    return value() && (blank(), at_ == text_.size());
  }

 private:
  void blank() {
    while (at_ < text_.size() && std::strchr(" \n\t", text_[at_]) != nullptr) ++at_;
  }
  bool is(char c) {
    blank();
    return at_ < text_.size() && text_[at_] == c && (++at_, true);
  }
  bool word() {
    if (!is('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    return at_ < text_.size() && text_[at_++] == '"';
  }
  bool several(char end, bool named) {
    if (is(end)) return true;
    do {
      if ((named && !(word() && is(':'))) || !value()) return false;
    } while (is(','));
    return is(end);
  }
  bool value() {
    blank();
    if (at_ == text_.size()) return false;
    if (text_[at_] == '{') return ++at_, several('}', true);
    if (text_[at_] == '[') return ++at_, several(']', false);
    if (text_[at_] == '"') return word();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::strchr("+-.0123456789eE", text_[at_]) != nullptr) ++at_;
    return at_ != begin;
  }
  const std::string& text_;
  std::size_t at_ = 0;
};

// The number behind these keys, one within the other.
double number(const std::string& line, std::initializer_list<const char*> keys) {
  std::size_t at = 0;
  for (const char* key : keys) at = at == std::string::npos ? at : line.find(std::string("\"") + key + "\":", at);
  INFO(line);
  REQUIRE(at != std::string::npos);
  return std::strtod(line.c_str() + line.find(':', at) + 1, nullptr);
}

}  // namespace

TEST_CASE("The child launches the cases that it is given", "[.child]") {
  const char* which = std::getenv(kVariable);
  if (which == nullptr) return;
  if (std::string(which) == "out of bounds") return profile::out_of_bounds();
  if (std::string(which) == "in two streams") return profile::in_two_streams();
  if (std::string(which) == "in two processes") return profile::in_two_processes();
  if (std::string(which) == "multiply and copy") return profile::multiply_and_copy();
  profile::Stage stage;
  for (const profile::Case& c : chosen(which)) CU_CHECK(stage.run(c));
}

// ---- The profile

TEST_CASE("The profile is a table that can be read on a wall", "[profile]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("transpose/", {{"CUDASIM_PROFILE", "1"}});
  shows(said, "naive, 16 x 16 blocks of 32 x 8 threads");
  shows(said, "stores +8192 +262144 +32\\.0 +1048576 +8388608 +12 %");
  shows(said, "loads +8192 +262144 +32\\.0 +253952");  // tiled, from shared memory
  shows(said, "transpose\\.cu:11 +262144 sectors, 32\\.0 per request +st\\.global");
  shows(said, "transpose\\.cu:22 +253952 conflicts, 31\\.0 per request");
  shows(said, "barriers +2048");
  // How many registers, the compiler decides.
  shows(said, "[0-9]+ registers per thread, 4224 bytes of shared memory per block: 8 blocks\n");
  for (const std::string& line : said.lines) {
    INFO(line);
    CHECK(columns(line) <= 100);
  }
}

TEST_CASE("Where lanes diverge is counted, and how many are active", "[profile]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("warps/part", {{"CUDASIM_PROFILE", "1"}});
  shows(said, "branches +1 conditional; the lanes diverge at 1 \\(100 %\\)");
  shows(said, "instructions +15 executed by warps, 24\\.0 of 32 lanes active");
  const Said reduced = child("reduction/halves", {{"CUDASIM_PROFILE", "1"}});
  shows(reduced, "atom\\.global 1024");
  shows(reduced, "barriers +73728, counted once per warp");
}

TEST_CASE("Local memory is what a thread keeps there, and not what a call passes", "[profile]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("calls", {{"CUDASIM_PROFILE", "1"}, {"CUDASIM_TRACE", "ptx"}});
  shows(said, "local, loads +2 +");
  shows(said, "local, stores +2 +");
  shows(said, "all +call\\.uni .*chosen");
  shows(said, "all +st\\.param.* stored: 0, 1, 2, 3, 4");
  shows(said, "all +ld\\.local.*\n? *%f\\d+ = 0, 1, 4, 9, 0, 5");
}

TEST_CASE("Launches of one kernel are summed up, and told of as one", "[profile]") {
  ON_THE_SIMULATOR_ONLY();
  const Scratch file("sums.json");
  const Said said = child("shared_load_4/", {{"CUDASIM_PROFILE", file.path.c_str()}});
  shows(said,
        "shared_load_4, 1 blocks of 32 threads, 4096 bytes of dynamic shared memory, 20 launches; numbers per launch:");
  std::string text = file.text();
  CHECK(Json(text).valid());
  CHECK(number(text, {"kernels", "launches"}) == 20);
  CHECK(number(text, {"kernels", "shared", "load", "requests"}) == 20);
}

// ---- Beside an H200

namespace {

constexpr int kCounters = 12;
using Counters = std::array<double, kCounters>;
const char* const kNames[kCounters] = {
    "global loads: requests",    "global loads: sectors",    "global stores: requests",    "global stores: sectors",
    "atomics: requests",         "atomics: sectors",         "shared loads: wavefronts",   "shared loads: conflicts",
    "shared stores: wavefronts", "shared stores: conflicts", "shared atomics: wavefronts", "shared atomics: conflicts"};

struct Counted {
  const char* name;
  Counters by_ncu;
};
const Counted kH200[] = {
#include "tests/profile/h200.inc"
};

struct Probed {
  const char* kernel;
  int counter;
  std::array<double, 20> by_ncu;
};
const Probed kH200Probes[] = {
#include "tests/profile/h200_probes.inc"
};

// Where the simulator counts something else, and why.
struct Difference {
  const char* name;
  int counter;
  double here;
  const char* why;
};
constexpr const char* kFours = "the driver's compiler fetches four numbers of shared memory at a time";
constexpr const char* kTurns = "a GPU's stores to shared memory also wait for what else arrives there";
const Difference kDifferences[] = {
    {"matmul/tiled", 6, 1048576, kFours},
    {"histogram/scan_tiles", 6, 4096, kFours},
    {"histogram/scan_sums", 6, 64, kFours},
    {"histogram/sum_tiles", 6, 4096, kFours},
    {"histogram/scan_with_sums", 6, 4096, kFours},
    {"matmul/tensor", 2, 256, "a wmma.store is four stores of a GPU's"},
    {"matmul/tensor", 8, 8192, kTurns},
    {"matmul/tensor", 9, 0, kTurns},
    {"matmul/registers", 8, 36864, kTurns},
    {"matmul/registers", 9, 28672, kTurns},
    {"histogram/global_bins", 5, 190943, "the rule that the probes show misses 2 % here"},
    {"global_add_quietly/all the same", 5, 1, "here the GPU's compiler does not see that it is one place"},
};

double expected(const std::string& name, int counter, double by_ncu) {
  for (const Difference& each : kDifferences) {
    if (name == each.name && each.counter == counter) return each.here;
  }
  return by_ncu;
}

// What the simulator has counted, launch by launch.
std::vector<Counters> counted(const char* cases) {
  const Scratch file("counters.json");
  child(cases, {{"CUDASIM_PROFILE", file.path.c_str()}});
  const std::string text = file.text();
  std::istringstream lines(text.substr(text.find("\n  \"launches\": [")));
  std::vector<Counters> all;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("    {\"kernel\"", 0) != 0) continue;
    Counters& counters = all.emplace_back();
    int i = 0;
    for (const char* kind : {"load", "store", "atomic"}) {
      counters[i++] = number(line, {"global", kind, "requests"});
      counters[i++] = number(line, {"global", kind, "sectors"});
    }
    for (const char* kind : {"load", "store", "atomic"}) {
      counters[i++] = number(line, {"shared", kind, "wavefronts"});
      counters[i++] = number(line, {"shared", kind, "conflicts"});
    }
  }
  return all;
}

// What another compiler makes of the kernels was never counted.
bool by_the_same_compiler() {
  std::ifstream file(cu::image("transpose.ptx"));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text.find("Cuda compilation tools, release 13.0") != std::string::npos;
}

}  // namespace

TEST_CASE("Sectors and bank conflicts of the lessons' kernels are those that an H200's profiler counts", "[h200]") {
  ON_THE_SIMULATOR_ONLY();
  if (!by_the_same_compiler()) return;
  const Cases cases = profile::lessons();
  const std::vector<Counters> here = counted("lessons");
  REQUIRE(here.size() == cases.size());
  for (const Counted& there : kH200) {
    const auto same = [&](const profile::Case& c) { return c.name == there.name; };
    const auto found = std::find_if(cases.begin(), cases.end(), same);
    REQUIRE(found != cases.end());
    for (int i = 0; i < kCounters; ++i) {
      INFO("If the lesson's kernel has changed since, take its row out of h200.inc, or count again (README.md).");
      INFO(there.name << ", " << kNames[i]);
      CHECK(here[found - cases.begin()][i] == expected(there.name, i, there.by_ncu[i]));
    }
  }
}

TEST_CASE("A warp's access costs what an H200's profiler says, whatever the addresses", "[h200]") {
  ON_THE_SIMULATOR_ONLY();
  std::string kernel;
  std::vector<Counters> here;
  for (const Probed& there : kH200Probes) {
    if (kernel != there.kernel) {
      kernel = there.kernel;
      here = counted((kernel + "/").c_str());
      REQUIRE(here.size() == there.by_ncu.size());
    }
    // The probe has read its address first.
    const double before = there.counter == 0 ? 1 : there.counter == 1 ? 4 : 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::string name = kernel + "/" + profile::patterns()[i].name;
      INFO(name << ", " << kNames[there.counter]);
      CHECK(here[i][there.counter] - before == expected(name, there.counter, there.by_ncu[i]));
    }
  }
}

// ---- The trace

TEST_CASE("The trace shows a warp's instructions with their values", "[trace]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("shared_memory/reverse_static", {{"CUDASIM_TRACE", "ptx"}});
  shows(said, "---- reverse_static<<<\\(1,1,1\\), \\(256,1,1\\)>>>: block \\(0,0,0\\), warp 0\n");
  shows(said, "kernels\\.cu:6 +all +mov\\.u32 %r\\d+, %tid\\.x; +%r\\d+ = 0, 1, 2 … 31\n");
  shows(said, "kernels\\.cu:8 +all +ld\\.shared\\.u32 .*\n +at shared 0x3fc - 4 per lane\n");
  shows(said, "st\\.shared\\.u32 .*; +stored: ");
  shows(said, "kernels\\.cu:7 +all +bar\\.sync 0;\n");
  shows(said, " all +ret;\n");
  shows_not(said, "warp 1");
  shows_not(said, "cuLaunchKernel");
  for (const std::string& line : said.lines) {
    INFO(line);
    CHECK(columns(line) <= 100);
  }
}

TEST_CASE("The trace tells which lanes ran, and where they part", "[trace]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("warps/part", {{"CUDASIM_TRACE", "api,ptx"}});
  shows(said, "cuLaunchKernel");
  shows(said, "setp\\..*%p1 = true in (0-7|8-31)\n");
  shows(said, "@!?%p1 bra .*lanes diverge\n");
  shows(said, " 0-7 +activemask");
  shows(said, " 8-31 +activemask.b32 %r\\d+; +%r\\d+ = 0xffffff00\n");
}

TEST_CASE("What the trace shows can be chosen", "[trace]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said =
      child("vector_add/",
            {{"CUDASIM_TRACE", "ptx"}, {"CUDASIM_TRACE_ONLY", "kernel=stride block=(3,0,0) warp=1-2 lane=5 limit=20"}});
  shows_not(said, "---- add<<<");
  shows(said, "---- add_grid_stride<<<.*: block \\(3,0,0\\), warp 1\n");
  shows(said, "---- add_grid_stride<<<.*: block \\(3,0,0\\), warp 2\n");
  shows(said, "mov\\.u32 %r\\d+, %tid\\.x; +%r\\d+ = 37\n");
  shows(said, "… and so on: CUDASIM_TRACE_ONLY=limit=200 would show more\n");
}

TEST_CASE("The trace ends with the instruction that ended the kernel", "[trace]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("out of bounds", {{"CUDASIM_TRACE", "ptx"}});
  shows(said, "kernels\\.cu:12 +all +st\\.global\\.f32 .*; +ends here: illegal address\n");
}

// ---- The timeline

TEST_CASE("The timeline has rows for threads and streams", "[timeline]") {
  ON_THE_SIMULATOR_ONLY();
  const Scratch file("timeline.json");
  child("in two streams", {{"CUDASIM_TIMELINE", file.path.c_str()}});
  const std::string text = file.text();
  INFO(text);
  CHECK(Json(text).valid());
  const auto line_with = [&](const char* what) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  const std::string copy = line_with("\"name\": \"cuMemcpyHtoDAsync\", \"cat\": \"copy\"");
  const std::string fill = line_with("\"cat\": \"fill\", ");
  const std::string call = line_with("\"name\": \"cuMemcpyHtoDAsync\", \"cat\": \"call\"");
  CHECK(number(copy, {"bytes"}) == 1 << 20);
  CHECK(number(copy, {"ts"}) >= number(call, {"ts"}));
  line_with("\"cat\": \"host function\"");
  line_with("\"ph\": \"i\", \"name\": \"cuEventRecord\"");
  const std::string kernel = line_with("\"name\": \"add\", \"cat\": \"kernel\"");
  CHECK(kernel.find("\"grid\": \"(391,1,1)\"") != std::string::npos);
  CHECK(number(kernel, {"ts"}) > number(copy, {"ts"}) + number(copy, {"dur"}));
  line_with("\"name\": \"default stream\"");
  std::set<std::string> streams;
  const std::regex row("\"name\": \"(stream \\d+)\"");
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) streams.insert((*at)[1]);
  CHECK(streams.size() == 2);
  CHECK(number(fill, {"tid"}) != number(copy, {"tid"}));
  const std::regex duration("\"dur\": -");
  CHECK(!std::regex_search(text, duration));
}

TEST_CASE("The timeline of two processes shows whose turn it is, and which streams have a part of the device",
          "[timeline]") {
  ON_THE_SIMULATOR_ONLY();
  const Scratch file("timeline.json");
  child("in two processes", {{"CUDASIM_TIMELINE", file.path.c_str()}});
  const std::string text = file.text();
  INFO(text);
  CHECK(Json(text).valid());
  struct Turn {
    double begin, end, process;
  };
  std::vector<Turn> turns;
  std::set<double> processes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"cat\": \"turn\"") == std::string::npos) continue;
    turns.push_back({number(line, {"ts"}), number(line, {"ts"}) + number(line, {"dur"}), number(line, {"tid"})});
    processes.insert(turns.back().process);
  }
  CHECK(processes.size() == 2);
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < turns.size(); ++i) {
    CAPTURE(i);
    CHECK(turns[i].begin >= turns[i - 1].end - 1);  // microseconds
  }
  CHECK(text.find("\"name\": \"device 0: whose turn it is\"") != std::string::npos);
#if CUDA_VERSION >= 13000
  CHECK(std::regex_search(text, std::regex("\"name\": \"stream \\d+, green context of 16 multiprocessors\"")));
#endif
}

// ---- The film

TEST_CASE("A film has a line for each kernel's first launch, with its steps and what they cost", "[film]") {
  ON_THE_SIMULATOR_ONLY();
  const Scratch file("film");
  child("out of bounds", {{"CUDASIM_FILM", file.path.c_str()}});
  const std::string text = file.text();
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(Json(text).valid());
  CHECK(text.find("\"findings\":[[") != std::string::npos);  // the fault, at its step
  CHECK(text.find("illegal address") != std::string::npos);
}

TEST_CASE("A film ends at its limit, and says how much was cut", "[film]") {
  ON_THE_SIMULATOR_ONLY();
  const Scratch all("all"), some("some");
  child("warps/part", {{"CUDASIM_FILM", all.path.c_str()}});
  child("warps/part", {{"CUDASIM_FILM", some.path.c_str()}, {"CUDASIM_FILM_ONLY", "limit=5"}});
  CHECK(Json(all.text()).valid());
  CHECK(Json(some.text()).valid());
  CHECK(number(all.text(), {"cut"}) == 0);
  CHECK(number(some.text(), {"cut"}) > 0);
  CHECK(some.text().size() < all.text().size());
}

TEST_CASE("Copies in bulk have sectors, and wgmma has operands", "[profile]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("multiply and copy", {{"CUDASIM_PROFILE", "1"}});
  shows(said, "bulk, loads +1 +33 +33\\.0 +1024 +1056 +97 %");
  shows(said, "wgmma operands +2304 bytes read from shared memory");  // 64 x 16 elements of A, and 8 x 16 of B
  shows_not(said, "atomics");                                         // the mbarrier does not count as one
}

TEST_CASE("A name that ends in .csv gets the counters as Nsight Compute prints them", "[profile]") {
  ON_THE_SIMULATOR_ONLY();
  const Scratch file("counters.csv");
  child("transpose/", {{"CUDASIM_PROFILE", file.path.c_str()}});
  const std::string text = file.text();
  CHECK(text.rfind("\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",", 0) ==
        0);
  const auto has = [&](const std::string& pattern) {
    INFO(pattern);
    CHECK(std::regex_search(text, std::regex(pattern)));
  };
  const std::string naive =
      "\n\"0\",\"[0-9]+\",\"check\",\"127\\.0\\.0\\.1\",\"naive\",\"1\",\"7\",\"\\(32, 8, 1\\)\","
      "\"\\(16, 16, 1\\)\",\"0\",\"9\\.0\",\"Command line profiler metrics\",";
  has(naive + "\"l1tex__t_sectors_pipe_lsu_mem_global_op_st\\.sum\",\"sector\",\"262,144\"\n");
  has("\"tiled\".*\"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld\\.sum\",\"\",\"253,952\"\n");
}

// ---- The variables

TEST_CASE("An invalid value of a variable is reported in a sentence", "[values]") {
  ON_THE_SIMULATOR_ONLY();
  const auto says = [](const char* variable, const char* value, const char* pattern) {
    const Said said = child("warps/part", {{"CUDASIM_TRACE", "0"}, {variable, value}});
    shows(said, pattern);
  };
  says("CUDASIM_PROFILE", "yes", "cudasim: CUDASIM_PROFILE=yes: use 1 for a table .*\\.json");
  says("CUDASIM_PROFILE", "/nowhere/at/all.json",
       "cudasim: CUDASIM_PROFILE=/nowhere/at/all\\.json: this file cannot be");
  says("CUDASIM_TIMELINE", "/nowhere/at/all.json", "cudasim: CUDASIM_TIMELINE=.*: this file cannot be written");
  says("CUDASIM_FILM", "/nowhere/at/all", "cudasim: CUDASIM_FILM=.*: this file cannot be written");
  shows(child("warps/part", {{"CUDASIM_TRACE", "api,calls"}}),
        "CUDASIM_TRACE=api,calls: 'calls' cannot be traced; write api ");
  shows(child("warps/part", {{"CUDASIM_TRACE", "ptx"}, {"CUDASIM_TRACE_ONLY", "warp=x"}}),
        "CUDASIM_TRACE_ONLY=warp=x: 'warp=x' is not understood");
}

TEST_CASE("Without a profile or a trace, nothing is printed", "[values]") {
  ON_THE_SIMULATOR_ONLY();
  const Said said = child("vector_add/", {{"CUDASIM_PROFILE", "0"}, {"CUDASIM_TRACE", ""}, {"CUDASIM_TIMELINE", ""}});
  shows_not(said, "cudasim|simulated GPU|----");
}
