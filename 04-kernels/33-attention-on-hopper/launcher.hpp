// Launches the kernels of this lesson.
#pragma once
#include "04-kernels/attention_problem.hpp"
#include "04-kernels/attribute.hpp"
#include "04-kernels/tensor_map.hpp"
#include "common/cu.hpp"
#include "elements.hpp"
#include "shape.hpp"

#include <algorithm>
#include <climits>

struct Rung {
  const char *name, *kernel, *idea;
  int head, rows, keys, threads, bytes;  // elements of a row; rows of the tiles; threads and shared memory of a block
  bool persistent;
  int element;  // bytes of q, k and v
};
template <class S>
constexpr Rung rung(const char* name, const char* kernel, const char* idea = "") {
  return {name, kernel, idea, S::kHead, kRows<S>, S::kKeys, kThreads<S>, sizeof(Shared<S>), S::kPersistent, S::kBytes};
}

class Launcher {
 public:
  explicit Launcher(const cu::Module& module) : module_(module) { CU_CHECK(cuMemsetD32(taken_.address, 0, 2)); }

  int multiprocessors() const { return multiprocessors_; }

  Arguments arguments(const Rung& rung, const Attention& a, int heads) const {
    constexpr std::size_t kInCache = std::size_t{32} << 20;  // bytes of k and v
    const std::size_t bytes = std::size_t{2} * rung.element * std::max(a.keys, 1) * rung.head;  // of a head
    const int section =
        static_cast<int>(std::min<std::size_t>(heads, std::max<std::size_t>(kInCache / bytes, 1) * a.group));
    return {map_of_matrices(a.q, heads, a.queries, rung.head, rung.rows),
            map_of_matrices(a.k, heads / a.group, a.keys, rung.head, rung.keys),
            map_of_matrices(a.v, heads / a.group, a.keys, rung.head, rung.keys),
            a,
            heads,
            section,
            reinterpret_cast<unsigned*>(taken_.address),
            {}};
  }
  // With the same matrices in e4m3. For the TMA, two elements are one number of 16 bits.
  Arguments arguments(const Rung& rung, const Attention& a, int heads, const Elements& elements) const {
    Arguments found = arguments(rung, a, heads);
    const int kv_heads = heads / a.group;
    found.map_q = map_of_matrices(elements.q(), heads, a.queries, rung.head / 2, rung.rows);
    found.map_k = map_of_matrices(elements.k(), kv_heads, a.keys, rung.head / 2, rung.keys);
    found.map_v = map_of_matrices(elements.v(), kv_heads, rung.head, elements.pitch() / 2, rung.head);
    found.scales = elements.scales();
    return found;
  }

  // With at most `most` blocks, if the kernel is persistent.
  void launch(const Rung& rung, Arguments& arguments, CUstream stream = nullptr, int most = INT_MAX) const {
    if (arguments.attention.queries == 0) return;  // a grid of no blocks is an error
    const int parts = arguments.heads * ((arguments.attention.queries + rung.rows - 1) / rung.rows);
    const int blocks = rung.persistent ? std::min({parts, multiprocessors_, most}) : parts;
    const CUfunction function = module_.function(rung.kernel);
    CU_CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, rung.bytes));
    void* pointers[] = {&arguments};  // the driver copies it
    CU_CHECK(cuLaunchKernel(function, blocks, 1, 1, rung.threads, 1, 1, rung.bytes, stream, pointers, nullptr));
  }

 private:
  const cu::Module& module_;
  int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  cu::Memory taken_{2 * sizeof(unsigned)};
};
