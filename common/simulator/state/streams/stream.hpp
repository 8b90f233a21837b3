// Streams: work in order. A stream is the last task entered into it; the next one comes after that, after what the
// legacy default stream demands, and after the events that it waits for.
#pragma once
#include "common/simulator/state/streams/scheduler.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace cudasim {

class Context;
class Capture;
class StreamGroup;

// As cuCtxGetStreamPriorityRange reports: a lower number is more urgent.
constexpr int kLeastPriority = 0, kGreatestPriority = -5;

class Stream {
 public:
  Stream(std::weak_ptr<Context> context, const std::shared_ptr<StreamGroup>& group, u32 flags, int priority,
         bool legacy);

  const std::weak_ptr<Context> context;
  const std::weak_ptr<StreamGroup> group;  // the context's streams, of which it is one; it ends with the context
  const std::shared_ptr<Health> health;
  const u32 flags;            // CU_STREAM_NON_BLOCKING or 0
  std::atomic<int> priority;  // 0 … -5: lower is more urgent
  const bool legacy;          // the context's stream 0
  const u64 id;
  CUstream handle = nullptr;  // as the program knows it

  bool blocking() const { return !legacy && (flags & CU_STREAM_NON_BLOCKING) == 0; }

  // Puts work at the end of the stream, after the tasks of `after` too. Null while the stream is captured: the work is
  // a node of a graph then.
  TaskPtr enqueue(Operation operation, std::span<const TaskPtr> after = {});
  // Null, and nothing is done, if the stream is captured.
  TaskPtr enqueue_unless_captured(Operation operation);
  // Enters many tasks as one: `enter` receives the tasks that they follow, and returns the task that ends them all.
  TaskPtr enqueue_group(const std::function<TaskPtr(std::vector<TaskPtr> before)>& enter);
  // Does work in the stream's order, but on the calling thread: returns its result when it is done.
  CUresult run_here(Operation operation);

  // What a task entered now would come after: for the legacy stream, the blocking streams' work too.
  std::vector<TaskPtr> pending() const;
  // True when nothing is left to do.
  bool idle() const { return pending().empty(); }
  // Sleeps until all that has been entered so far is done.
  void synchronize() const;
  // No handle leads to it any more (cuStreamDestroy, the end of its thread): what was entered is still done.
  std::atomic<bool> closed{false};
  std::atomic<bool> orphaned{false};  // its green context has been destroyed; calls that name it fail with that

  // cuStreamSetAttribute: kept and given back; none of them changes a result.
  CUstreamAttrValue attribute(CUstreamAttrID which) const;
  void set_attribute(CUstreamAttrID which, const CUstreamAttrValue& value);
  void copy_attributes(const Stream& other);

  std::shared_ptr<Capture> capture;  // set while it is captured; under Capture::mutex()

 private:
  friend class StreamGroup;
  // All under the group's order lock.
  // With Capture::mutex() held: the capture that work becomes a node of, or null. Work in the legacy stream would make
  // it wait for captured streams, which do nothing: throws CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
  std::shared_ptr<Capture> captures(StreamGroup& owner);
  std::vector<TaskPtr> predecessors(StreamGroup& owner, std::span<const TaskPtr> after) const;
  TaskPtr last_;
  mutable std::mutex attributes_mutex_;
  std::map<int, CUstreamAttrValue> attributes_;
};

}  // namespace cudasim
