// CUDASIM_TIMELINE=file.json: what happened when, for chrome://tracing and ui.perfetto.dev: one row for each thread of
// the program, with its calls of the driver, and one for each stream, with its copies, kernels, host functions and
// events. An arrow leads from a call to what it has entered. The processes of a family write to the same file, and
// their turns with a device are one more row for each of them.
#pragma once
#include "common/simulator/state/processes/turns.hpp"
#include "common/simulator/state/streams/scheduler.hpp"
#include "common/simulator/wanted.hpp"

#include <chrono>

namespace cudasim {

inline bool timeline_on() { return !timeline_wanted().empty(); }

using TimelineClock = std::chrono::steady_clock;

// A call of the driver, from its start on.
class TimelineCall {
 public:
  TimelineCall() {
    if (timeline_on()) begins();
  }
  void ends(const char* function, CUresult result) const;

 private:
  void begins();
  TimelineClock::time_point begin_{};
};

// A call enters work: the number of the arrow that begins here.
u64 timeline_enters(const Operation& operation);

// Work that is done, from its start on.
class TimelineTask {
 public:
  TimelineTask(const Health* of_context, const Operation& operation);
  void ends(CUresult result) const;

 private:
  const Operation& operation_;
  u64 context_ = 0, row_ = 0;
  TimelineClock::time_point begin_;
};

// A turn of this process with a device that it shares.
void timeline_turn(u32 device, const TurnTaken& taken);

// More to say of a stream, behind its number.
void timeline_describe(u64 stream, const std::string& text);

// More to say of the work that this thread is doing: "\"key\": value, …".
void timeline_note(const std::string& arguments);

}  // namespace cudasim
