// A host that asks whether a plugin keeps the contract of op.h. The plugin is a table of functions, so that faults.hpp
// can replace one of them.
#pragma once
#include "05-extension/02-plugin/op.h"
#include "common/cu.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

struct Plugin {
  const char* name = "libop.so";
  decltype(&op_create) create = op_create;
  decltype(&op_restore) restore = op_restore;
  decltype(&op_destroy) destroy = op_destroy;
  decltype(&op_attach) attach = op_attach;
  decltype(&op_prepare) prepare = op_prepare;
  decltype(&op_enqueue) enqueue = op_enqueue;
};

namespace host {

using Floats = std::vector<float>;

constexpr float kScale = 3, kUntouched = -7;
constexpr std::int64_t kRows = 5, kColumns = 60;
constexpr std::size_t kSpare = 512;  // elements behind each array, in which a plugin must not write

struct Broken {
  const char* rule;
};

inline void require(bool kept, const char* rule) {
  if (!kept) throw Broken{rule};
}

using Op = std::unique_ptr<op, decltype(&op_destroy)>;
using Execution = std::unique_ptr<op_execution, decltype(&op_detach)>;
using Graph = std::unique_ptr<CUgraph_st, decltype(&cuGraphDestroy)>;

// An array in device memory with spare elements behind it.
struct Array {
  std::size_t count;
  cu::Memory memory;

