// The buffers of a batch of requests, and the kernels of a step: each request gets its next token.
#pragma once
#include "04-kernels/34-decode-attention/shape.hpp"
#include "04-kernels/attribute.hpp"
#include "model.hpp"
#include "pages.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

// That lesson and 04-34 have constants of the same names.
namespace norm {
#include "04-kernels/30-softmax-and-norm/shape.hpp"
}

namespace engine {

// kSeparate: a kernel for each operation. kFused: products also normalize x, rotate, add and gate.
enum class Kind { kSeparate, kFused };

struct Room {
  int slots;   // requests in the batch, up to kSlots
  int tokens;  // of a request, prompt and reply
  int pages;   // of the cache
};

class Engine {
  const Kernels& kernels_;
  const Shape shape_;
  const Weights& weights_;
  const Room room_;

 public:
  static constexpr float kEpsilon = 1e-5f;

  Engine(const Kernels& kernels, const Shape& shape, const Weights& weights, const Room& room)
      : kernels_(kernels), shape_(shape), weights_(weights), room_(room) {
    for (const cu::Memory* memory : {&done_, &lengths, &requests, &x_, &table}) {
      std::size_t bytes;
      CU_THROW(cuMemGetAddressRange(nullptr, &bytes, memory->address));
      CU_THROW(cuMemsetD8(memory->address, 0, bytes));
    }
    std::fill_n(counts(), kSlots, 0);
    std::vector<float> turns;
    for (int position = 0; position < room.tokens; ++position) {
      for (int pair = 0; pair < shape.head / 2; ++pair) {
        const double angle = position * std::pow(double(shape.rotation), -2.0 * pair / shape.head);
        turns.push_back(static_cast<float>(std::cos(angle))), turns.push_back(static_cast<float>(std::sin(angle)));
      }
    }
    CU_THROW(cuMemcpyHtoD(turns_.address, turns.data(), 4 * turns.size()));
    CU_THROW(cuFuncSetAttribute(attention(), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes_of_attention()));
  }

  const Shape& shape() const { return shape_; }
  const Room& room() const { return room_; }
  const Weights& weights() const { return weights_; }
  int pitch() const { return pages_for(room_.tokens); }  // pages of a request, at most
  // Bytes of the keys and values of a token, in all layers.
  std::size_t bytes_of_token() const { return std::size_t(4) * shape_.layers * shape_.kv_heads * shape_.head; }

  // Enqueues a step. `overlap`: a kernel may load weights while the one before is running.
  void step(Kind kind, bool overlap, CUstream stream) const {
    Launches to{stream, overlap && kind == Kind::kFused && kernels_.overlap, false};
    for (int layer = 0; layer < shape_.layers; ++layer) {
      kind == Kind::kFused ? fused(to, layer) : separate(to, layer);
    }
    if (kind == Kind::kFused) {
      multiply(to, "logits", weights_.head[0], x_, logits_, true);
    } else {
      normalize(to, true);
      multiply(to, "logits", weights_.head[0], y_, logits_, false);
    }
    Sampling p = sampling();
    void* arguments[] = {&p};
    to.launch(kernels_.steps.function("sample_next"), room_.slots, sampling_threads(), 0, arguments);
  }

  // Enqueues the first token of the request in a slot, whose prompt and table are in place.
  void begin(int slot, CUstream stream) const {
    Sampling p = sampling();
    void* arguments[] = {&p, &slot};
    Launches{stream, false, false}.launch(kernels_.steps.function("begin"), 1, sampling_threads(), 0, arguments);
  }

  Pages pages() const {
    return {keys_.address,
            values_.address,
            table.address,
            shape_.layers,
            pitch(),
            bytes_of_layer(),
            bytes_of_layer() / room_.pages};
  }

  // What a step has told the host so far.
  int* replies() const { return replies_.as<int>(); }
  volatile int* counts() const { return counts_.as<volatile int>(); }

  // What the host writes for each slot: a Request, a row of tokens, a row of page numbers.
  const cu::Memory requests{sizeof(Request) * kSlots}, prompts{4 * std::size_t(kSlots) * room_.tokens};
  const cu::Memory table{4 * std::size_t(kSlots) * pitch()}, lengths{4 * kSlots};

