// Rows that are normalized and quantized, in two kernels or in one.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"
#include "format.hpp"

#include <cstddef>
#include <vector>

class Norms {
 public:
  Norms(int rows, int columns, const cu::Module& filling) : rows_(rows), columns_(columns) {
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    unsigned seed = 1;
    int normals = 1, one = 1;
    for (const cu::Memory* memory : {&x_, &residual_, &weight_}) {
      CUdeviceptr address = memory->address;
      int* const height = memory == &weight_ ? &one : &rows_;
      void* arguments[] = {&address, height, &columns_, &seed, &normals};
      CU_CHECK(cuLaunchKernel(filling.function("fill"), 1024, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
      seed += 0x9e3779b9U;
    }
    described_ = {
        pointer(x_), pointer(residual_), pointer(weight_), pointer(h_), pointer(y_), nullptr, nullptr, rows, columns,
        1e-6F};
    described_.elements = static_cast<unsigned char*>(pointer(elements_));
    described_.scales = static_cast<float*>(pointer(scales_));
  }

  // Reads x, the residual and the weight; writes h, and elements of 8 bits with a scale for each row.
  void in_two_kernels(CUstream stream = nullptr) const {
    launch("norm_only", stream);
    launch("quantize_rows", stream);
  }
  void in_one_kernel(CUstream stream = nullptr) const { launch("norm_and_quantize", stream); }

  // h, the elements, and the scales; overwrites them.
  std::vector<char> bits() const {
    std::vector<char> all;
    for (const auto& [memory, bytes] : {std::pair{&h_, 2 * count()}, {&elements_, count()}, {&scales_, 4 * height()}}) {
      all.resize(all.size() + bytes);
      CU_CHECK(cuMemcpyDtoH(&all[all.size() - bytes], memory->address, bytes));
      CU_CHECK(cuMemsetD8(memory->address, 0xff, bytes));
    }
    return all;
  }
  double elements() const { return static_cast<double>(count()); }

 private:
  std::size_t height() const { return rows_; }
  std::size_t count() const { return std::size_t(rows_) * columns_; }
  void launch(const char* kernel, CUstream stream) const {
    Normalized rows = described_;
    void* arguments[] = {&rows};
    CU_CHECK(cuLaunchKernel(module_.function(kernel), rows_, 1, 1, kThreadsOfRow, 1, 1, 0, stream, arguments, nullptr));
  }

  int rows_, columns_;
  cu::Module module_{cu::image("norm.ptx")};
  cu::Memory x_{2 * count()}, residual_{2 * count()}, weight_{2 * std::size_t(columns_)}, y_{2 * count()},
      h_{2 * count()};
  cu::Memory elements_{count()}, scales_{4 * height()};
  Normalized described_;
};
