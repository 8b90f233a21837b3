// q, k and v in e4m3, with a scale for each head.
#pragma once
#include "04-kernels/attention_problem.hpp"
#include "shape.hpp"

#include <algorithm>

class Elements {
 public:
  static constexpr int kHead = 128;  // elements of a row

  Elements(const cu::Module& module, const Problem& problem) : module_(module), problem_(problem) { quantize(); }

  const void* q() const { return pointer(q_); }
  const void* k() const { return pointer(k_); }
  const void* v() const { return pointer(v_); }  // transposed
  int pitch() const { return pitch_; }           // bytes from row to row of v
  Scales scales() const {
    const auto* const first = static_cast<const float*>(pointer(scales_));
    return {first, first + heads_, first + heads_ + kv_heads_};
  }

  // Everything that happens between matrices of bfloat16 and the kernel.
  void quantize() const {
    CU_CHECK(cuMemsetD32Async(largest_.address, 0, heads_ + 2 * kv_heads_, nullptr));
    const Attention& a = problem_.attention();
    find_largest(a.q, heads_, a.queries, 0), find_largest(a.k, kv_heads_, a.keys, heads_);
    find_largest(a.v, kv_heads_, a.keys, heads_ + kv_heads_);
    convert(a.q, heads_, a.queries, 0, q_), convert(a.k, kv_heads_, a.keys, heads_, k_);
    transpose(a.v, heads_ + kv_heads_);
  }

  // Replaces the problem's matrices by those that the elements stand for, and computes what is right for them.
  void round_problem() const {
    const Attention& a = problem_.attention();
    round(a.q, heads_, a.queries, 0), round(a.k, kv_heads_, a.keys, heads_);
    round(a.v, kv_heads_, a.keys, heads_ + kv_heads_);
    problem_.solve();
  }

 private:
  static constexpr int kThreads = 256, kKeysOfBlock = kThreads / 32 * 32;

  static void* pointer(const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); }
  void launch(const char* kernel, int blocks, int heads, void** arguments) const {
    CU_CHECK(
        cuLaunchKernel(module_.function(kernel), blocks, heads, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  }
  // For a matrix of each head. `first` is the number of the first scale.
  void find_largest(const void* matrix, int heads, int rows, int first) const {
    std::size_t count = std::size_t(rows) * kHead;
    CUdeviceptr largest = largest_.address + 4 * first;
    void* arguments[] = {&matrix, &count, &largest};
    launch("find_largest", blocks(count), heads, arguments);
  }
  void convert(const void* matrix, int heads, int rows, int first, const cu::Memory& to) const {
    std::size_t count = std::size_t(rows) * kHead;
    CUdeviceptr largest = largest_.address + 4 * first, elements = to.address, scales = scales_.address + 4 * first;
    void* arguments[] = {&matrix, &count, &largest, &elements, &scales};
    launch("quantize", blocks(count), heads, arguments);
  }
  void transpose(const void* matrix, int first) const {
    int keys = problem_.attention().keys, pitch = pitch_;
    CUdeviceptr largest = largest_.address + 4 * first, elements = v_.address, scales = scales_.address + 4 * first;
    void* arguments[] = {&matrix, &keys, &pitch, &largest, &elements, &scales};
    launch("quantize_transposed", (pitch + kKeysOfBlock - 1) / kKeysOfBlock, kv_heads_, arguments);
  }
  void round(const void* matrix, int heads, int rows, int first) const {
    std::size_t count = std::size_t(rows) * kHead;
    CUdeviceptr largest = largest_.address + 4 * first;
    void* arguments[] = {&matrix, &count, &largest};
    launch("round_to_e4m3", blocks(count), heads, arguments);
  }
  // For work on vectors of a head; each thread may have several.
  static int blocks(std::size_t count) { return static_cast<int>(std::min<std::size_t>(count / 8 / kThreads + 1, 64)); }

  const cu::Module& module_;
  const Problem& problem_;
  int heads_ = problem_.size().heads, kv_heads_ = heads_ / problem_.size().group;
  int pitch_ = std::max(problem_.size().keys + 31, 32) / 32 * 32;
  // One element more than needed: an allocation of no bytes is an error.
  cu::Memory q_{problem_.elements_of_q() + 1}, k_{problem_.elements_of_k() + 1};
  cu::Memory v_{std::size_t(kv_heads_) * kHead * pitch_};
  cu::Memory largest_{4 * std::size_t(heads_ + 2 * kv_heads_)}, scales_{4 * std::size_t(heads_ + 2 * kv_heads_)};
};
