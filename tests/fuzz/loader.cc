// What libFuzzer calls: any bytes as a PTX text, through the parser, the resolver and the linker. Whatever they are, the
// loader answers with a program or with errors; AddressSanitizer, UndefinedBehaviorSanitizer, and the fuzzer's limits of
// time and memory say where it does not. `make fuzz` builds and runs it.
#include "common/simulator/ptx/load.hpp"

#include <cstdio>
#include <cstdlib>

using namespace cudasim;

namespace {

// Not an assertion: it has to hold in every build.
void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ptx::Parsed parsed = ptx::parse(text);
  if (!parsed.errors.empty()) {
    must(!log_text(parsed.errors, text, true).empty(), "errors without a log");
    return 0;
  }
  u64 next = 0x1000;
  const Placement placement{[&](const ptx::Variable&) { return next += 0x1000; },
                            [](u64, std::span<const std::byte>) {}};
  std::vector<ptx::Module> modules;
  modules.push_back(std::move(parsed.module));
  const Loaded loaded = load(modules, placement);
  must((loaded.program == nullptr) == !loaded.errors.empty(), "neither a program nor an error, or both");
  must(loaded.errors.empty() || !log_text(loaded.errors, text, true).empty(), "errors without a log");
  if (loaded.program == nullptr) return 0;
  for (const auto& function : loaded.program->functions) {
    for (const Instruction& i : function->instructions) must(i.run != nullptr, "an instruction without a function");
  }
  return 0;
}
