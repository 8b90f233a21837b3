#include "common/simulator/state/event.hpp"

#include "common/simulator/state/capture.hpp"

namespace cudasim {

Registry<Event, CUevent>& events() {
  static auto& all = *new Registry<Event, CUevent>;
  return all;
}

std::shared_ptr<Capture> Event::captured(std::vector<NodePtr>* nodes) const {
  const std::scoped_lock lock(mutex_);
  if (captured_ && nodes != nullptr) *nodes = nodes_;
  return captured_;
}

void Event::record(Stream& stream) {
  if (const auto capture = capture_of(stream)) {
    const std::scoped_lock lock(Graph::mutex(), mutex_);
    captured_ = capture;
    nodes_ = capture->frontier[&stream];
    return;
  }
  record([&](Operation mark) { return stream.enqueue(std::move(mark)); });
}

void Event::record(Context& context) {
  record([&](Operation mark) { return context.enter_after_all(std::move(mark)); });
}

TaskPtr Event::record(const std::function<TaskPtr(Operation)>& enter) {
  auto recording = std::make_shared<Recording>();
  Operation mark;
  mark.kind = OperationKind::event_record;
  mark.label = "cuEventRecord";
  mark.run = [recording] {
    recording->time = std::chrono::steady_clock::now();
    return CUDA_SUCCESS;
  };
  // The task holds the recording until it has run, the recording its task from now on: no cycle is left over.
  recording->task = enter(std::move(mark));
  const std::scoped_lock lock(mutex_);
  recording_ = recording;
  captured_.reset();
  nodes_.clear();
  return recording_->task;
}

}  // namespace cudasim
