// How the conformance suite calls the driver: each case in a process of its own (many need one: what works before
// cuInit, sticky faults, an environment), each call with the result it must return.
//
//   FRESH_CASE("name", "[tags]", {"CUDA_LAUNCH_BLOCKING", "1"}, …) { … }   a test case, with its environment
//   ANSWERS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);    makes the call; it must return exactly this
//   SHOWS("flags 7", "flags " << flags);                     a value, as the driver record writes it
//   NOTES("total " << bytes);                                 a value that differs between devices: only recorded
//   DIFFERS("why", call, gpu_answer, simulator_answer);       an intended difference (README.md lists them)
//
// With CONFORMANCE_RECORD=<file> in the environment, the cases also append the driver's results to that file, in
// the driver record's form.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/simulated.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

extern char** environ;

namespace conformance {

using Variable = std::pair<const char*, const char*>;

inline bool in_child() { return std::getenv("CONFORMANCE_CHILD") != nullptr; }

inline void record(const std::string& line) {
  if (const char* path = std::getenv("CONFORMANCE_RECORD")) std::ofstream(path, std::ios::app) << line << '\n';
}

// The result's name, which is also recorded.
inline std::string answer(const char* call, CUresult result) {
  record(std::string("  ") + call + " -> " + cu::name(result));
  return cu::name(result);
}

inline std::string shown(const std::string& value) {
  record("  " + value);
  return value;
}

// The one question that tells the devices apart, for the written list of intended differences. After cuInit only.
inline bool on_simulator() { return is_simulated(0); }

// What a child process printed, and how it ended.
struct Ending {
  std::string output;
  int status = 0;  // of waitpid
  bool hung = false;
  bool good() const { return !hung && WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

inline Ending spawn(const std::vector<std::string>& arguments, const std::vector<Variable>& variables) {
  std::vector<std::string> settings;
  for (char** entry = environ; *entry; ++entry) {
    bool replaced = false;
    for (const Variable& variable : variables) {
      replaced = replaced || std::string(*entry).rfind(std::string(variable.first) + "=", 0) == 0;
    }
    if (!replaced) settings.push_back(*entry);
  }
  for (const Variable& variable : variables) settings.push_back(std::string(variable.first) + "=" + variable.second);
  std::vector<char*> environment, words;
  for (std::string& setting : settings) environment.push_back(setting.data());
  environment.push_back(nullptr);
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);

  Ending ending;
  int ends[2];
  if (pipe(ends) != 0) return ending.hung = true, ending;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed) return close(ends[0]), ending.hung = true, ending;

  const char* limit = std::getenv("CONFORMANCE_LIMIT");  // seconds; a sanitizer takes ten times as long, or more
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit ? std::atoi(limit) : 120);
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{ends[0], POLLIN, 0};
    if (left.count() <= 0 || poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
      ending.hung = true;
      kill(child, SIGKILL);
      break;
    }
    const ssize_t got = read(ends[0], buffer, sizeof buffer);
    if (got <= 0) break;
    ending.output.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  waitpid(child, &ending.status, 0);
  return ending;
}

// Catch2 reads a test's name on the command line as a pattern.
inline std::string as_pattern(const char* name) {
  std::string pattern;
  for (; *name; ++name) {
    if (std::strchr(",[\\\"", *name)) pattern += '\\';
    pattern += *name;
  }
  return pattern;
}

// Runs `body` here if this process was started for it, else starts one and judges how it ended.
inline void in_fresh_process(const char* name, std::initializer_list<Variable> variables, void (*body)()) {
  if (in_child()) {
    record(std::string("## ") + name);
    return body();
  }
  std::vector<Variable> all(variables);
  all.push_back({"CONFORMANCE_CHILD", "1"});
  const Ending ending = spawn({"conformance", as_pattern(name)}, all);
  CAPTURE(ending.output, ending.hung, ending.status);
  CHECK(ending.good());
}

// What the record's scenarios start with. The owners are the process: each case has one of its own.
struct Device {
  CUdevice dev = 0;
};
struct Context {
  CUdevice dev = 0;
  CUcontext ctx = nullptr;
};
struct Module {
  CUdevice dev = 0;
  CUcontext ctx = nullptr;
  CUmodule mod = nullptr;
  CUfunction operator()(const char* name) const {
    CUfunction function = nullptr;
    CU_CHECK(cuModuleGetFunction(&function, mod, name));
    return function;
  }
};

inline Device device() {
  Device made;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&made.dev, 0));
  return made;
}

inline Context context() {
  Context made;
  made.dev = device().dev;
  CU_CHECK(cuCtxCreate(&made.ctx, nullptr, 0, made.dev));
  return made;
}

// The text of kernels.ptx, which the build puts beside the suite.
inline std::string image() {
  std::ifstream file(cu::image("kernels.ptx"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline Module module() {
  const Context made = context();
  Module loaded{made.dev, made.ctx, nullptr};
  CU_CHECK(cuModuleLoadData(&loaded.mod, image().c_str()));
  return loaded;
}

}  // namespace conformance

#define CONFORMANCE_JOIN_(a, b) a##b
#define CONFORMANCE_JOIN(a, b) CONFORMANCE_JOIN_(a, b)
#define CONFORMANCE_CASE_(body, name, tags, ...)                                       \
  static void body();                                                                  \
  TEST_CASE(name, tags) { conformance::in_fresh_process(name, {__VA_ARGS__}, &body); } \
  static void body()
#define FRESH_CASE(name, ...) CONFORMANCE_CASE_(CONFORMANCE_JOIN(scenario_, __LINE__), name, __VA_ARGS__)

#define ANSWERS(call, code) CHECK(conformance::answer(#call, (call)) == #code)
#define SHOWS(expected, value)                                \
  do {                                                        \
    std::ostringstream shows_text_;                           \
    shows_text_ << value;                                     \
    CHECK(conformance::shown(shows_text_.str()) == expected); \
  } while (false)
#define NOTES(value)                       \
  do {                                     \
    std::ostringstream notes_text_;        \
    notes_text_ << value;                  \
    conformance::shown(notes_text_.str()); \
  } while (false)
#define DIFFERS(why, call, on_gpu, on_the_simulator)                                                 \
  do {                                                                                               \
    INFO(why);                                                                                       \
    const char* const differs_expected_ = conformance::on_simulator() ? #on_the_simulator : #on_gpu; \
    CHECK(conformance::answer(#call, (call)) == differs_expected_);                                  \
  } while (false)
