#include "common/simulator/variables.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace cudasim {
namespace {

constexpr std::string_view kPrefix = "CUDASIM_";
// README.md has the table of them; each without the prefix.
constexpr std::string_view kVariables[] = {"DEVICES", "MEMORY",     "THREADS", "BUDGET",   "DELAY",
                                           "BOUNDS",  "CHECK",      "COMPILE", "FILM",     "FILM_ONLY",
                                           "TRACE",   "TRACE_ONLY", "PROFILE", "TIMELINE", "QUIET"};

// How many letters have to be put in, taken out or changed to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// What may have been meant; empty if nothing is near.
std::string_view nearest_variable(std::string word) {
  for (char& c : word) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  constexpr std::size_t kNear = 2;
  std::string_view nearest;
  std::size_t least = kNear + 1;
  for (const std::string_view variable : kVariables) {
    const std::size_t far = distance(word, variable);
    if (far < least) nearest = variable, least = far;
  }
  return nearest;
}

}  // namespace

void name_unknown_variables() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view name = *entry;
    name = name.substr(0, name.find('='));
    if (!name.starts_with(kPrefix)) continue;
    const std::string word(name.substr(kPrefix.size()));
    if (std::find(std::begin(kVariables), std::end(kVariables), word) != std::end(kVariables)) continue;
    std::string hint = "; did you mean CUDASIM_";
    if (const std::string_view nearest = nearest_variable(word); !nearest.empty()) {
      hint += std::string(nearest) + "?";
    } else {
      hint = "; the variables are";
      for (const std::string_view variable : kVariables) {
        hint += (variable == kVariables[0] ? " " : ", ") + std::string(kPrefix) + std::string(variable);
      }
    }
    std::fprintf(stderr, "cudasim: %s%s is not a simulator variable%s\n", kPrefix.data(), word.c_str(), hint.c_str());
  }
}

u32 number_in(const char* variable, u32 least, u32 most, u32 otherwise, const char* expected) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*end == '\0' && number >= static_cast<long>(least) && number <= static_cast<long>(most))
    return static_cast<u32>(number);
  std::fprintf(stderr, "cudasim: %s=%s: expected %s\n", variable, text, expected);
  return otherwise;
}

bool quiet() {
  const char* text = std::getenv("CUDASIM_QUIET");
  return text != nullptr && *text != '\0';
}

}  // namespace cudasim
