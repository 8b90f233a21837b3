#include "common/simulator/state/streams/stream.hpp"

#include "common/simulator/state/streams/capture.hpp"
#include "common/simulator/state/streams/stream_group.hpp"

#include <algorithm>

namespace cudasim {
namespace {

u64 next_stream_id() {
  static std::atomic<u64> id{16};
  return id++;
}

}  // namespace

Stream::Stream(std::weak_ptr<Context> owner, const std::shared_ptr<StreamGroup>& all, u32 stream_flags,
               int stream_priority, bool is_legacy)
    : context(std::move(owner)),
      group(all),
      health(all->health),
      flags(stream_flags),
      priority(stream_priority),
      legacy(is_legacy),
      id(is_legacy ? 1 : next_stream_id()) {}

std::vector<TaskPtr> Stream::predecessors(StreamGroup& owner, std::span<const TaskPtr> after) const {
  std::vector<TaskPtr> tasks(after.begin(), after.end());
  if (last_ && !last_->done()) tasks.push_back(last_);
  if (const TaskPtr& gate = owner.gate(); gate && !gate->done()) tasks.push_back(gate);
  if (legacy) {
    owner.for_each_stream([&](Stream& other) {
      if (other.blocking() && other.last_ && !other.last_->done()) tasks.push_back(other.last_);
    });
  } else if (blocking()) {
    if (const TaskPtr& first = owner.legacy_stream().last_; first && !first->done()) tasks.push_back(first);
  }
  return tasks;
}

std::shared_ptr<Capture> Stream::captures(StreamGroup& owner) {
  if (!legacy) return capture;
  bool implicit = false;
  owner.for_each_stream([&](Stream& other) {
    if (!other.blocking() || !other.capture) return;
    other.capture->invalidated = true;
    implicit = true;
  });
  if (implicit) fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  return nullptr;
}

TaskPtr Stream::enqueue(Operation operation, std::span<const TaskPtr> after) {
  const auto owner = group.lock();
  require(owner != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const std::scoped_lock lock(owner->order);
  {
    const std::scoped_lock captured(Capture::mutex());
    if (const auto into = captures(*owner)) return into->add(*this, operation), nullptr;
  }
  operation.stream = id;
  last_ = Scheduler::instance().enter(health, std::move(operation), priority, predecessors(*owner, after));
  return last_;
}

TaskPtr Stream::enqueue_unless_captured(Operation operation) {
  const auto owner = group.lock();
  require(owner != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const std::scoped_lock lock(owner->order);
  {
    const std::scoped_lock captured(Capture::mutex());
    if (captures(*owner)) return nullptr;
  }
  operation.stream = id;
  return last_ = Scheduler::instance().enter(health, std::move(operation), priority, predecessors(*owner, {}));
}

TaskPtr Stream::enqueue_group(const std::function<TaskPtr(std::vector<TaskPtr> before)>& enter) {
  const auto owner = group.lock();
  require(owner != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const std::scoped_lock lock(owner->order);
  {
    const std::scoped_lock captured(Capture::mutex());
    require(captures(*owner) == nullptr, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  last_ = enter(predecessors(*owner, {}));
  return last_;
}

CUresult Stream::run_here(Operation operation) {
  TaskPtr task;
  {
    const auto owner = group.lock();
    require(owner != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    const std::scoped_lock lock(owner->order);
    {
      const std::scoped_lock captured(Capture::mutex());
      const auto into = captures(*owner);
      if (into) into->invalidated = true;
      require(into == nullptr, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    operation.stream = id;
    task = Scheduler::instance().enter(health, std::move(operation), priority, predecessors(*owner, {}),
                                       Scheduler::Where::caller);
    last_ = task;
  }
  const CUresult result = Scheduler::instance().run(task);
  if (result != CUDA_SUCCESS) require_no_fault(health->fault);
  return result;
}

std::vector<TaskPtr> Stream::pending() const {
  const auto owner = group.lock();
  if (!owner) return {};
  const std::scoped_lock lock(owner->order);
  return predecessors(*owner, {});
}

void Stream::synchronize() const {
  for (const TaskPtr& task : pending()) task->wait();
}

CUstreamAttrValue Stream::attribute(CUstreamAttrID which) const {
  const std::scoped_lock lock(attributes_mutex_);
  const auto found = attributes_.find(which);
  if (found != attributes_.end()) return found->second;
  CUstreamAttrValue value{};
  // As driver 580 does; the manual names no value for "never set".
  if (which == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) value.syncPolicy = static_cast<CUsynchronizationPolicy>(-1);
  if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) value.priority = priority;
  if (which == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap.remote = 1;
  return value;
}

void Stream::set_attribute(CUstreamAttrID which, const CUstreamAttrValue& value) {
  const std::scoped_lock lock(attributes_mutex_);
  CUstreamAttrValue& now = attributes_[which] = value;
  if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    priority = now.priority = std::clamp(value.priority, kGreatestPriority, kLeastPriority);
  }
}

void Stream::copy_attributes(const Stream& other) {
  std::map<int, CUstreamAttrValue> copy;
  {
    const std::scoped_lock lock(other.attributes_mutex_);
    copy = other.attributes_;
  }
  const std::scoped_lock lock(attributes_mutex_);
  attributes_ = std::move(copy);
  priority = other.priority.load();
}

}  // namespace cudasim