 private:
  // Launches of a step. The first one does not overlap.
  struct Launches {
    CUstream stream;
    bool overlap, begun;
    void launch(CUfunction function, int blocks, int threads, int bytes, void** arguments) {
      CUlaunchAttribute attribute{};
      attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute.value.programmaticStreamSerializationAllowed = 1;
      CUlaunchConfig config{};
      config.gridDimX = blocks, config.blockDimX = threads, config.sharedMemBytes = bytes, config.hStream = stream;
      config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
      config.attrs = &attribute, config.numAttrs = overlap && begun ? 1 : 0;
      CU_THROW(cuLaunchKernelEx(&config, function, arguments, nullptr));
      begun = true;
    }
  };

  template <class T = void>
  static T* pointer(const cu::Memory& memory, std::size_t bytes = 0) {
    return reinterpret_cast<T*>(memory.address + bytes);
  }

  void fused(Launches& to, int layer) const {
    multiply(to, "to_cache", weights_.qkv[layer], x_, q_, true, layer);
    attend(to, layer);
    multiply(to, "add", weights_.out[layer], o_, x_, false);
    multiply(to, "swiglu", weights_.gate_up[layer], x_, y_, true);
    multiply(to, "add", weights_.down[layer], y_, x_, false);
  }

  void separate(Launches& to, int layer) const {
    normalize(to, layer > 0);
    multiply(to, "plain", weights_.qkv[layer], y_, both_, false);
    int m = room_.slots, pairs = m * shape_.rows_of_qkv() / 2, width = shape_.hidden;
    Cache cache = cache_of(layer);
    CUdeviceptr both = both_.address, q = q_.address, y = y_.address;
    void* of_rotate[] = {&both, &q, &m, &cache};
    to.launch(kernels_.steps.function("rotate"), (pairs + 127) / 128, 128, 0, of_rotate);
    attend(to, layer);
    multiply(to, "plain", weights_.out[layer], o_, part_, false);
    normalize(to, true);
    multiply(to, "plain", weights_.gate_up[layer], y_, both_, false);
    void* of_gate[] = {&both, &y, &m, &width};
    to.launch(kernels_.steps.function("gate"), (m * width + 127) / 128, 128, 0, of_gate);
    multiply(to, "plain", weights_.down[layer], y_, part_, false);
  }

  void multiply(Launches& to, const char* use, const Matrix& matrix, const cu::Memory& x, const cu::Memory& y,
                bool normed, int layer = 0) const {
    Product p{pointer(matrix.weights),
              pointer(matrix.scales),
              pointer(x),
              normed ? pointer<const float>(squares_) : nullptr,
              pointer(y),
              pointer<float>(squares_),
              room_.slots,
              matrix.rows,
              matrix.columns,
              matrix.segment,
              kEpsilon};
    Cache cache = cache_of(layer);
    void* arguments[] = {&p, &cache};
    const std::string name = use + suffix();
    const int strips = matrix.columns / (weights_.four_bit() ? kStripInt4 : kStripBf16),
              blocks = kBlocksOfProduct * multiprocessors_;
    to.launch(kernels_.steps.function(name.c_str()), std::min(matrix.rows / kTileRows, blocks), 32 * warps_for(strips),
              0, arguments);
  }

  std::string suffix() const { return weights_.four_bit() ? "_int4" : "_bf16"; }
  // Each warp has an even number of strips, if possible, because it works on two at a time.
  static int warps_for(int strips) {
    for (int warps = kMostWarps; warps > 1; --warps) {
      if (strips % (2 * warps) == 0) return warps;
    }
    return 1;
  }

  // x += part, if there is a part; y = the norm of x
  void normalize(Launches& to, bool adds) const {
    norm::Rows p{};
    p.x = pointer(x_), p.residual = pointer(adds ? part_ : zeros_), p.weight = pointer(ones_);
    p.y = pointer(y_), p.h = pointer(x_);
    p.rows = room_.slots, p.columns = shape_.width, p.epsilon = kEpsilon;
    void* arguments[] = {&p};
    // This kernel does not wait for the one before, so it starts when that has ended.
    Launches alone{to.stream, false, true};
    alone.launch(kernels_.norm.function("rms_norm"), p.rows, norm::kSmall.threads, 0, arguments);
    to.begun = false;
  }

