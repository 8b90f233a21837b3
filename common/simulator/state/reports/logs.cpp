#include "common/simulator/state/reports/logs.hpp"

#include "common/simulator/state/errors/errors.hpp"

#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>

namespace cudasim {

namespace {

constexpr std::size_t kMostBytes = 25600;  // as the manual says

}  // namespace

LogLines& log_lines() {
  static LogLines& only = *new LogLines;
  return only;
}

namespace {

// "[20:41:11.863][140047331518016][CUDA][E] Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuMemGetInfo", as driver
// 580 writes it, behind a line that says why.
std::string log_line(const std::string& message) {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const std::time_t seconds = system_clock::to_time_t(now);
  std::tm day{};
  gmtime_r(&seconds, &day);
  char stamp[80];
  std::snprintf(stamp, sizeof stamp, "[%02d:%02d:%02d.%03d][%lu][CUDA][E] ", day.tm_hour, day.tm_min, day.tm_sec,
                static_cast<int>(duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000),
                static_cast<unsigned long>(pthread_self()));
  return stamp + message + "\n";
}

// Names are those of the header, without their versions.
std::string returning(const char* function, CUresult result) {
  return "Returning " + std::to_string(static_cast<int>(result)) + " (" + error_name(result) + ") from " +
         std::string(function, std::strcspn(function, "_"));
}

// CUDA_LOG_FILE=stdout, stderr, or a file: where the lines go as they come.
std::FILE* log_file() {
  static std::FILE* const only = []() -> std::FILE* {
    const char* where = std::getenv("CUDA_LOG_FILE");
    if (where == nullptr || *where == '\0') return nullptr;
    if (std::strcmp(where, "stdout") == 0) return stdout;
    if (std::strcmp(where, "stderr") == 0) return stderr;
    return std::fopen(where, "w");
  }();
  return only;
}

}  // namespace

#if CUDA_VERSION >= 12090

Listeners& listeners() {
  static Listeners& only = *new Listeners;
  return only;
}

namespace {

// A listener's own calls are logged like others, but not reported to it: a failing call in it would call it again,
// without end.
thread_local bool telling = false;

void tell_listeners(const std::string& line) {
  if (telling) return;
  std::map<u64, Listener> all;
  {
    Listeners& known = listeners();
    const std::scoped_lock lock(known.mutex);
    if (known.all.empty()) return;
    all = known.all;
  }
  telling = true;
  for (const auto& [handle, listener] : all) {
    std::string own = line;  // it may write to it
    own.pop_back();
    listener.call(listener.data, CU_LOG_LEVEL_ERROR, own.data(), own.size());
  }
  telling = false;
}

}  // namespace

std::deque<std::string> lines_from(CUlogIterator* iterator) {
  LogLines& all = log_lines();
  const std::scoped_lock lock(all.mutex);
  std::deque<std::string> wanted = all.lines;
  const u32 from = iterator != nullptr ? *iterator : 0;
  if (from < all.first) wanted.push_front(kMissing);
  for (u32 line = all.first; line < from && !wanted.empty(); ++line) wanted.pop_front();
  if (iterator != nullptr) *iterator = all.next();
  return wanted;
}
#endif

#if !(CUDA_VERSION >= 12090)

namespace {

void tell_listeners(const std::string&) {}

}  // namespace
#endif

namespace {

static void write_log(const std::string& line) {
  {
    LogLines& all = log_lines();
    const std::scoped_lock lock(all.mutex);
    all.lines.push_back(line);
    all.bytes += line.size();
    for (; all.bytes > kMostBytes; ++all.first) {
      all.bytes -= all.lines.front().size();
      all.lines.pop_front();
    }
    if (std::FILE* const file = log_file()) {
      std::fputs(line.c_str(), file);
      std::fflush(file);
    }
  }
  tell_listeners(line);
}

}  // namespace

void log_answer(const char* function, CUresult result, const std::string& why) noexcept {
  try {
    if (!why.empty()) write_log(log_line(why));
    write_log(log_line(returning(function, result)));
  } catch (const std::exception&) {
    // No memory for a line of text: the call's own result matters more.
  }
}

}  // namespace cudasim
