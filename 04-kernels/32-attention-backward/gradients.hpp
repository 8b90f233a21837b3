// One problem and its gradients: the matrices, what is right in double precision, and the comparison of a result with
// it. The module contains the kernels of exact.hpp.
#pragma once
#include "04-kernels/attention_problem.hpp"
#include "shape.hpp"

class GradientProblem {
 public:
  GradientProblem(const cu::Module& module, const Size& size) : module_(module), problem_(module, size) {
    problem_.fill(of_o_, problem_.elements_of_q(), 0xc0000001u, 1);
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    gradients_ = {pointer(of_o_),
                  pointer(of_q_),
                  pointer(of_k_),
                  pointer(of_v_),
                  static_cast<float*>(pointer(sums_)),
                  static_cast<float*>(pointer(lse_)),
                  static_cast<float*>(pointer(delta_)),
                  pitch_};
    Attention attention = problem_.attention();
    CUdeviceptr exact = problem_.exact(), rows = problem_.exact_rows();
    std::size_t count = problem_.rows();
    int head = size.head;
    void* of_round[] = {&attention, &exact, &rows, &count, &head};
    launch("round_output", Problem::blocks(problem_.elements_of_q()), 1, of_round);
    const std::string suffix = "_" + std::to_string(head);
    void* of_delta[] = {&gradients_, &exact, &count, &exact_delta_.address};
    launch("exact_delta" + suffix, static_cast<unsigned>(count / 256 + 1), 1, of_delta);
    void* of_queries[] = {&attention, &gradients_, &rows, &exact_delta_.address, &exact_q_.address};
    launch("exact_by_queries" + suffix, (size.queries + 15) / 16, size.heads, of_queries);
    void* of_keys[] = {&attention, &gradients_, &rows, &exact_delta_.address, &exact_k_.address, &exact_v_.address};
    launch("exact_by_keys" + suffix, (size.keys + 15) / 16, size.heads / size.group, of_keys);
    clear();
  }

  const Attention& attention() const { return problem_.attention(); }
  const Gradients& gradients() const { return gradients_; }
  const Size& size() const { return problem_.size(); }

  // The bits of all gradients, one after the other.
  std::vector<char> bits() const {
    std::vector<char> bits;
    const auto append = [&](const cu::Memory& memory, std::size_t elements) {
      bits.resize(bits.size() + 2 * elements);
      CU_CHECK(cuMemcpyDtoH(bits.data() + bits.size() - 2 * elements, memory.address, 2 * elements));
    };
    append(of_q_, problem_.elements_of_q());
    append(of_k_, problem_.elements_of_k()), append(of_v_, problem_.elements_of_k());
    return bits;
  }

  // Compares the gradients with what is right, and overwrites them with NaN for the next kernel.
  struct Comparisons {
    Problem::Comparison q, k, v;
    unsigned wrong() const { return q.wrong + k.wrong + v.wrong; }
    double relative() const { return std::max({q.relative(), k.relative(), v.relative()}); }
  };
  Comparisons compare() const {
    const Comparisons found = {compare(of_q_, exact_q_, problem_.elements_of_q()),
                               compare(of_k_, exact_k_, problem_.elements_of_k()),
                               compare(of_v_, exact_v_, problem_.elements_of_k())};
    clear();
    return found;
  }

 private:
  void launch(const std::string& kernel, unsigned x, unsigned y, void** arguments) const {
    if (x == 0) return;
    CU_CHECK(cuLaunchKernel(module_.function(kernel.c_str()), x, y, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }
  Problem::Comparison compare(const cu::Memory& found, const cu::Memory& right, std::size_t count) const {
    const cu::Memory memory(sizeof(Problem::Comparison));
    CU_CHECK(cuMemsetD8(memory.address, 0, sizeof(Problem::Comparison)));
    CUdeviceptr from = found.address, exact = right.address, to = memory.address;
    void* arguments[] = {&from, &exact, &count, &to};
    launch("compare_gradient", Problem::blocks(count), 1, arguments);
    Problem::Comparison compared;
    CU_CHECK(cuMemcpyDtoH(&compared, memory.address, sizeof compared));
    return compared;
  }
  void clear() const {
    CU_CHECK(cuMemsetD8(of_q_.address, 0xff, 2 * problem_.elements_of_q() + 2));
    CU_CHECK(cuMemsetD8(of_k_.address, 0xff, 2 * problem_.elements_of_k() + 2));
    CU_CHECK(cuMemsetD8(of_v_.address, 0xff, 2 * problem_.elements_of_k() + 2));
  }

  // One element more than needed: an allocation of no bytes is an error.
  const cu::Module& module_;
  Problem problem_;
  int pitch_ = (problem_.size().queries + kPadding - 1) / kPadding * kPadding;
  std::size_t padded_ = std::size_t(problem_.size().heads) * pitch_ + 1;
  std::size_t of_queries_ = problem_.elements_of_q() + 1, of_keys_ = problem_.elements_of_k() + 1;
  cu::Memory of_o_{2 * of_queries_}, of_q_{2 * of_queries_}, of_k_{2 * of_keys_}, of_v_{2 * of_keys_};
  cu::Memory sums_{4 * padded_ * problem_.size().head}, lse_{4 * padded_}, delta_{4 * padded_};
  cu::Memory exact_q_{8 * of_queries_}, exact_k_{8 * of_keys_}, exact_v_{8 * of_keys_};
  cu::Memory exact_delta_{16 * (problem_.rows() + 1)};
  Gradients gradients_;
};