  explicit Array(const Floats& numbers) : count(numbers.size()), memory((count + kSpare) * sizeof(float)) {
    write(numbers);
  }
  void write(Floats numbers) const {
    numbers.resize(count + kSpare, kUntouched);
    CU_THROW(cuMemcpyHtoD(memory.address, numbers.data(), numbers.size() * sizeof(float)));
  }
  Floats read() const {
    Floats numbers(count + kSpare);
    CU_THROW(cuMemcpyDtoH(numbers.data(), memory.address, numbers.size() * sizeof(float)));
    return numbers;
  }
};

// Work in a stream that waits until the gate is opened, but three seconds at most.
class Gate {
 public:
  explicit Gate(CUstream stream) { CU_THROW(cuLaunchHostFunc(stream, wait, this)); }
  ~Gate() {
    open();
    while (!passed_) std::this_thread::yield();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() { open_ = true; }
  bool is_closed() const { return !passed_; }

 private:
  static void wait(void* self) {
    auto& gate = *static_cast<Gate*>(self);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (!gate.open_ && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    gate.passed_ = true;
  }
  std::atomic<bool> open_{false}, passed_{false};
};

// One plugin, opened, attached and prepared for a matrix of kRows rows, and the arrays that it gets.
class Session {
 public:
  explicit Session(const Plugin& plugin)
      : plugin_(plugin),
        original_(make(plugin)),
        execution_(attach(*original_, kRows)),
        x_(numbers(kRows * kColumns, 1)),
        b_(numbers(kRows, 2)),
        y_(Floats(kRows * kColumns, kUntouched)) {}

  // One call, and a comparison of its numbers.
  bool passes_a_simple_test() {
    const int code = enqueue(execution_.get());
    CU_THROW(cuCtxSynchronize());
    return code == CUDA_SUCCESS && is_right();
  }

  // Each function throws Broken if the plugin breaks its rule.
  void ask_all() {
    can_be_captured();  // first, because a plugin may allocate memory in its first call only
    knows_the_shape_of_its_output();
    computes_the_right_result("computes the right result", execution_.get());
    writes_only_inside_its_output();
    works_in_the_context_of_the_stream();
    accepts_empty_tensors();
    reports_errors_by_a_code();
    only_adds_work_to_the_stream();
    has_a_state_for_each_execution();
    stores_its_attributes();
    runs_without_the_original();
  }

 private:
  static Op make(const Plugin& plugin) {
    op* made = nullptr;
    require(plugin.create(&made, kScale) == CUDA_SUCCESS, "can be created");
    return {made, plugin.destroy};
  }

  Execution attach(const op& original, std::int64_t rows) const {
    op_execution* made = nullptr;
    require(plugin_.attach(&original, &made) == CUDA_SUCCESS, "can be attached");
    Execution attached(made, op_detach);
    require(plugin_.prepare(made, rows, kColumns) == CUDA_SUCCESS, "can be prepared");
    return attached;
  }

  static Floats numbers(std::size_t count, int first) {
    Floats made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<float>(first + static_cast<int>(i % 11));
    return made;
  }

  int enqueue(op_execution* execution) {
    return plugin_.enqueue(execution, x_.memory.address, b_.memory.address, y_.memory.address, stream_.handle);
  }

  bool is_right() const {
    const Floats x = x_.read(), b = b_.read(), y = y_.read();
    for (std::int64_t i = 0; i < kRows * kColumns; ++i)
      if (y[i] != kScale * x[i] * x[i] + b[i / kColumns]) return false;
    return true;
  }

  void clear() const { y_.write(Floats(kRows * kColumns, kUntouched)); }

  void computes_the_right_result(const char* rule, op_execution* execution) {
    clear();
    require(enqueue(execution) == CUDA_SUCCESS, rule);
    CU_THROW(cuStreamSynchronize(stream_.handle));
    require(is_right(), rule);
  }

  // Captures one call in a graph. Returns no graph if the call did something that a capture does not permit.
  Graph captured(CUstreamCaptureMode mode) {
    CUgraph graph = nullptr;
    CU_THROW(cuStreamBeginCapture(stream_.handle, mode));
    const int code = enqueue(execution_.get());
    const CUresult ended = cuStreamEndCapture(stream_.handle, &graph);
    Graph owner(graph, cuGraphDestroy);
    return code == CUDA_SUCCESS && ended == CUDA_SUCCESS ? std::move(owner) : Graph(nullptr, cuGraphDestroy);
  }

  void can_be_captured() {
    const Graph graph = captured(CU_STREAM_CAPTURE_MODE_GLOBAL);
    if (graph == nullptr) {  // the relaxed mode permits allocations, but no mode permits waiting for the stream
      require(captured(CU_STREAM_CAPTURE_MODE_RELAXED) != nullptr, "doesn't wait for the GPU");
      throw Broken{"allocates no memory in a call"};
    }
    std::size_t nodes = 0;
    CU_THROW(cuGraphGetNodes(graph.get(), nullptr, &nodes));
    require(nodes > 0, "works only in the caller's stream");
    clear();
    CUgraphExec executable;
    CU_THROW(cuGraphInstantiate(&executable, graph.get(), 0));
    const std::unique_ptr<CUgraphExec_st, decltype(&cuGraphExecDestroy)> owner(executable, cuGraphExecDestroy);
    CU_THROW(cuGraphLaunch(executable, stream_.handle));
    CU_THROW(cuStreamSynchronize(stream_.handle));
    require(is_right(), "computes the right result in a graph");
  }

  void knows_the_shape_of_its_output() {
    const std::int64_t x[] = {kRows, kColumns}, b[] = {kRows}, wrong[] = {kRows + 1};
    std::int64_t y[2] = {};
    const bool known = op_output_shape(original_.get(), x, b, y) == CUDA_SUCCESS && y[0] == kRows && y[1] == kColumns;
    require(known && op_output_shape(original_.get(), x, wrong, y) != CUDA_SUCCESS, "knows the shape of its output");
  }

  void writes_only_inside_its_output() {
    const Floats y = y_.read();
    const bool untouched =
        std::all_of(y.begin() + kRows * kColumns, y.end(), [](float number) { return number == kUntouched; });
    require(untouched, "writes only inside its output");
  }

  void works_in_the_context_of_the_stream() {
    clear();
    int code;
    {
      const cu::Context other;  // is now current
      code = enqueue(execution_.get());
    }
    CU_THROW(cuStreamSynchronize(stream_.handle));
    require(code == CUDA_SUCCESS && is_right(), "works in the stream's context");
  }

  void accepts_empty_tensors() {
    const bool accepted = plugin_.prepare(execution_.get(), 0, kColumns) == CUDA_SUCCESS &&
                          plugin_.enqueue(execution_.get(), 0, 0, 0, stream_.handle) == CUDA_SUCCESS;
    require(accepted, "accepts tensors without elements");
    require(plugin_.prepare(execution_.get(), kRows, kColumns) == CUDA_SUCCESS, "can be prepared again");
  }

  void reports_errors_by_a_code() {
    try {
      const bool reported = plugin_.enqueue(execution_.get(), 0, 0, 0, stream_.handle) != CUDA_SUCCESS &&
                            plugin_.prepare(execution_.get(), -2, kColumns) != CUDA_SUCCESS;
      require(reported, "reports errors");
    } catch (const std::exception&) {
      throw Broken{"reports errors by a code"};
    }
  }

  void only_adds_work_to_the_stream() {
    clear();
    Gate gate(stream_.handle);
    const int code = enqueue(execution_.get());
    require(code == CUDA_SUCCESS, "computes the right result");
    require(gate.is_closed(), "doesn't wait for the GPU");
    float first = 0;
    CU_THROW(cuMemcpyDtoHAsync(&first, y_.memory.address, sizeof first, probe_.handle));
    CU_THROW(cuStreamSynchronize(probe_.handle));
    require(first == kUntouched && gate.is_closed(), "works only in the caller's stream");
    gate.open();
    CU_THROW(cuStreamSynchronize(stream_.handle));
    require(is_right(), "computes the right result");
  }

  void has_a_state_for_each_execution() {
    const Execution smaller = attach(*original_, 1);
    computes_the_right_result("has a state for each execution", execution_.get());
  }

  void stores_its_attributes() {
    std::size_t size = 0;
    require(op_store(original_.get(), nullptr, &size) == CUDA_SUCCESS, "stores its attributes");
    std::vector<char> stored(size);
    require(op_store(original_.get(), stored.data(), &size) == CUDA_SUCCESS, "stores its attributes");
    op* made = nullptr;
    require(plugin_.restore(&made, stored.data(), size) == CUDA_SUCCESS, "restores its attributes");
    const Op restored(made, op_destroy);
    const Execution execution = attach(*restored, kRows);
    computes_the_right_result("restores its attributes", execution.get());
    require(op_restore(&made, stored.data(), size - 1) != CUDA_SUCCESS, "rejects incomplete attributes");
  }

  void runs_without_the_original() {
    original_.reset();
    computes_the_right_result("runs without the original", execution_.get());
  }

  const Plugin& plugin_;
  cu::Stream stream_, probe_;
  Op original_;
  Execution execution_;
  Array x_, b_, y_;
};

// The first rule that the plugin breaks, or an empty string.
inline std::string first_broken_rule(const Plugin& plugin) {
  try {
    Session(plugin).ask_all();
  } catch (const Broken& broken) {
    return broken.rule;
  }
  return "";
}

}  // namespace host
