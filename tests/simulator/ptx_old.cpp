// What old PTX may contain and newer PTX may not: registers and local memory outside of functions (before PTX ISA 3.0),
// which are refused, and constant banks (before 2.2). And the logs of texts that need too much. Source: PTX ISA,
// "Register state space", "Local state space", "Banked constant state space (deprecated)".
#include "tests/simulator/exec_kernel.hpp"

using namespace cudasim;
using namespace cudasim::testing;

namespace {

const std::string kOld = ".version 2.3\n.target sm_20\n.address_size 64\n";

std::vector<u32> results(const std::string& text, u32 threads, u32 words) {
  const Module module(text);
  Buffer<u32> out(words);
  const auto fault = run(module.launch("k", {1, 1, 1}, {threads, 1, 1}, out.address()));
  REQUIRE(!fault);
  return out.all();
}

// The first error of a text, and its log.
std::pair<std::string, std::string> refused(const std::string& text) {
  ptx::Parsed parsed = ptx::parse(text);
  std::vector<ptx::Diagnostic> errors = parsed.errors;
  if (errors.empty()) {
    const std::vector<ptx::Module> modules{std::move(parsed.module)};
    errors =
        load(modules, {[](const ptx::Variable&) { return u64{4096}; }, [](u64, std::span<const std::byte>) {}}).errors;
  }
  return {errors.empty() ? "" : errors.front().message, log_text(errors, true)};
}

const std::string kStore =
    ".reg .u64 y, a; .reg .u32 t; ld.param.u64 y, [out]; mov.u32 t, %tid.x; mul.wide.u32 a, t, 4; add.u64 y, y, a;\n";

}  // namespace

TEST_CASE("registers and local memory outside of functions are refused") {
  CHECK(refused(".version 3.0\n.target sm_20\n.address_size 64\n.reg .u32 r;\n").first ==
        "Module-scoped variables in .reg state space are not allowed with ABI");
  CHECK(refused(".version 8.0\n.target sm_90\n.address_size 64\n.local .u32 r;\n").first ==
        "Module-scoped variables in .local state space are not allowed with ABI");
  CHECK(refused(kOld + ".reg .u32 r, %r<4>; .entry k() { mov.u32 r, 1; exit; }").first ==
        "Module-scoped variables in .reg state space are not simulated");
  CHECK(refused(kOld + ".local .u32 m[4]; .entry k() { exit; }").first ==
        "Module-scoped variables in .local state space are not simulated");
}

TEST_CASE("constant bank 0 is the one that all constants are in") {
  const std::string text =
      ".version 2.1\n.target sm_20\n.const[0] .u32 c[2] = {3, 4};\n.extern .const[2] .b32 unused[];\n"
      ".entry k (.param .u64 out) {\n" +
      kStore + ".reg .u32 x; ld.const[0].u32 x, [c+4]; add.u32 x, x, t; st.global.u32 [y], x; exit; }\n";
  CHECK(results(text, 2, 2) == std::vector<u32>{4, 5});
}

TEST_CASE("what is wrong with a constant bank is said") {
  const auto text = [](const char* version, const char* before, const char* body, const char* target = "sm_20") {
    return std::string(".version ") + version + "\n.target " + target + "\n" + before +
           "\n.entry k() { .reg .u32 r; .reg .u64 a; " + body + " exit; }\n";
  };
  CHECK(refused(text("2.1", ".extern .const[2] .b32 b[];", "ld.const[2].b32 r, [b+4];")).first ==
        "Constant bank 2 is not simulated: the driver API has no call that fills it");
  CHECK(refused(text("2.1", ".extern .const[2] .b32 b[];", "mov.u64 a, b;")).first ==
        "Constant bank 2 is not simulated: the driver API has no call that fills it");
  CHECK(refused(text("2.1", ".const[3] .u32 b = 3;", "")).first ==
        "Constant banks 1..11 are reserved for external incomplete arrays");
  CHECK(refused(text("2.1", ".extern .const[11] .u32 b[];", "")).first == "Illegal bank number: 11");
  CHECK(refused(text("1.4", ".extern .const[2] .u32 b[];", "", "sm_10")).first ==
        "Feature 'banked constants' requires PTX ISA .version 1.5 or later");
  CHECK(refused(text("2.2", ".extern .const[2] .u32 b[];", "")).first ==
        "Deprecated feature: 'explicit constant banks' not supported as of PTX version 2.2");
}

TEST_CASE("the log of a text that needs too much names no line, and does not say that it was aborted") {
  const std::string text = kHeader +
                           ".shared .b8 a[150000]; .shared .b8 b[150000];\n"
                           ".entry k() { .reg .b32 r; mov.u32 r, a; mov.u32 r, b; ret; }\n"
                           ".entry l() { .reg .b32 r; mov.u32 r, a; ret; }\n"
                           ".entry m() { .reg .b32 r; mov.u32 r, b; mov.u32 r, a; ret; }\n";
  CHECK(refused(text).second ==
        "ptxas error   : Entry function 'k' uses too much shared data (0x493e0 bytes, 0x38c00 max)\n"
        "ptxas error   : Entry function 'm' uses too much shared data (0x493e0 bytes, 0x38c00 max)");
  CHECK(refused(kHeader + ".const .b8 c[65536]; .const .b32 d;").second ==
        "ptxas error   : File uses too much global constant data (0x10004 bytes, 0x10000 max)");
}

TEST_CASE("a log tells all errors up to one that is fatal") {
  std::string text = kHeader + ".entry k() {\n";
  for (int i = 0; i < 40; ++i) text += "foo;\n";
  const auto lines = [](const std::string& log, const char* what) {
    std::size_t count = 0;
    for (std::size_t at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) ++count;
    return count;
  };
  const std::string all = refused(text + "ret; }").second;
  CHECK(lines(all, "error   : Not a name of any known instruction: 'foo'") == 40);
  const std::string cut = refused(text + "add.u32 ,;\nbar; ret; }\n.global .u32 x = {1};").second;
  CHECK(lines(cut, "fatal   : Parsing error near ',': syntax error") == 1);
}
