#include "common/simulator/check/checks.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace cudasim {
namespace {

bool choose(Checks& chosen, const std::string& word) {
  const bool all = word == "all";
  const bool known = all || word == "race" || word == "init" || word == "sync" || word == "leak" || word == "memory";
  chosen.race |= all || word == "race";
  chosen.init |= all || word == "init";
  chosen.sync |= all || word == "sync";
  chosen.leak |= all || word == "leak";
  return known || word.empty();
}

Checks wanted() {
  Checks chosen;
  const char* text = std::getenv("CUDASIM_CHECK");
  if (text == nullptr) return chosen;
  std::string unknown;
  for (std::string rest = text; !rest.empty();) {
    const std::size_t end = rest.find_first_of(", ");
    const std::string word = rest.substr(0, end);
    if (!choose(chosen, word)) unknown = word;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  if (!unknown.empty()) {
    std::fprintf(stderr,
                 "cudasim: CUDASIM_CHECK=%s: '%s' is no check; there are race, init, sync, leak (or all of them: all), "
                 "and memory, which is always on\n",
                 text, unknown.c_str());
  }
  return chosen;
}

}  // namespace

Checks& checks() {
  static Checks chosen = wanted();
  return chosen;
}

}  // namespace cudasim
