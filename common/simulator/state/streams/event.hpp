// Events: marks in a stream, and when they were reached. And the registries of streams and events.
#pragma once
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/processes/shared_marks.hpp"
#include "common/simulator/state/streams/edge.hpp"
#include "common/simulator/state/streams/stream_group.hpp"

#include <chrono>

namespace cudasim {

// One cuEventRecord: the task that marks the place, and its time once done.
struct Recording {
  TaskPtr task;
  std::chrono::steady_clock::time_point time{};  // valid once the task is done
  u64 number = 0;                                // among the marks of an event that processes share
};

class Event {
 public:
  // `shared`: of an event that several processes know.
  Event(std::shared_ptr<Health> of_context, u64 id_of_context, u32 event_flags,
        std::shared_ptr<SharedMarks> shared = nullptr)
      : health(std::move(of_context)), context_id(id_of_context), flags(event_flags), marks(std::move(shared)) {}

  const std::shared_ptr<Health> health;
  const u64 context_id;
  const u32 flags;
  const std::shared_ptr<SharedMarks> marks;
  CUevent handle = nullptr;
  bool opened = false;  // by a handle of another process's: it gives out none of its own

  bool timed() const { return (flags & CU_EVENT_DISABLE_TIMING) == 0; }
  // The latest cuEventRecord; null if it was never recorded.
  std::shared_ptr<const Recording> recording() const {
    const std::scoped_lock lock(mutex_);
    return recording_;
  }
  // Whether what was last recorded has been reached, in whichever process that was; true if nothing was.
  bool reached() const;
  void wait() const;  // sleeps until then
  // A task that ends then; null if nothing was recorded.
  TaskPtr awaited() const;
  bool recorded() const;  // ever
  // Puts a mark at the end of the stream; of a captured one, at what it has recorded so far. `port` (EdgeKind) says
  // at which point of the last kernel the mark is reached; 0: when the kernel has ended.
  void record(Stream& stream, u8 port = 0);
  // The capture whose nodes it marks, and these; null if it was last recorded in work that runs.
  std::shared_ptr<Capture> captured(std::vector<Dependency>* nodes = nullptr) const;
  // Puts a mark after everything in the streams of a context.
  void record(StreamGroup& all);
  // Puts a mark where `enter` enters its task, and hands that task back.
  TaskPtr record(const std::function<TaskPtr(Operation)>& enter);

 private:
  // The number of the latest mark if another process has made it, or this one through another event; else 0.
  u64 foreign_mark() const;
  mutable std::mutex mutex_;
  std::shared_ptr<const Recording> recording_;
  std::shared_ptr<Capture> captured_;
  std::vector<Dependency> nodes_;
};

Registry<Stream, CUstream>& streams();
Registry<Event, CUevent>& events();

}  // namespace cudasim
