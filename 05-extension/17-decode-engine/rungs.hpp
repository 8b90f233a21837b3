// The rungs of the ladder, and how long a step takes on each.
#pragma once
#include "batch.hpp"
#include "common/measure.hpp"
#include "graphs.hpp"

#include <functional>
#include <memory>

namespace engine {

struct Rung {
  const char *name, *idea;
  Kind kind;
  bool graph, overlap, four_bit;
  int slots;
};
constexpr Rung kLadder[] = {
    {"separate", "a kernel for each operation", Kind::kSeparate, false, false, false, 1},
    {"fused", "products do what is around them", Kind::kFused, false, false, false, 1},
    {"graph", "one graph for each step", Kind::kFused, true, false, false, 1},
    {"overlapped", "kernels start early", Kind::kFused, true, true, false, 1},
    {"four_bit", "weights of four bits", Kind::kFused, true, true, true, 1},
    {"batch", "eight requests in each step", Kind::kFused, true, true, true, 8},
};

// Bytes per second that a kernel reads which does nothing else.
inline double bandwidth(const Kernels& kernels, std::size_t bytes) {
  const cu::Memory a(bytes), b(bytes), to(16);
  CU_THROW(cuMemsetD8(a.address, 0, bytes));
  CU_THROW(cuMemsetD8(b.address, 0, bytes));
  std::size_t vectors = bytes / 16;
  CUdeviceptr k = a.address, v = b.address, result = to.address;
  const int blocks = 8 * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return 2 * static_cast<double>(bytes) / cu::median_device_seconds([&] {
           void* arguments[] = {&k, &v, &vectors, &result};
           CU_THROW(cuLaunchKernel(kernels.attention.function("read"), blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments,
                                   nullptr));
         });
}

// Steps of a batch whose requests have many tokens already.
class Measured {
 public:
  Measured(const Kernels& kernels, const Shape& shape, const Weights& weights, const Rung& rung, int context, int steps)
      : rung_(rung),
        steps_(steps),
        engine_(kernels, shape, weights, room(rung, context + 2 * steps + 2)),
        batch_(engine_) {
    for (int slot = 0; slot < rung.slots; ++slot) {
      batch_.admit({1 + slot}, {1, engine_.room().tokens, -1, 0, 0, 0}, stream_.handle);
    }
    if (rung.graph) graph_ = std::make_unique<StepGraph>(engine_, rung.kind, rung.overlap);
    CU_THROW(cuStreamSynchronize(stream_.handle));
    set_lengths(context);
  }

  // Seconds of a step.
  double seconds() {
    for (int i = 0; i < steps_ && i < 3; ++i) step();
    const cu::Event start, end;
    float milliseconds;
    CU_THROW(cuEventRecord(start.handle, stream_.handle));
    for (int i = 0; i < steps_; ++i) step();
    CU_THROW(cuEventRecord(end.handle, stream_.handle));
    CU_THROW(cuEventSynchronize(end.handle));
    CU_THROW(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
    return milliseconds * 1e-3 / steps_;
  }
  // Bytes of weights, keys and values that a step must read.
  double bytes(int context) const {
    return static_cast<double>(engine_.weights().bytes()) +
           static_cast<double>(context) * rung_.slots * static_cast<double>(engine_.bytes_of_token());
  }

 private:
  static Room room(const Rung& rung, int tokens) { return {rung.slots, tokens, rung.slots * pages_for(tokens)}; }
  void set_lengths(int context) const {
    for (int slot = 0; slot < rung_.slots; ++slot)
      CU_THROW(cuMemsetD32(engine_.lengths.address + 4 * slot, context, 1));
    CU_THROW(cuCtxSynchronize());
  }
  void step() const {
    graph_ ? graph_->launch(stream_.handle) : engine_.step(rung_.kind, rung_.overlap, stream_.handle);
  }

  const Rung rung_;
  const int steps_;
  const cu::Stream stream_;
  const Engine engine_;
  Batch batch_;
  std::unique_ptr<StepGraph> graph_;
};

}  // namespace engine
