// The square matrices of one product in bfloat16, their reference, and the comparison of a result with it. All of it
// stays on the device; the module contains the kernels of verify.hpp.
#pragma once
#include "04-kernels/reference.hpp"
#include "common/cu.hpp"

#include <cstddef>

enum class Data { kIntegers, kNormals };

class Matrices {
 public:
  Matrices(const cu::Module& module, int n) : module_(module), n_(n) {}

  int n() const { return n_; }
  CUdeviceptr a() const { return a_.address; }
  CUdeviceptr b() const { return b_.address; }
  CUdeviceptr c() const { return c_.address; }

  // Fills a and b, and computes the reference.
  void fill(Data data) {
    exact_ = data == Data::kIntegers;
    fill(a_, 1), fill(b_, 0x80000001u);
    void* arguments[] = {&a_.address, &b_.address, &sums_.address, &lengths_.address, &n_};
    const unsigned blocks = n_ / kReferenceSide;
    CU_CHECK(cuLaunchKernel(module_.function("reference"), blocks, blocks, 1, kReferenceThreads, 1, 1, 0, nullptr,
                            arguments, nullptr));
    clear();
  }

  // Returns how many of the n × n elements of c are wrong, and overwrites c with NaN for the next kernel.
  unsigned wrong() {
    CU_CHECK(cuMemsetD32(wrong_.address, 0, 1));
    void* arguments[] = {&c_.address, &sums_.address, &lengths_.address, &n_, &exact_, &wrong_.address};
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
  void fill(cu::Memory& matrix, unsigned seed) {
    bool normal = !exact_;
    void* arguments[] = {&matrix.address, &count_, &seed, &normal};
    launch("fill", arguments);
  }
  void clear() { CU_CHECK(cuMemsetD8(c_.address, 0xff, 2 * count_)); }

  static constexpr unsigned kBlocks = 1024;
  const cu::Module& module_;
  int n_;
  std::size_t count_ = std::size_t(n_) * n_;
  cu::Memory a_{2 * count_}, b_{2 * count_}, c_{2 * count_}, sums_{4 * count_}, lengths_{4 * count_};
  cu::Memory wrong_{sizeof(unsigned)};
  bool exact_ = true;
};
