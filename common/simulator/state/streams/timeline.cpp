#include "common/simulator/state/streams/timeline.hpp"

#include "common/simulator/state/errors/errors.hpp"
#include "common/simulator/state/processes/family.hpp"
#include "common/simulator/state/streams/thread.hpp"
#include "common/simulator/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace cudasim {
namespace {

constexpr u64 kHost = 1, kContexts = 2;  // "processes" of the file: the program, and each context
constexpr u64 kOfMember = 1000;          // so many numbers for each process of a family
constexpr u64 kTurns = 1'000'000'000;    // and one for each device that processes share
constexpr u32 kOpening = 1u << 31, kClosed = 1u << 30;  // Family::timelines, besides numbers of processes
constexpr const char* kEnd = "\n]\n";
constexpr off_t kEndSize = 3;
constexpr u64 kRowsOfStream = 64;        // what graphs do at the same time in one stream needs rows of its own

thread_local std::string noted;

struct Timeline {
  std::mutex mutex;
  std::FILE* file = nullptr;
  pid_t owner = 0;
  bool first = true;
  TimelineClock::time_point start = TimelineClock::now();
  bool shared = false;  // with the family
  u64 base = 0;         // of the numbers of this process
  std::map<const Health*, u64> contexts;
  std::map<u64, std::string> descriptions;  // of streams
  std::set<std::pair<u64, u64>> named, busy;  // rows, by process and row
  u64 arrows = 0;

  double microseconds(TimelineClock::time_point t) const {
    return std::chrono::duration<double, std::micro>(t - start).count();
  }

  // Each event reaches the file at once: a program that is killed leaves a file that can still be opened.
  void write(const std::string& event) {
    if (file == nullptr || owner != getpid()) return;
    std::fprintf(file, "%s%s", first ? "[\n" : ",\n", event.c_str());
    std::fflush(file);  // in one piece: other processes append to the file, too
    first = false;
  }

  void open() {
    owner = getpid();
    Family* const all = family();
    if (all == nullptr) {
      file = std::fopen(timeline_wanted().c_str(), "w");
      name("process_name", kHost, 0, "the program");
      return;
    }
    shared = true;
    const u32 before = begin(*all);
    if (before == 0) {
      if (std::FILE* const emptied = std::fopen(timeline_wanted().c_str(), "w")) std::fclose(emptied);
      all->timeline_start = start.time_since_epoch().count();
    }
    file = std::fopen(timeline_wanted().c_str(), "a");
    struct stat known{};
    if (file != nullptr && before == kClosed && fstat(fileno(file), &known) == 0 && known.st_size > kEndSize)
      first = ftruncate(fileno(file), known.st_size - kEndSize) != 0;
    if (before != 0) first = false;
    start = TimelineClock::time_point(TimelineClock::duration(all->timeline_start));
    base = kOfMember * all->timeline_numbers++;
    name("process_name", base + kHost, 0, "process " + std::to_string(owner));
    if (before == 0 || before == kClosed) all->timelines = 1;
  }

  // What Family::timelines was before. 0 and kClosed: the caller opens the file for all, and then writes 1.
  static u32 begin(Family& all) {
    for (u32 known = all.timelines;;) {
      if (known == kOpening) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        known = all.timelines;
        continue;
      }
      const bool alone = known == 0 || known == kClosed;
      if (all.timelines.compare_exchange_strong(known, alone ? kOpening : known + 1)) return known;
    }
  }

  void close() {
    if (file == nullptr || owner != getpid()) return;
    u32 writers = 1;
    if (shared) {
      writers = family()->timelines;
      while (!family()->timelines.compare_exchange_weak(writers, writers == 1 ? kOpening : writers - 1)) continue;
    }
    if (writers == 1) std::fputs(kEnd, file);
    std::fclose(file);
    file = nullptr;
    if (writers == 1 && shared) family()->timelines = kClosed;
  }

  void name(const char* what, u64 process, u64 row, const std::string& text) {
    write("{\"ph\": \"M\", \"name\": \"" + std::string(what) + "\", \"pid\": " + std::to_string(process) +
          ", \"tid\": " + std::to_string(row) + ", \"args\": {\"name\": " + json_text(text) + "}}");
  }

  void name_row(u64 process, u64 row, const std::string& text) {
    if (named.insert({process, row}).second) name("thread_name", process, row, text);
  }

  u64 context_of(const Health* health) {
    const auto [found, made] = contexts.emplace(health, base + kContexts + contexts.size());
    const std::string whose = family() != nullptr ? " of process " + std::to_string(owner) : "";
    if (made) name("process_name", found->second, 0, "context " + std::to_string(contexts.size()) + whose);
    return found->second;
  }
};

void close_at_exit();

Timeline& timeline() {
  static Timeline& made = *[] {
    auto* fresh = new Timeline;
    fresh->open();
    std::atexit(close_at_exit);
    return fresh;
  }();
  return made;
}

void close_at_exit() {
  Timeline& t = timeline();
  const std::scoped_lock lock(t.mutex);
  t.close();
}

std::string event(const char* phase, const std::string& name, const char* category, u64 process, u64 row, double at) {
  char text[128];
  std::snprintf(text, sizeof text, "\"cat\": \"%s\", \"pid\": %llu, \"tid\": %llu, \"ts\": %.3f", category,
                static_cast<unsigned long long>(process), static_cast<unsigned long long>(row), at);
  return std::string("{\"ph\": \"") + phase + "\", \"name\": " + json_text(name) + ", " + text;
}

