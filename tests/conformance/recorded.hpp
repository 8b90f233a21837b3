// Cases whose expectations are in recorded.txt: what driver 580 did on an H200, line by line. They ask about areas that
// have many rules, so that most of them are tables.
//
//   RECORDED_CASE("name", "[tags]") { … }      a test case in a process of its own
//   SAY(cuMemAlloc(&p, 0));                    makes the call; its result must be the next line of the case
//   SAY_AS("size 0", cuMemAlloc(&p, 0));       the same under a name, for the rows of a table
//   SHOW(value); SHOW_AS("size", value);       a value, in the same way
//
// README.md says how to record. In recorded.txt, a line with ~ instead of its first blank follows a line where the
// simulator differs on purpose, and is what it does instead.
#pragma once
#include "tests/conformance/scenario.hpp"

#include <array>
#include <thread>

namespace conformance {

struct Recording {
  std::vector<std::string> lines;
  std::size_t next = 0;
};

inline Recording& recording() {
  static Recording one;
  return one;
}

// The lines below "## name".
inline void open_recording(const std::string& name) {
  std::ifstream file("tests/conformance/recorded.txt");
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0)
      within = line.substr(3) == name;
    else if (within)
      recording().lines.push_back(line);
  }
}

// What the next line must be on this device.
inline std::string expected_line() {
  const auto& [lines, next] = recording();
  if (next >= lines.size()) return "nothing: this line is not recorded";
  std::string line = lines[recording().next++];
  if (recording().next < lines.size() && lines[recording().next][0] == '~') {
    if (on_simulator()) line = "  " + lines[recording().next].substr(2);
    ++recording().next;
  }
  // The recorded driver is of CUDA 13.0, and the simulator's of the toolkit that it was built with.
  const std::string newest = "current version is '";
  if (const std::size_t at = line.find(newest + "9.0'"); at != std::string::npos) {
    int driver = 0;
    CU_CHECK(cuDriverGetVersion(&driver));
    const int own = 10 * (driver / 1000 - 4) + driver % 1000 / 10, ptx = own >= 86 && own < 90 ? own - 1 : own;
    line.replace(at + newest.size(), 3, std::to_string(ptx / 10) + "." + std::to_string(ptx % 10));
  }
  return line;
}

inline void check_line(const std::string& line) {
  record(line);
  CHECK(line == expected_line());
}

inline void close_recording() { CHECK(recording().next == recording().lines.size()); }

}  // namespace conformance

#define RECORDED_JOIN_(a, b) a##b
#define RECORDED_JOIN(a, b) RECORDED_JOIN_(a, b)
#define RECORDED_BODY_(body, name, tags) \
  static void body();                    \
  FRESH_CASE(name, tags) {               \
    conformance::open_recording(name);   \
    body();                              \
    conformance::close_recording();      \
  }                                      \
  static void body()
#define RECORDED_CASE(name, tags) RECORDED_BODY_(RECORDED_JOIN(recorded_, __LINE__), name, tags)

#define SAY_AS(text, call) conformance::check_line("  " + std::string(text) + " -> " + cu::name(call))
#define SAY(call) SAY_AS(#call, call)
#define SHOW_AS(text, value)                                                       \
  do {                                                                             \
    std::ostringstream shown_text_;                                                \
    shown_text_ << value;                                                          \
    conformance::check_line("  " + std::string(text) + " = " + shown_text_.str()); \
  } while (false)
#define SHOW(value) SHOW_AS(#value, value)
