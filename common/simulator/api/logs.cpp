#include "common/simulator/api/logs.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/registry.hpp"

#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>

namespace cudasim {
namespace {

constexpr std::size_t kMostBytes = 25600;  // as the manual says
constexpr const char* kMissing = "[earlier messages are missing]\n";

struct Logs {
  std::mutex mutex;
  std::deque<std::string> lines;
  std::size_t bytes = 0;
  u32 first = 0;  // the number of the oldest line that is still there
  u32 next() const { return first + static_cast<u32>(lines.size()); }
};

Logs& logs() {
  static Logs& only = *new Logs;
  return only;
}

// "[20:41:11.863][140047331518016][CUDA][E] Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuMemGetInfo", as driver
// 580 writes it, behind a line that says why.
std::string line_of(const std::string& message) {
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

#if CUDA_VERSION >= 12090
struct Listener {
  CUlogsCallback call;
  void* data;
};

struct Listeners {
  std::mutex mutex;
  std::map<u64, Listener> all;
};

Listeners& listeners() {
  static Listeners& only = *new Listeners;
  return only;
}

// A listener's own calls are written down like others, but not told: one that fails would be told of that for ever.
thread_local bool telling = false;

void tell(const std::string& line) {
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

// The lines from `iterator` on, which moves behind them; null: all.
std::deque<std::string> lines_from(CUlogIterator* iterator) {
  Logs& all = logs();
  const std::scoped_lock lock(all.mutex);
  std::deque<std::string> wanted = all.lines;
  const u32 from = iterator != nullptr ? *iterator : 0;
  if (from < all.first) wanted.push_front(kMissing);
  for (u32 line = all.first; line < from && !wanted.empty(); ++line) wanted.pop_front();
  if (iterator != nullptr) *iterator = all.next();
  return wanted;
}
#else
void tell(const std::string&) {}
#endif

}  // namespace

static void log(const std::string& line) {
  {
    Logs& all = logs();
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
  tell(line);
}

void log_answer(const char* function, CUresult result, const std::string& why) noexcept {
  try {
    if (!why.empty()) log(line_of(why));
    log(line_of(returning(function, result)));
  } catch (const std::exception&) {
    // No memory for a line of text: the call's own answer is what matters.
  }
}

#if CUDA_VERSION >= 12090
CUresult driver::call_cuLogsRegisterCallback(CUlogsCallback function, void* data, CUlogsCallbackHandle* handle) {
  require(function != nullptr);
  const u64 made = fresh_handle();
  Listeners& known = listeners();
  const std::scoped_lock lock(known.mutex);
  known.all[made] = {function, data};
  if (handle != nullptr) *handle = reinterpret_cast<CUlogsCallbackHandle>(made);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  Listeners& known = listeners();
  const std::scoped_lock lock(known.mutex);
  require(known.all.erase(reinterpret_cast<u64>(handle)) != 0);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsCurrent(CUlogIterator* iterator, unsigned int) {
  require(iterator != nullptr);  // any flags are taken (driver 580)
  Logs& all = logs();
  const std::scoped_lock lock(all.mutex);
  *iterator = all.next();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned int) {
  require(path != nullptr);  // any flags are taken (driver 580)
  std::ofstream file(path);
  require(file.good());
  for (const std::string& line : lines_from(iterator)) file << line;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned int flags) {
  require(buffer != nullptr && size != nullptr && *size != 0 && flags == 0);
  const std::size_t room = *size - 1;
  std::deque<std::string> lines = lines_from(iterator);
  std::size_t bytes = 0;
  for (const std::string& line : lines) bytes += line.size();
  if (bytes > room) {  // the latest ones that fit
    for (bytes += std::strlen(kMissing); bytes > room && !lines.empty(); lines.pop_front())
      bytes -= lines.front().size();
    if (lines.empty()) {
      *size = 0;
      return CUDA_ERROR_INVALID_VALUE;
    }
    lines.push_front(kMissing);
  }
  *size = 0;
  for (const std::string& line : lines) {
    std::memcpy(buffer + *size, line.data(), line.size());
    *size += line.size();
  }
  buffer[*size] = '\0';
  return CUDA_SUCCESS;
}
#endif

}  // namespace cudasim
