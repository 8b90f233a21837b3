#include "common/simulator/state/event.hpp"

namespace cudasim {

Registry<Event, CUevent>& events() {
  static auto& all = *new Registry<Event, CUevent>;
  return all;
}

void Event::record(Stream& stream) {
  record([&](Operation mark) { return stream.enqueue(std::move(mark)); });
}

void Event::record(Context& context) {
  record([&](Operation mark) { return context.enter_after_all(std::move(mark)); });
}

void Event::record(const std::function<TaskPtr(Operation)>& enter) {
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
  recording_ = std::move(recording);
}

}  // namespace cudasim
