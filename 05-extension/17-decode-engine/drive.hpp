// Launches steps until all requests have their replies. The host is at most kAhead steps ahead of the device. No driver
// call blocks it: it asks whether a step has ended, and sleeps in between.
#pragma once
#include "batch.hpp"
#include "graphs.hpp"

#include <chrono>
#include <thread>

namespace engine {

class Driver {
 public:
  explicit Driver(const StepGraph& graph) : graph_(graph) {}

  // `admit` is called before each step, and may admit requests. Returns the number of steps. Others: see Batch::look().
  template <class Admit, class Use, class Ends>
  int run(Batch& batch, Admit admit, Use use, Ends ends) {
    int steps = 0;
    for (admit(stream_.handle); !batch.is_empty(); admit(stream_.handle)) {
      const cu::Event& event = events_[steps % kAhead];
      while (steps >= kAhead && cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY) {
        batch.look(use, ends);
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      graph_.launch(stream_.handle);
      CU_THROW(cuEventRecord(event.handle, stream_.handle));
      batch.look(use, ends);
      ++steps;
    }
    return steps;
  }

 private:
  static constexpr int kAhead = 4;
  const StepGraph& graph_;
  const cu::Stream stream_;
  const cu::Event events_[kAhead] = {cu::Event(CU_EVENT_DISABLE_TIMING), cu::Event(CU_EVENT_DISABLE_TIMING),
                                     cu::Event(CU_EVENT_DISABLE_TIMING), cu::Event(CU_EVENT_DISABLE_TIMING)};
};

// The reply of one request.
inline std::vector<int> reply(const Engine& engine, const StepGraph& graph, const std::vector<int>& prompt,
                              const Request& request) {
  Batch batch(engine);
  std::vector<int> tokens;
  bool admitted = false;
  Driver(graph).run(
      batch, [&](CUstream stream) { admitted = admitted || batch.admit(prompt, request, stream) >= 0; },
      [&](int, int token) { tokens.push_back(token); }, [](int) {});
  return tokens;
}

}  // namespace engine
