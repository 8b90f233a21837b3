#include "common/simulator/state/streams/event.hpp"

#include "common/simulator/state/streams/capture.hpp"

namespace cudasim {

Registry<Event, CUevent>& events() {
  static auto& all = *new Registry<Event, CUevent>;
  return all;
}

std::shared_ptr<Capture> Event::captured(std::vector<Dependency>* nodes) const {
  const std::scoped_lock lock(mutex_);
  if (captured_ && nodes != nullptr) *nodes = nodes_;
  return captured_;
}

bool Event::recorded() const { return foreign_mark() != 0 || recording() != nullptr || captured() != nullptr; }

u64 Event::foreign_mark() const {
  if (!marks) return 0;
  const u64 latest = marks->latest();
  const auto own = recording();
  return own && own->number == latest ? 0 : latest;
}

bool Event::reached() const {
  if (const u64 mark = foreign_mark()) return marks->reached(mark);
  const auto own = recording();
  return !own || own->task->done();
}

void Event::wait() const {
  if (const u64 mark = foreign_mark()) {
    marks->wait(mark, [this] { return health->ending || health->ended || health->fault != CUDA_SUCCESS; });
  } else if (const auto own = recording()) {
    own->task->wait();
  }
}

TaskPtr Event::awaited() const {
  if (const u64 mark = foreign_mark()) {
    Operation wait;
    wait.kind = OperationKind::event_wait;
    wait.label = "an event of another process";
    wait.run = [all = marks, mark, of = health] {
      all->wait(mark, [&] { return of->ending || of->ended || of->fault != CUDA_SUCCESS; });
      return CUDA_SUCCESS;
    };
    return Scheduler::instance().enter(health, std::move(wait), 0, {});
  }
  const auto own = recording();
  return own ? own->task : nullptr;
}

void Event::record(Stream& stream, u8 port) {
  do {  // until the stream is found captured, or not: another thread may begin or end a capture meanwhile
    const std::scoped_lock lock(Capture::mutex(), mutex_);
    if (!stream.capture) continue;
    captured_ = stream.capture;
    nodes_ = captured_->frontier[&stream];
    if (port == 0) return;
    for (auto& [node, kind] : nodes_) kind = {port, 0, EdgeKind::kProgrammatic};
    return;
  } while (!record([&](Operation mark) { return stream.enqueue_unless_captured(std::move(mark)); }));
}

void Event::record(StreamGroup& all) {
  record([&](Operation mark) { return all.enter_after_all(std::move(mark)); });
}

TaskPtr Event::record(const std::function<TaskPtr(Operation)>& enter) {
  auto recording = std::make_shared<Recording>();
  // Work that is dropped will not be waited for, by other processes either: the mark counts as reached when the last
  // owner drops it.
  std::shared_ptr<void> mark_of_all;
  if (marks) {
    recording->number = marks->begin();
    mark_of_all.reset(marks.get(), [all = marks, number = recording->number](void*) { all->reach(number); });
  }
  Operation mark;
  mark.kind = OperationKind::event_record;
  mark.label = "cuEventRecord";
  mark.run = [recording, mark_of_all = std::move(mark_of_all)]() mutable {
    recording->time = std::chrono::steady_clock::now();
    mark_of_all.reset();
    return CUDA_SUCCESS;
  };
  // The task holds the recording until it has run, the recording its task from now on: no cycle is left over.
  recording->task = enter(std::move(mark));
  if (!recording->task) return nullptr;
  const std::scoped_lock lock(mutex_);
  recording_ = recording;
  captured_.reset();
  nodes_.clear();
  return recording_->task;
}

}  // namespace cudasim
