#include "common/simulator/state/streams/scheduler.hpp"

#include "common/simulator/state/processes/checkpoint.hpp"
#include "common/simulator/state/streams/timeline.hpp"
#include "common/simulator/variables.hpp"
#include "common/simulator/wanted.hpp"
#include "common/simulator/watch/launches.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>

namespace cudasim {
namespace {

constexpr std::chrono::seconds kIdle{5};  // how long a worker waits for something to do
constexpr u32 kMaxWorkers = 1024;

// CUDASIM_DELAY: a program that forgets to wait for a task sees the old data.
void delay_at_random() {
  static const u32 most = number_in("CUDASIM_DELAY", 0, 1000, 0, "a number of milliseconds up to 1000");
  if (most == 0) return;
  thread_local std::minstd_rand random{std::random_device{}()};
  std::this_thread::sleep_for(std::chrono::microseconds(random() % (most * 1000)));
}

// The result alone, CUDA_ERROR_UNKNOWN, would hide it.
void report_exception(const Operation& operation, const char* what) {
  const char* name = operation.label.empty() ? "a task" : operation.label.c_str();
  std::fprintf(stderr, "cudasim: %s has thrown an exception: %s\n", name, what);
}

}  // namespace

void require_no_fault(CUresult fault) {
  if (fault == CUDA_SUCCESS) return;
  fail(fault,
       "earlier work on the device has failed: until the process ends, every call that needs the device fails "
       "like this, even cuCtxCreate; cuCtxDestroy still succeeds");
}

struct Scheduler::State {
  std::mutex mutex;
  std::condition_variable work;
  std::map<int, std::deque<TaskPtr>> ready;  // by priority
  u32 waiting = 0;                           // tasks in `ready`
  u32 workers = 0, idle = 0;

