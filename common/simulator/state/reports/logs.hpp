// The driver's log (CUDA Driver API manual, "Error Log Management Functions"): each call that fails, and why.
// CUDA_LOG_FILE names a file that gets the lines as well.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/errors/registry.hpp"

#include <deque>
#include <map>
#include <mutex>

namespace cudasim {
constexpr const char* kMissing = "[earlier messages are missing]\n";

struct LogLines {
  std::mutex mutex;
  std::deque<std::string> lines;
  std::size_t bytes = 0;
  u32 first = 0;  // the number of the oldest line that is still there
  u32 next() const { return first + static_cast<u32>(lines.size()); }
};
LogLines& log_lines();

#if CUDA_VERSION >= 12090

struct Listener {
  CUlogsCallback call;
  void* data;
};

struct Listeners {
  std::mutex mutex;
  std::map<u64, Listener> all;
};
Listeners& listeners();

// The lines from `iterator` on, which moves behind them; null: all.
std::deque<std::string> lines_from(CUlogIterator* iterator);
#endif

// Writes a line for a call that failed, and before it one with the reason if there is more to say.
void log_answer(const char* function, CUresult result, const std::string& why) noexcept;

}  // namespace cudasim
