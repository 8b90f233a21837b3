#include "common/simulator/state/event.hpp"

namespace cudasim {

Registry<Event, CUevent>& events() {
  static auto& all = *new Registry<Event, CUevent>;
  return all;
}

void Event::record(Stream& stream) {
  auto recording = std::make_shared<Recording>();
  Operation mark;
  mark.kind = OperationKind::event_record;
  mark.label = "cuEventRecord";
  mark.run = [recording] {
    recording->time = std::chrono::steady_clock::now();
    return CUDA_SUCCESS;
  };
  // The task holds the recording until it has run, the recording its task from now on: no cycle is left over.
  recording->task = stream.enqueue(std::move(mark));
  const std::scoped_lock lock(mutex_);
  recording_ = std::move(recording);
}

}  // namespace cudasim