  TaskPtr take() {
    auto first = ready.begin();
    TaskPtr task = std::move(first->second.front());
    first->second.pop_front();
    if (first->second.empty()) ready.erase(first);
    --waiting;
    return task;
  }
};

Scheduler& Scheduler::instance() {
  static Scheduler& scheduler = *new Scheduler;
  return scheduler;
}

Scheduler::Scheduler() : state_(new State) {}

TaskPtr Scheduler::enter(std::shared_ptr<Health> health, Operation operation, int priority,
                         std::span<const TaskPtr> after, Where where) {
  count_work(1);
  auto task = std::make_shared<Task>();
  task->health_ = std::move(health);
  task->operation_ = std::move(operation);
  task->priority_ = priority;
  task->here_ = where == Where::caller;
  if (timeline_on()) task->operation_.arrow = timeline_enters(task->operation_);
  {
    const std::scoped_lock lock(state_->mutex);
    if (checks().race) {
      std::vector<const void*> earlier(after.size());
      std::transform(after.begin(), after.end(), earlier.begin(), [](const TaskPtr& other) { return other.get(); });
      launches_enter(task.get(), task->operation_.kind == OperationKind::kernel, earlier);
    }
    for (const TaskPtr& other : after) {
      if (!other || other->done()) continue;
      other->dependents_.push_back(task);
      ++task->unmet_;
    }
    if (task->unmet_ != 0) return task;
    make_ready(task);
  }
  if (!task->here_) hand_out({task});
  return task;
}

CUresult Scheduler::run(const TaskPtr& task) {
  task->ready_.wait(false, std::memory_order_acquire);
  const CUresult result = execute(*task);
  hand_out(finish(task));
  return result;
}

void Scheduler::make_ready(const TaskPtr& task) {
  ++task->health_->active;
  task->ready_.store(true, std::memory_order_release);
  if (task->here_) task->ready_.notify_all();
}

CUresult Scheduler::execute(Task& task) {
  if (!task.here_) delay_at_random();
  if (checks().race) launches_run(&task);
  if (!timeline_on()) return execute_untimed(task);
  TimelineTask timed(task.health_.get(), task.operation_);
  const CUresult result = execute_untimed(task);
  timed.ends(result);
  return result;
}

CUresult Scheduler::execute_untimed(Task& task) {
  Health& health = *task.health_;
  if (health.ended) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (const CUresult fault = health.fault; fault != CUDA_SUCCESS && !task.operation_.even_after_fault) return fault;
  if (!task.operation_.run) return CUDA_SUCCESS;
  CUresult result = CUDA_ERROR_UNKNOWN;
  set_in_callback(task.operation_.kind == OperationKind::host);
  try {
    result = task.operation_.run();
  } catch (const Failure& failure) {
    result = failure.code;
  } catch (const std::bad_alloc&) {
    result = CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& e) {  // a host function's, or a bug of the simulator; nothing else catches it
    report_exception(task.operation_, e.what());
  } catch (...) {
    report_exception(task.operation_, "no std::exception");
  }
  set_in_callback(false);
  if (!task.here_ && result != CUDA_SUCCESS) note_fault(result);
  if (!task.here_) health.poison(result);
  return result;
}

std::vector<TaskPtr> Scheduler::finish(const TaskPtr& task) {
  std::vector<TaskPtr> ready;
  std::function<CUresult()> spent = std::move(task->operation_.run);  // destroyed without the lock
  {
    const std::scoped_lock lock(state_->mutex);
    if (checks().race) launches_end(task.get());
    for (TaskPtr& dependent : task->dependents_) {
      if (--dependent->unmet_ != 0) continue;
      make_ready(dependent);
      if (!dependent->here_) ready.push_back(std::move(dependent));
    }
    task->dependents_.clear();
    task->done_.store(true, std::memory_order_release);
    --task->health_->active;
  }
  task->health_->active.notify_all();
  task->done_.notify_all();
  count_work(-1);
  return ready;
}

void Scheduler::hand_out(std::vector<TaskPtr> tasks) {
  for (TaskPtr& task : tasks) {
    bool start = false;
    {
      const std::scoped_lock lock(state_->mutex);
      const int priority = task->priority_;
      state_->ready[priority].push_back(std::move(task));
      ++state_->waiting;
      start = state_->waiting > state_->idle && state_->workers < kMaxWorkers;
      if (start) ++state_->workers;
    }
    if (start) {
      start_worker();
    } else {
      state_->work.notify_one();
    }
  }
}

void Scheduler::start_worker() {
  try {
    std::thread([this] { worker(); }).detach();
  } catch (const std::system_error&) {  // no more threads: those that there are must do, or else this one
    bool alone = false;
    {
      const std::scoped_lock lock(state_->mutex);
      alone = --state_->workers == 0;
    }
    if (alone) work_off();
  }
}

void Scheduler::work_off() {
  for (;;) {
    TaskPtr task;
    {
      const std::scoped_lock lock(state_->mutex);
      if (state_->waiting == 0) return;
      task = state_->take();
    }
    execute(*task);
    hand_out(finish(task));
  }
}

void Scheduler::worker() {
  TaskPtr task;
  for (;;) {
    if (!task) {
      std::unique_lock lock(state_->mutex);
      ++state_->idle;
      const bool more = state_->work.wait_for(lock, kIdle, [&] { return state_->waiting != 0; });
      --state_->idle;
      if (!more) {
        --state_->workers;
        return;
      }
      task = state_->take();
    }
    execute(*task);
    std::vector<TaskPtr> next = finish(task);
    task.reset();
    // The first one goes on here, without a change of thread, unless something more urgent waits.
    if (!next.empty()) {
      task = std::move(next.front());
      next.erase(next.begin());
      hand_out(std::move(next));
    }
  }
}

void Scheduler::drain(Health& health) {
  health.ending = true;
  for (u32 active = health.active; active != 0; active = health.active) health.active.wait(active);
  const std::scoped_lock lock(state_->mutex);
  health.ended = true;
}

}  // namespace cudasim