std::string lasting(double microseconds) {
  char text[40];
  std::snprintf(text, sizeof text, ", \"dur\": %.3f", microseconds);
  return text;
}

const char* category(OperationKind kind) {
  switch (kind) {
    case OperationKind::kernel: return "kernel";
    case OperationKind::copy: return "copy";
    case OperationKind::fill: return "fill";
    case OperationKind::host: return "host function";
    case OperationKind::event_record: return "event";
    case OperationKind::event_wait: return "wait";
    case OperationKind::memory_operation: return "memory operation";
    case OperationKind::allocation: return "allocation";
    case OperationKind::empty: return "empty";
  }
  return "";
}

bool is_moment(const Operation& operation) {
  return operation.kind == OperationKind::event_record || operation.kind == OperationKind::event_wait;
}
bool is_shown(const Operation& operation) { return !operation.label.empty(); }

}  // namespace

void TimelineCall::begins() {
  timeline();  // its time begins now, if this is the first call
  begin_ = TimelineClock::now();
}

void TimelineCall::ends(const char* function, CUresult result) const {
  const auto end = TimelineClock::now();
  const Thread& thread = this_thread();
  Timeline& t = timeline();
  const std::scoped_lock lock(t.mutex);
  const u64 host = t.base + kHost;
  t.name_row(host, thread.number, "thread " + std::to_string(thread.number));
  const double begin = t.microseconds(begin_);
  t.write(event("X", plain_name(function), "call", host, thread.number, begin) + lasting(t.microseconds(end) - begin) +
          ", \"args\": {\"result\": \"" + error_name(result) + "\"}}");
}

u64 timeline_enters(const Operation& operation) {
  if (!is_shown(operation) || is_moment(operation)) return 0;
  const auto now = TimelineClock::now();
  const Thread& thread = this_thread();
  Timeline& t = timeline();
  const std::scoped_lock lock(t.mutex);
  const u64 arrow = (t.base << 32) + ++t.arrows;
  t.write(event("s", "enters", "order", t.base + kHost, thread.number, t.microseconds(now)) +
          ", \"id\": " + std::to_string(arrow) + "}");
  return arrow;
}

TimelineTask::TimelineTask(const Health* of_context, const Operation& operation) : operation_(operation) {
  noted.clear();
  if (!is_shown(operation)) return;
  Timeline& t = timeline();
  {
    const std::scoped_lock lock(t.mutex);
    context_ = t.context_of(of_context);
    row_ = operation.stream * kRowsOfStream;
    while (row_ % kRowsOfStream != kRowsOfStream - 1 && t.busy.count({context_, row_}) != 0) ++row_;
    t.busy.insert({context_, row_});
    std::string name = operation.stream == 0   ? "no stream"
                       : operation.stream == 1 ? "default stream"
                                               : "stream " + std::to_string(operation.stream);
    if (const auto more = t.descriptions.find(operation.stream); more != t.descriptions.end()) name += more->second;
    const u64 beside = row_ % kRowsOfStream;
    t.name_row(context_, row_, beside == 0 ? name : name + ", at the same time");
  }
  begin_ = TimelineClock::now();
}

void TimelineTask::ends(CUresult result) const {
  const auto end = TimelineClock::now();
  if (!is_shown(operation_)) return;
  Timeline& t = timeline();
  const std::scoped_lock lock(t.mutex);
  t.busy.erase({context_, row_});
  const double begin = t.microseconds(begin_);
  std::string arguments = noted;
  if (operation_.bytes != 0)
    arguments += (arguments.empty() ? "" : ", ") + ("\"bytes\": " + std::to_string(operation_.bytes));
  if (result != CUDA_SUCCESS)
    arguments += (arguments.empty() ? "" : ", ") + (std::string("\"result\": \"") + error_name(result) + "\"");
  const std::string name =
      operation_.kind == OperationKind::kernel ? demangled(operation_.label) : plain_name(operation_.label);
  const char* of = category(operation_.kind);
  if (is_moment(operation_)) {
    t.write(event("i", name, of, context_, row_, begin) + ", \"s\": \"t\"}");
  } else {
    t.write(event("X", name, of, context_, row_, begin) + lasting(t.microseconds(end) - begin) + ", \"args\": {" +
            arguments + "}}");
  }
  if (operation_.arrow == 0) return;
  t.write(event("f", "enters", "order", context_, row_, begin) +
          ", \"bp\": \"e\", \"id\": " + std::to_string(operation_.arrow) + "}");
}

void timeline_turn(u32 device, const TurnTaken& taken) {
  Timeline& t = timeline();
  const std::scoped_lock lock(t.mutex);
  const u64 group = kTurns + device, row = static_cast<u64>(getpid());
  if (t.named.insert({group, row}).second) {
    t.name("process_name", group, 0, "device " + std::to_string(device) + ": whose turn it is");
    t.name("thread_name", group, row, "process " + std::to_string(row));
  }
  const double begin = t.microseconds(taken.begin);
  t.write(event("X", "turn", "turn", group, row, begin) + lasting(t.microseconds(taken.end) - begin) + "}");
}

void timeline_describe(u64 stream, const std::string& text) {
  Timeline& t = timeline();
  const std::scoped_lock lock(t.mutex);
  t.descriptions[stream] = text;
}

void timeline_note(const std::string& arguments) { noted = arguments; }

}  // namespace cudasim
