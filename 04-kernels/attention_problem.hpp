// One problem: its matrices, what is right in double precision, and the comparison of a result with it. All of it stays
// on the device; the module contains the kernels of attention_exact.hpp.
#pragma once
#include "04-kernels/attention.hpp"
#include "common/cu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

struct Size {
  int heads, group, queries, keys, head;  // `group` heads of q use the same head of k and v
  bool causal;
  float factor = 1;  // of the random normals in q and k
};

// The multiplications and additions that the result needs. A causal problem with as many queries as keys counts half.
inline double operations(const Size& size) {
  return 4.0 * size.heads * size.queries * size.keys * size.head / (size.causal ? 2 : 1);
}

class Problem {
 public:
  Problem(const cu::Module& module, const Size& size) : module_(module), size_(size) {
    fill(q_, elements_of_q(), 1, size.factor), fill(k_, elements_of_k(), 0x40000001u, size.factor);
    fill(v_, elements_of_k(), 0x80000001u, 1);
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    attention_ = {pointer(q_),
                  pointer(k_),
                  pointer(v_),
                  pointer(o_),
                  static_cast<float*>(pointer(lse_)),
                  size.queries,
                  size.keys,
                  size.group,
                  1 / std::sqrt(static_cast<float>(size.head)),
                  size.causal};
    solve();
    clear();
  }

  // Computes what is right for the present matrices.
  void solve() const {
    Attention attention = attention_;
    CUdeviceptr exact = exact_.address, rows = rows_.address;
    void* arguments[] = {&attention, &exact, &rows};
    launch("exact", (size_.queries + 15) / 16, size_.heads, arguments);
  }

  const Attention& attention() const { return attention_; }
  CUdeviceptr exact() const { return exact_.address; }  // elements of o, and rows, as in attention_exact.hpp
  CUdeviceptr exact_rows() const { return rows_.address; }
  const Size& size() const { return size_; }

  struct Comparison {  // as in attention_exact.hpp
    unsigned wrong;
    double errors, values;
    double relative() const { return std::sqrt(errors / values); }
  };
  // The bits of o and lse if the problem is small, and nothing otherwise.
  std::vector<char> bits() const {
    const std::size_t of_o = 2 * elements_of_q(), of_lse = 4 * rows();
    if (of_o > kSmall) return {};
    std::vector<char> bits(of_o + of_lse);
    CU_CHECK(cuMemcpyDtoH(bits.data(), o_.address, of_o));
    CU_CHECK(cuMemcpyDtoH(bits.data() + of_o, lse_.address, of_lse));
    return bits;
  }

  // Compares o and lse with what is right, and overwrites them with NaN for the next kernel.
  Comparison compare(const char* kernel = "compare") const {
    CU_CHECK(cuMemsetD8(comparison_.address, 0, sizeof(Comparison)));
    Attention attention = attention_;
    CUdeviceptr exact = exact_.address, exact_rows = rows_.address, comparison = comparison_.address;
    std::size_t count = rows();
    void* arguments[] = {&attention, &exact, &exact_rows, &count, &comparison};
    launch(kernel, blocks(elements_of_q()), 1, arguments);
    Comparison found;
    CU_CHECK(cuMemcpyDtoH(&found, comparison_.address, sizeof found));
    clear();
    return found;
  }

  // Fills a matrix of bfloat16 with random normals times `factor`.
  void fill(const cu::Memory& memory, std::size_t count, unsigned seed, float factor) const {
    CUdeviceptr address = memory.address;
    void* arguments[] = {&address, &count, &seed, &factor};
    CU_CHECK(cuLaunchKernel(module_.function("fill_normals"), blocks(count), 1, 1, 256, 1, 1, 0, nullptr, arguments,
                            nullptr));
  }

  std::size_t rows() const { return std::size_t(size_.heads) * size_.queries; }
  std::size_t elements_of_q() const { return rows() * size_.head; }
  std::size_t elements_of_k() const { return std::size_t(size_.heads / size_.group) * size_.keys * size_.head; }

  // Blocks of 256 threads for work on `count` elements; each thread may have several.
  static unsigned blocks(std::size_t count) { return static_cast<unsigned>(std::min(count / 256 + 1, kMostBlocks)); }

 private:
  static constexpr std::size_t kSmall = 1 << 20, kMostBlocks = 1024;  // bytes of o; blocks

  void launch(const char* kernel, unsigned x, unsigned y, void** arguments) const {
    if (x == 0) return;
    const CUfunction function = module_.function((std::string(kernel) + "_" + std::to_string(size_.head)).c_str());
    CU_CHECK(cuLaunchKernel(function, x, y, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void clear() const {
    CU_CHECK(cuMemsetD8(o_.address, 0xff, 2 * elements_of_q() + 2));
    CU_CHECK(cuMemsetD8(lse_.address, 0xff, 4 * rows() + 4));
  }

  // One element more than needed: an allocation of no bytes is an error.
  const cu::Module& module_;
  Size size_;
  cu::Memory q_{2 * elements_of_q() + 2}, k_{2 * elements_of_k() + 2}, v_{2 * elements_of_k() + 2};
  cu::Memory o_{2 * elements_of_q() + 2}, lse_{4 * rows() + 4}, exact_{8 * elements_of_q() + 8};
  cu::Memory rows_{16 * rows() + 16}, comparison_{sizeof(Comparison)};
  Attention attention_;
};
