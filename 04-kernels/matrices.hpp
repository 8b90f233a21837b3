// The matrices of one product in bfloat16, their reference, and the comparison of a result with it. All of it stays on
// the device; the module contains the kernels of verify.hpp.
#pragma once
#include "04-kernels/reference.hpp"
#include "common/cu.hpp"

#include <cstddef>

enum class Data { kIntegers, kNormals };

// c = a × b: c has rows × columns elements, and each is a sum of `inner` products.
struct Sides {
  int rows, columns, inner;
};

class Matrices {
 public:
  // `transposed`: b is stored by columns, as the weights of a linear layer are.
  Matrices(const cu::Module& module, Sides sides, bool transposed)
      : module_(module), sides_(sides), transposed_(transposed) {}
  Matrices(const cu::Module& module, int n) : Matrices(module, {n, n, n}, false) {}

  int n() const { return sides_.columns; }
  Sides sides() const { return sides_; }
  bool transposed() const { return transposed_; }
  CUdeviceptr a() const { return a_.address; }
  CUdeviceptr b() const { return b_.address; }
  CUdeviceptr c() const { return c_.address; }
  // The reference: FP32 sums, and for each a number that no sum of the absolute values of the products exceeds.
  CUdeviceptr sums() const { return sums_.address; }
  CUdeviceptr lengths() const { return lengths_.address; }

  // Fills a and b, and computes the reference.
  void fill(Data data) {
    exact_ = data == Data::kIntegers;
    fill(a_, elements_of_a_, 1), fill(b_, elements_of_b_, 0x80000001u);
    void* arguments[] = {&a_.address,  &b_.address,     &sums_.address, &lengths_.address,
                         &sides_.rows, &sides_.columns, &sides_.inner,  &transposed_};
    const unsigned across = sides_.columns / kReferenceSide, down = (sides_.rows - 1) / kReferenceSide + 1;
    CU_CHECK(cuLaunchKernel(module_.function("reference"), across, down, 1, kReferenceThreads, 1, 1, 0, nullptr,
                            arguments, nullptr));
    clear();
  }

  // Returns how many elements of c are wrong, and overwrites c with NaN for the next kernel.
  unsigned wrong() {
    CU_CHECK(cuMemsetD32(wrong_.address, 0, 1));
    void* arguments[] = {&c_.address,   &sums_.address, &lengths_.address, &elements_of_c_,
                         &sides_.inner, &exact_,        &wrong_.address};
    launch("compare", arguments);
    unsigned count;
    CU_CHECK(cuMemcpyDtoH(&count, wrong_.address, sizeof count));
    clear();
    return count;
  }

 private:
  void launch(const char* kernel, void** arguments) const {
    CU_CHECK(cuLaunchKernel(module_.function(kernel), kBlocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void fill(cu::Memory& matrix, std::size_t count, unsigned seed) {
    bool normal = !exact_;
    void* arguments[] = {&matrix.address, &count, &seed, &normal};
    launch("fill", arguments);
  }
  void clear() { CU_CHECK(cuMemsetD8(c_.address, 0xff, 2 * elements_of_c_)); }

  static constexpr unsigned kBlocks = 1024;
  const cu::Module& module_;
  Sides sides_;
  bool transposed_;
  std::size_t elements_of_a_ = std::size_t(sides_.rows) * sides_.inner;
  std::size_t elements_of_b_ = std::size_t(sides_.inner) * sides_.columns;
  std::size_t elements_of_c_ = std::size_t(sides_.rows) * sides_.columns;
  cu::Memory a_{2 * elements_of_a_}, b_{2 * elements_of_b_}, c_{2 * elements_of_c_};
  cu::Memory sums_{4 * elements_of_c_}, lengths_{4 * elements_of_c_};
  cu::Memory wrong_{sizeof(unsigned)};
  bool exact_ = true;
};
