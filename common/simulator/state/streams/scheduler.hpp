// Work in its order: a task runs once all tasks that it comes after have ended. Streams, events and graphs are ways to
// say which those are.
//
// Ready tasks run on worker threads, as many as there are tasks that can run at the same time: a task that waits for
// another takes no thread, one that sleeps or computes has its own. Workers start when needed and end when idle. What
// the process leaves undone at exit stays undone.
#pragma once
#include "common/simulator/state/errors/failure.hpp"
#include "common/simulator/types.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cudasim {

// What tasks, events and streams must know of their context, even when it is gone.
struct Health {
  explicit Health(std::atomic<CUresult>& of_device) : fault(of_device) {}

  std::atomic<CUresult>& fault;     // the device's (Device::fault): what every later call returns
  std::atomic<bool> ending{false};  // it is being destroyed: work that waits for memory gives up
  std::atomic<bool> ended{false};   // the context is destroyed: work not begun is dropped
  std::atomic<u32> active{0};       // tasks that run or could run now

  // Only the first fault counts.
  void poison(CUresult code) {
    CUresult healthy = CUDA_SUCCESS;
    if (code != CUDA_SUCCESS) fault.compare_exchange_strong(healthy, code);
  }
};

// Throws a fault, if it is one. It affects every context that the process has on the device.
void require_no_fault(CUresult fault);

enum class OperationKind : u8 {
  kernel,
  copy,
  fill,
  host,
  event_record,
  event_wait,
  memory_operation,
  allocation,
  empty
};

// One piece of work for the device, complete in itself: nothing in it points into memory of the caller's that may go
// away, except for what the manual says must stay.
struct Operation {
  OperationKind kind = OperationKind::empty;
  std::string label;                       // for timelines: the kernel's name, "cuMemcpyHtoDAsync" …
  u64 bytes = 0;                           // for timelines: that a copy or fill moves
  u64 stream = 0;                          // for timelines: Stream::id; 0: of no stream in particular
  u64 arrow = 0;                           // for timelines: from the call that entered it
  std::function<CUresult()> run;  // a result other than CUDA_SUCCESS poisons the context; empty: nothing to do
  bool even_after_fault = false;  // runs also when the context is poisoned (cuStreamAddCallback)
  std::shared_ptr<const void> parameters;  // what a graph node of this kind would keep, for capture
};

class Task {
 public:
  bool done() const { return done_.load(std::memory_order_acquire); }
  // Sleeps until it is done.
  void wait() const { done_.wait(false, std::memory_order_acquire); }

 private:
  friend class Scheduler;
  std::shared_ptr<Health> health_;
  Operation operation_;
  int priority_ = 0;  // lower numbers first, as for streams
  bool here_ = false;  // runs on the thread that made it
  u32 unmet_ = 0;  // tasks it still waits for
  std::atomic<bool> ready_{false};
  std::atomic<bool> done_{false};
  std::vector<std::shared_ptr<Task>> dependents_;
};
using TaskPtr = std::shared_ptr<Task>;

class Scheduler {
 public:
  static Scheduler& instance();  // never destroyed: workers may outlive main()

  enum class Where : u8 { worker, caller };
  // Enters a task that comes after all of `after` (null and finished ones count as done). Where::caller: the calling
  // thread must call run() next, for synchronous calls.
  TaskPtr enter(std::shared_ptr<Health> health, Operation operation, int priority, std::span<const TaskPtr> after,
                Where where = Where::worker);
  // Waits for a Where::caller task's turn and runs it. Returns the operation's result, or the context's fault.
  CUresult run(const TaskPtr& task);

  // Ends a context's work: what runs or can run is run to its end, what waits for others is dropped.
  void drain(Health& health);

 private:
  struct State;
  Scheduler();
  void make_ready(const TaskPtr& task);  // with the lock held
  CUresult execute(Task& task);  // without the lock
  CUresult execute_untimed(Task& task);
  std::vector<TaskPtr> finish(const TaskPtr& task);  // takes the lock; the tasks that a worker can run now
  void hand_out(std::vector<TaskPtr> tasks);
  void start_worker();
  void worker();
  void work_off();  // what is ready, on this thread
  State* state_;
};

}  // namespace cudasim
