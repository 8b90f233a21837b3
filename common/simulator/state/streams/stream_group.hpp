// The streams of one context, and what is entered in none of them or after all of them.
#pragma once
#include "common/simulator/state/streams/stream.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace cudasim {

class StreamGroup {
 public:
  explicit StreamGroup(std::shared_ptr<Health> of_context) : health(std::move(of_context)) {}

  const std::shared_ptr<Health> health;
  std::mutex order;  // held while a task is entered into one of the streams

  Stream& legacy_stream() { return *legacy_; }
  std::shared_ptr<Stream> legacy_stream_pointer() { return legacy_; }
  // The group knows its streams until they are closed and have nothing left to do.
  void add_stream(const std::shared_ptr<Stream>& stream);
  // With `order` held: every stream but the legacy one.
  template <class F>
  void for_each_stream(F&& f) {
    forget_closed();
    for (const auto& stream : streams_) f(*stream);
  }
  // A task after all that has been entered so far, in no stream.
  TaskPtr enter_after_all(Operation operation);
  // Whatever is entered into any stream from now on comes after `task`.
  void hold_back(const TaskPtr& task);
  // Sleeps until all work entered so far is done.
  void synchronize();
  // True when nothing that was entered is left to do.
  bool idle();
  // With `order` held; null if nothing is held back.
  const TaskPtr& gate() const { return gate_; }

 protected:
  std::shared_ptr<Stream> legacy_;  // set once

 private:
  void forget_closed();  // with `order` held, as the next one
  std::vector<TaskPtr> lasts();
  std::vector<std::shared_ptr<Stream>> streams_;  // under `order`
  TaskPtr gate_;                                  // under `order`: see hold_back
};

}  // namespace cudasim