  CUfunction attention() const {
    return kernels_.attention.function(shape_.head == 64 ? "attention_64" : "attention_128");
  }
  int bytes_of_attention() const { return shape_.head == 64 ? kSharedBytes<Even<64>> : kSharedBytes<Even<128>>; }
  // A multiple of the number of heads: if all requests have the same length, a block has parts of one head.
  int blocks_of_attention() const {
    const int heads = room_.slots * shape_.kv_heads,
              steps = (room_.tokens + kStepKeys<Even<64>> - 1) / kStepKeys<Even<64>>;
    return heads * std::clamp(multiprocessors_ / heads, 1, steps);
  }
  void attend(Launches& to, int layer) const {
    const Cache cache = cache_of(layer);
    Decode p{};
    p.q = pointer(q_), p.k = cache.k, p.v = cache.v, p.table = cache.table, p.lengths = cache.lengths;
    p.o = pointer(o_), p.lse = pointer<float>(lse_), p.parts = pointer<float>(parts_),
    p.done = pointer<unsigned>(done_);
    p.requests = room_.slots, p.kv_heads = shape_.kv_heads, p.group = shape_.heads / shape_.kv_heads;
    p.pitch = pitch(), p.splits = 1, p.scale = 1 / std::sqrt(static_cast<float>(shape_.head));
    void* arguments[] = {&p};
    to.launch(attention(), blocks_of_attention(), kThreads, bytes_of_attention(), arguments);
  }

  std::size_t bytes_of_layer() const {
    return std::size_t(2) * room_.pages * kPageTokens * shape_.kv_heads * shape_.head;
  }
  Cache cache_of(int layer) const {
    return {pointer(keys_, layer * bytes_of_layer()),
            pointer(values_, layer * bytes_of_layer()),
            pointer<const int>(table),
            pointer<const int>(lengths),
            pointer<const float>(turns_),
            pitch(),
            shape_.heads,
            shape_.kv_heads,
            shape_.head};
  }
  int sampling_threads() const { return shape_.vocabulary <= 1024 ? 128 : 1024; }
  Sampling sampling() const {
    CUdeviceptr replies, counts;
    CU_THROW(cuMemHostGetDevicePointer(&replies, replies_.address, 0));
    CU_THROW(cuMemHostGetDevicePointer(&counts, counts_.address, 0));
    return {pointer<const float>(logits_),
            shape_.vocabulary,
            shape_.width,
            pointer<int>(lengths),
            pointer<const Request>(requests),
            pointer<const int>(prompts),
            reinterpret_cast<int*>(replies),
            reinterpret_cast<int*>(counts),
            pointer(weights_.embeddings),
            pointer(x_),
            pointer<float>(squares_),
            room_.tokens};
  }
  static cu::Memory filled(std::size_t count, unsigned short value) {
    cu::Memory memory(2 * count);
    CU_THROW(cuMemsetD16(memory.address, value, count));
    return memory;
  }

  const int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const std::size_t slots_ = room_.slots, width_ = shape_.width, of_heads_ = std::size_t(shape_.heads) * shape_.head;
  const cu::Memory x_{2 * slots_ * width_}, q_{2 * slots_ * of_heads_}, o_{2 * slots_ * of_heads_};
  const cu::Memory y_{2 * slots_ * std::max(shape_.width, shape_.hidden)}, part_{2 * slots_ * width_};
  const cu::Memory both_{2 * slots_ * std::max(2 * shape_.hidden, shape_.rows_of_qkv())};
  const cu::Memory logits_{4 * slots_ * shape_.vocabulary}, squares_{4 * slots_ * width_ / kTileRows};
  const cu::Memory ones_ = filled(width_, 0x3f80), zeros_ = filled(slots_ * width_, 0);
  const cu::Memory keys_{shape_.layers * bytes_of_layer()}, values_{shape_.layers * bytes_of_layer()};
  const cu::Memory turns_{4 * std::size_t(room_.tokens) * shape_.head}, lse_{4 * slots_ * shape_.heads};
  const cu::Memory parts_{std::size_t(8) * blocks_of_attention() * kPartFloats}, done_{4 * slots_ * shape_.heads};
  const cu::Pinned replies_{4 * std::size_t(kSlots) * room_.tokens, CU_MEMHOSTALLOC_DEVICEMAP};
  const cu::Pinned counts_{4 * kSlots, CU_MEMHOSTALLOC_DEVICEMAP};
};

}  // namespace engine
