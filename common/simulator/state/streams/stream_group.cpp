#include "common/simulator/state/streams/stream_group.hpp"

#include <algorithm>

namespace cudasim {

void StreamGroup::add_stream(const std::shared_ptr<Stream>& stream) {
  const std::scoped_lock lock(order);
  forget_closed();
  streams_.push_back(stream);
}

void StreamGroup::forget_closed() {
  std::erase_if(streams_, [](const auto& old) { return old->closed && (!old->last_ || old->last_->done()); });
}

std::vector<TaskPtr> StreamGroup::lasts() {
  forget_closed();
  std::vector<TaskPtr> tasks{legacy_->last_, gate_};
  for (const auto& stream : streams_) tasks.push_back(stream->last_);
  return tasks;
}

void StreamGroup::synchronize() {
  std::vector<TaskPtr> tasks;
  {
    const std::scoped_lock lock(order);
    tasks = lasts();
  }
  for (const TaskPtr& task : tasks) {
    if (task) task->wait();
  }
}

bool StreamGroup::idle() {
  const std::scoped_lock lock(order);
  const std::vector<TaskPtr> tasks = lasts();
  return std::ranges::all_of(tasks, [](const TaskPtr& task) { return !task || task->done(); });
}

TaskPtr StreamGroup::enter_after_all(Operation operation) {
  const std::scoped_lock lock(order);
  return Scheduler::instance().enter(health, std::move(operation), 0, lasts());
}

void StreamGroup::hold_back(const TaskPtr& task) {
  const std::scoped_lock lock(order);
  const TaskPtr both[] = {gate_, task};
  gate_ = Scheduler::instance().enter(health, {}, 0, both);
}

}  // namespace cudasim
