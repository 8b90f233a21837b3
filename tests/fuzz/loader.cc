// What libFuzzer calls: any bytes as a PTX text, through the parser, the resolver and the linker. Whatever they are,
// the loader answers with a program or with errors; AddressSanitizer, UndefinedBehaviorSanitizer, and the fuzzer's
// limits of time and memory say where it does not. `make fuzz` builds and runs it.
#include "common/simulator/ptx/load.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace cudasim;

namespace {

// Not an assertion: it has to hold in every build.
void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Pieces of a text, one after the other: words (a name with its dots, a number) and everything between them; or lines.
std::vector<std::string> pieces(std::string_view text, bool lines) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$';
  };
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (lines)
      end = std::min(text.find('\n', at), text.size() - 1) + 1;
    else if (in_word(text[at]))
      while (end < text.size() && in_word(text[end])) ++end;
    all.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return all;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(u8* data, std::size_t size, std::size_t most);

// Half of the changes are libFuzzer's own, to bytes; the others know words and lines, so that what comes of them gets
// further than the parser.
extern "C" std::size_t LLVMFuzzerCustomMutator(u8* data, std::size_t size, std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&random](std::size_t n) { return std::size_t{random()} % n; };
  if (size == 0 || below(2) == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> all = pieces(text, below(3) == 0);
  for (std::size_t times = 1 + below(4); times > 0; --times) {
    const std::size_t one = below(all.size()), other = below(all.size());
    switch (below(5)) {
      case 0: all[one] = all[other]; break;
      case 1: std::swap(all[one], all[other]); break;
      case 2: all.insert(all.begin() + std::ptrdiff_t(one), all[other]); break;
      case 3: all[one].clear(); break;
      default: {
        constexpr std::size_t kRoom = 64;
        std::string piece = all[one].substr(0, kRoom);
        const std::size_t length = piece.size();
        piece.resize(kRoom);
        piece.resize(LLVMFuzzerMutate(reinterpret_cast<u8*>(piece.data()), length, kRoom));
        all[one] = piece;
      }
    }
  }
  std::string changed;
  for (const std::string& piece : all) changed += piece;
  const std::size_t length = std::min(changed.size(), most);
  std::copy_n(changed.begin(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ptx::Parsed parsed = ptx::parse(text);
  if (!parsed.errors.empty()) {
    must(!log_text(parsed.errors, true).empty(), "errors without a log");
    return 0;
  }
  u64 next = 0x1000;
  const Placement placement{[&](const ptx::Variable&) { return next += 0x1000; },
                            [](u64, std::span<const std::byte>) {}};
  std::vector<ptx::Module> modules;
  modules.push_back(std::move(parsed.module));
  const Loaded loaded = load(modules, placement);
  must((loaded.program == nullptr) == !loaded.errors.empty(), "neither a program nor an error, or both");
  must(loaded.errors.empty() || !log_text(loaded.errors, true).empty(), "errors without a log");
  if (loaded.program == nullptr) return 0;
  for (const auto& function : loaded.program->functions) {
    for (const Instruction& i : function->instructions) must(i.run != nullptr, "an instruction without a function");
  }
  return 0;
}
