// Writes forms.inc: some forms of each opcode that tests/instructions has cases of. To be run again when there are many
// new ones; then the seeds are other kernels, and recorded.inc has to be written anew on a GPU.
#include "tests/catch.hpp"
#include "tests/instructions/convert.hpp"
#include "tests/instructions/open.hpp"
#include "tests/instructions/video.hpp"

#include <algorithm>
#include <iostream>

namespace {

using namespace instructions;

constexpr std::size_t kOfEach = 12;

bool has_rounding(const std::vector<std::string>& parts) {
  for (const std::string& p : parts) {
    if (p == "rn" || p == "rz" || p == "rm" || p == "rp") return true;
  }
  return false;
}

// Whether the case has exactly one correct result in any surrounding code.
bool fit_for_fuzzing(const Case& c) {
  if (is_text(c) || c.same != exact) return false;
  const auto parts = words(c.form, '.');
  const std::string& op = parts[0];
  const std::string& last = parts.back();
  const bool real = last.find('f') != std::string::npos && last != "wrap";
  if ((op == "add" || op == "sub" || op == "mul") && real && !has_rounding(parts)) return false;
  if (op == "fns" || op == "testp" || op == "bfe" || op == "bfi" || !guard_holds(c)) return false;
  if (begins(c.form, "cvt.rna.") || (begins(c.form, "cvt.r") && last == "f64")) return false;
  const Operands o = operands(c);
  for (const auto* list : {&o.destinations, &o.sources}) {
    for (const Kind& k : *list) {
      if (k.literal.empty() && k.register_bits != 1 && k.register_bits != 16 && k.register_bits != 32 &&
          k.register_bits != 64)
        return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("forms", "[.][forms]") {
  std::vector<std::pair<std::string, Cases>> families;
  for (const auto& cases :
       {integer_cases(), float_cases(), half_cases(), compare_cases(), convert_cases(), video_cases()}) {
    for (const Case& c : cases) {
      if (!fit_for_fuzzing(c)) continue;
      const auto parts = words(c.form, '.');
      const std::string name = parts[0] + (parts.back()[0] == 'f' || parts.back()[0] == 'b' ? parts.back() : "");
      auto at = std::find_if(families.begin(), families.end(), [&](const auto& f) { return f.first == name; });
      if (at == families.end()) at = families.insert(at, {name, {}});
      at->second.push_back(c);
    }
  }
  std::mt19937_64 random(1);
  for (auto& [name, cases] : families) {
    std::cout << "\"" << name << "\",\n";
    for (std::size_t k = 0; k < kOfEach && !cases.empty(); ++k) {
      const std::size_t which = random() % cases.size();
      std::cout << "\"" << cases[which].form << ":" << cases[which].operands << "\",\n";
      cases.erase(cases.begin() + std::ptrdiff_t(which));
    }
  }
}
