// The order of tasks, contexts' ends, and handles: the driver's state from inside.
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/streams/event.hpp"
#include "common/simulator/state/streams/thread.hpp"
#include "tests/catch.hpp"

#include <chrono>
#include <condition_variable>
#include <set>
#include <thread>

using namespace cudasim;

namespace {

Operation operation(std::function<void()> work) {
  Operation made;
  made.run = [work = std::move(work)] {
    work();
    return CUDA_SUCCESS;
  };
  return made;
}

Operation failing(CUresult code) {
  Operation made;
  made.run = [code] { return code; };
  return made;
}

// Holds a task back until it is opened.
class Gate {
 public:
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

std::shared_ptr<Context> make_context() {
  REQUIRE(initialize() == CUDA_SUCCESS);
  device_at(0).fault = CUDA_SUCCESS;  // the process keeps a fault of an earlier test, as a driver does
  return create_context(device_at(0), 0, false, 3020);
}

std::shared_ptr<Stream> make_stream(const std::shared_ptr<Context>& context, u32 flags = 0) {
  auto stream = make_stream(context, flags, 0);
  stream->handle = streams().add(stream);
  context->add_stream(stream);
  return stream;
}

}  // namespace

TEST_CASE("A stream runs its tasks in order, on whatever thread", "[state]") {
  const auto context = make_context();
  const auto stream = make_stream(context);
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) stream->enqueue(operation([&seen, i] { seen.push_back(i); }));
  stream->synchronize();
  REQUIRE(seen.size() == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i);
  destroy_context(context);
}

TEST_CASE("A thousand streams that wait for one event need no thousand threads", "[state]") {
  const auto context = make_context();
  const auto first = make_stream(context, CU_STREAM_NON_BLOCKING);
  Gate gate;
  first->enqueue(operation([&] { gate.pass(); }));
  Event event(context->health, context->id, 0);
  event.record(*first);
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) {
    const auto stream = make_stream(context, CU_STREAM_NON_BLOCKING);
    stream->enqueue({}, {&event.recording()->task, 1});
    stream->enqueue(operation([&] { ++ran; }));
  }
  CHECK(ran == 0);
  gate.open();
  context->synchronize();
  CHECK(ran == 1000);
  destroy_context(context);
}

TEST_CASE("Work done on the calling thread keeps the stream's order", "[state]") {
  const auto context = make_context();
  const auto stream = make_stream(context);
  std::vector<int> seen;
  stream->enqueue(operation([&] { seen.push_back(1); }));
  const auto caller = std::this_thread::get_id();
  CHECK(stream->run_here(operation([&] { seen.push_back(std::this_thread::get_id() == caller ? 2 : -2); })) ==
        CUDA_SUCCESS);
  stream->enqueue(operation([&] { seen.push_back(3); }));
  stream->synchronize();
  CHECK(seen == std::vector<int>{1, 2, 3});
  destroy_context(context);
}

TEST_CASE("The first fault of a context is kept, and what comes after it does not run", "[state]") {
  const auto context = make_context();
  const auto stream = make_stream(context);
  bool ran = false, told = false;
  stream->enqueue(failing(CUDA_ERROR_ASSERT));
  stream->enqueue(failing(CUDA_ERROR_ILLEGAL_ADDRESS));
  stream->enqueue(operation([&] { ran = true; }));
  Operation callback = operation([&] { told = true; });
  callback.even_after_fault = true;
  stream->enqueue(std::move(callback));
  stream->synchronize();
  CHECK(context->health->fault == CUDA_ERROR_ASSERT);
  CHECK_FALSE(ran);
  CHECK(told);
  destroy_context(context);
}

TEST_CASE("An exception in a task is a fault, not the process's end", "[state]") {
  const auto context = make_context();
  const auto stream = make_stream(context);
  stream->enqueue(operation([] { throw 7; }));
  stream->synchronize();
  CHECK(context->health->fault == CUDA_ERROR_UNKNOWN);
  destroy_context(context);
}

TEST_CASE("A context's end finishes what can run, and drops what waits for another context", "[state]") {
  const auto context = make_context(), other = make_context();
  const auto stream = make_stream(context), foreign = make_stream(other);
  Gate gate;
  foreign->enqueue(operation([&] { gate.pass(); }));
  Event event(other->health, other->id, 0);
  event.record(*foreign);
  bool finished = false, dropped = true;
  const auto free_stream = make_stream(context, CU_STREAM_NON_BLOCKING);
  free_stream->enqueue(operation([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    finished = true;
  }));
  stream->enqueue({}, {&event.recording()->task, 1});
  const TaskPtr late = stream->enqueue(operation([&] { dropped = false; }));
  destroy_context(context);
  CHECK(finished);
  gate.open();
  late->wait();
  CHECK(dropped);
  destroy_context(other);
}

TEST_CASE("A context forgets streams that are closed and done", "[state]") {
  const auto context = make_context();
  for (int i = 0; i < 100; ++i) make_stream(context)->closed = true;
  const auto busy = make_stream(context);
  Gate gate;
  busy->enqueue(operation([&] { gate.pass(); }));
  busy->closed = true;
  const auto known = [&] {
    const std::scoped_lock lock(context->order);
    int count = 0;
    context->for_each_stream([&](Stream&) { ++count; });
    return count;
  };
  CHECK(known() == 1);
  gate.open();
  context->synchronize();
  CHECK(known() == 0);
  destroy_context(context);
}

TEST_CASE("Contexts by the thousand are made and ended in no time", "[state]") {
  std::vector<std::shared_ptr<Context>> all;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 5000; ++i) all.push_back(make_context());
  for (const auto& context : all) destroy_context(context);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));  // pair by pair it took minutes
}

TEST_CASE("A destroyed context's handle is known, and so are its streams', which know that it is gone", "[state]") {
  const auto context = make_context();
  const auto stream = make_stream(context);
  const CUcontext handle = context->handle;
  CHECK(context_state(handle) == ContextState::live);
  destroy_context(context);
  CHECK(context_state(handle) == ContextState::destroyed);
  CHECK(context_state(reinterpret_cast<CUcontext>(std::uintptr_t{0x1234})) == ContextState::unknown);
  REQUIRE(streams().find(stream->handle) != nullptr);
  CHECK(streams().find(stream->handle)->health->ended.load());
}

TEST_CASE("Handles are never given out twice, whatever threads ask", "[state]") {
  std::vector<std::vector<u64>> given(4, std::vector<u64>(1000));
  std::vector<std::thread> threads;
  for (auto& mine : given) {
    threads.emplace_back([&mine] {
      for (u64& handle : mine) handle = fresh_handle();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<u64> all;
  for (const auto& mine : given) all.insert(mine.begin(), mine.end());
  CHECK(all.size() == 4000);
}

TEST_CASE("Threads that enter work into each other's streams at once lose none of it", "[state]") {
  const auto context = make_context();
  std::vector<std::shared_ptr<Stream>> shared;
  for (int i = 0; i < 4; ++i)
    shared.push_back(make_stream(context, i % 2 == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
  shared.push_back(context->legacy_stream_pointer());
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        Stream& stream = *shared[static_cast<std::size_t>(t + i) % shared.size()];
        if (i % 7 == 0) {
          stream.run_here(operation([&] { ++ran; }));
        } else {
          stream.enqueue(operation([&] { ++ran; }));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  context->synchronize();
  CHECK(ran == 8 * 500);
  destroy_context(context);
}
