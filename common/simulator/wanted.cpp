#include "common/simulator/wanted.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cudasim {
namespace {

// f(word) for each of the words between any of `separators`.
template <class F>
void each_word(const std::string& text, const char* separators, F f) {
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    f(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
}

std::optional<u64> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

// "3", "0-3", "0-3,8", "all".
bool read(const std::string& text, Ranges& ranges) {
  ranges.clear();
  if (text == "all") return true;
  bool good = true;
  each_word(text, ",", [&](const std::string& word) {
    const std::size_t dash = word.find('-');
    const auto first = number(word.substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(word.substr(dash + 1));
    good = good && first && last && *first <= *last;
    if (good) ranges.push_back({*first, *last});
  });
  return good && !ranges.empty();
}

// "(1,0,2)", the way reports write a block.
std::optional<Dim3> coordinates(const std::string& text) {
  if (text.size() < 3 || text.front() != '(' || text.back() != ')') return std::nullopt;
  u32 at[3] = {0, 0, 0}, count = 0;
  bool good = true;
  each_word(text.substr(1, text.size() - 2), ",", [&](const std::string& word) {
    const auto n = number(word);
    good = good && n && *n <= ~u32{0} && count < 3;
    if (good) at[count++] = static_cast<u32>(*n);
  });
  if (!good || count == 0) return std::nullopt;
  return Dim3{at[0], at[1], at[2]};
}

bool choose(TraceChoice& only, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
  if (key == "kernel") return only.kernel = value, !value.empty();
  if (key == "launch") return read(value, only.launches);
  if (key == "warp") return read(value, only.warps);
  if (key == "lane") return read(value, only.lanes);
  if (key == "block") return (only.block = coordinates(value)) || read(value, only.blocks);
  if (key != "limit") return false;
  const auto limit = number(value);
  only.limit = limit.value_or(0);
  return limit.has_value();
}

void say(const std::string& complaint) {
  if (!complaint.empty()) std::fprintf(stderr, "cudasim: %s\n", complaint.c_str());
}

Checks parse_checks(const char* text, std::string& complaint) {
  Checks wanted;
  if (text == nullptr) return wanted;
  each_word(text, ", ", [&](const std::string& word) {
    const bool all = word == "all";
    wanted.memory |= all || word == "memory";
    wanted.race |= all || word == "race";
    wanted.init |= all || word == "init";
    wanted.sync |= all || word == "sync";
    wanted.leak |= all || word == "leak";
    if (all || word == "race" || word == "init" || word == "sync" || word == "leak" || word == "memory") return;
    complaint = std::string("CUDASIM_CHECK=") + text + ": '" + word +
                "' is not a check; the checks are memory, race, init, sync, leak (all: every one of them)";
  });
  return wanted;
}

bool off(const char* text) { return text == nullptr || *text == 0 || std::strcmp(text, "0") == 0; }

// CUDASIM_TRACE_ONLY, CUDASIM_FILM_ONLY.
void parse_only(const std::string& variable, const char* only, TraceChoice& choice, std::string& complaint) {
  if (off(only)) return;
  each_word(only, " ;", [&](const std::string& word) {
    if (choose(choice, word)) return;
    complaint =
        variable + "=" + only + ": '" + word +
        "' is not understood; write words such as kernel=add launch=1 block=0-3 block=(1,0,0) warp=all lane=0,31 "
        "limit=1000";
  });
}

// The name of a file that can be opened in this mode, or an empty name.
std::string writable(const std::string& variable, const char* text, const char* mode, std::string& complaint) {
  std::string file = off(text) ? "" : text;
  if (file.empty()) return file;
  if (std::FILE* opened = std::fopen(file.c_str(), mode)) {
    std::fclose(opened);
    return file;
  }
  complaint = variable + "=" + file + ": this file cannot be written";
  return "";
}

TraceWanted parse_trace(const char* what, const char* only, std::string& complaint) {
  TraceWanted wanted;
  if (!off(what)) {
    each_word(what, ", ", [&](const std::string& word) {
      wanted.api |= word == "api";
      wanted.ptx |= word == "ptx";
      if (word != "api" && word != "ptx") {
        complaint = std::string("CUDASIM_TRACE=") + what + ": '" + word +
                    "' cannot be traced; write api (driver calls), ptx (a warp's instructions) or api,ptx";
      }
    });
  }
  parse_only("CUDASIM_TRACE_ONLY", only, wanted.only, complaint);
  return wanted;
}

FilmWanted parse_film(const char* file, const char* only, std::string& complaint) {
  FilmWanted wanted;
  constexpr u64 kSteps = 4000;
  wanted.only.limit = kSteps;
  wanted.only.warps.clear();
  wanted.file = writable("CUDASIM_FILM", file, "a", complaint);
  if (complaint.empty()) parse_only("CUDASIM_FILM_ONLY", only, wanted.only, complaint);
  return wanted;
}

ProfileWanted parse_profile(const char* text, std::string& complaint) {
  ProfileWanted wanted;
  if (off(text)) return wanted;
  const std::string value = text;
  wanted.on = true;
  if (value.size() > 5 && (value.ends_with(".json") || value.ends_with(".csv"))) {
    wanted.file = value;
  } else if (value != "1") {
    wanted.on = false;
    complaint = "CUDASIM_PROFILE=" + value +
                ": use 1 for a table on stderr, or a name that ends in .json or .csv to write that file as well";
  }
  return wanted;
}

}  // namespace

bool hardware_bounds() {
  static const bool wanted = [] {
    const char* text = std::getenv("CUDASIM_BOUNDS");
    const std::string value = text == nullptr ? "" : text;
    if (!value.empty() && value != "exact" && value != "hardware")
      say("CUDASIM_BOUNDS=" + value + ": expected exact or hardware; using exact");
    return value == "hardware";
  }();
  return wanted;
}

// These objects are never destroyed, because threads may still call the driver when the program ends.
const Checks& checks() {
  static const Checks& wanted = *new Checks([] {
    std::string complaint;
    const Checks parsed = parse_checks(std::getenv("CUDASIM_CHECK"), complaint);
    say(complaint);
    return parsed;
  }());
  return wanted;
}

const TraceWanted& trace_wanted() {
  static const TraceWanted& wanted = *new TraceWanted([] {
    std::string complaint;
    TraceWanted parsed = parse_trace(std::getenv("CUDASIM_TRACE"), std::getenv("CUDASIM_TRACE_ONLY"), complaint);
    say(complaint);
    return parsed;
  }());
  return wanted;
}

const ProfileWanted& profile_wanted() {
  static const ProfileWanted& wanted = *new ProfileWanted([] {
    std::string complaint;
    ProfileWanted parsed = parse_profile(std::getenv("CUDASIM_PROFILE"), complaint);
    say(complaint);
    return parsed;
  }());
  return wanted;
}

const FilmWanted& film_wanted() {
  static const FilmWanted& wanted = *new FilmWanted([] {
    std::string complaint;
    FilmWanted parsed = parse_film(std::getenv("CUDASIM_FILM"), std::getenv("CUDASIM_FILM_ONLY"), complaint);
    say(complaint);
    return parsed;
  }());
  return wanted;
}

const std::string& timeline_wanted() {
  static const std::string& wanted = *new std::string([] {
    std::string complaint;
    std::string file = writable("CUDASIM_TIMELINE", std::getenv("CUDASIM_TIMELINE"), "a", complaint);
    say(complaint);
    return file;
  }());
  return wanted;
}

const CompileWanted& compile_wanted() {
  static const CompileWanted& wanted = *new CompileWanted([] {
    CompileWanted read;
    const char* text = std::getenv("CUDASIM_COMPILE");
    each_word(text == nullptr ? "" : text, ", ", [&](const std::string& word) {
      if (word == "off")
        read.when = CompileWanted::off;
      else if (word == "background")
        read.when = CompileWanted::background;
      else if (word == "now")
        read.when = CompileWanted::now;
      else if (word.starts_with("keep=") && word.size() > 5)
        read.keep = word.substr(5);
      else
        std::fprintf(stderr, "cudasim: CUDASIM_COMPILE=%s: expected off, background or now, and keep=FOLDER\n", text);
    });
    return read;
  }());
  return wanted;
}

}  // namespace cudasim
