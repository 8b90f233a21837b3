// The matrices of one product, launches of its kernels, and the comparison of results with double precision.
#pragma once
#include "04-kernels/attribute.hpp"
#include "common/cu.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

// A kernel for up to 8 rows of x and one for up to 16, and what they need.
struct Rung {
  const char *name, *idea;
  bool shuffled, rounded, overlaps;  // rounded: every weight is rounded to bfloat16
};
template <class R>
constexpr Rung rung(const char* name, const char* idea) {
  return {name, idea, R::kShuffled, R::kScalesWeights, R::kOverlaps};
}

// x has m rows, and the weights have `rows` rows of `columns` elements. `blocks`: at most, if not 0.
struct Shape {
  int m, rows, columns, blocks = 0;
  double bytes() const { return double(rows) * columns * (0.5 + 2.0 / kGroup) + 2.0 * m * (columns + rows); }
};

// The images of the lesson. Only compute capability 9.0 and later can load the second one.
struct Kernels {
  const cu::Module module, overlapped;

  CUfunction of(const Rung& rung, int m) const {
    const std::string name = std::string(rung.name) + (m <= 8 ? "_8" : "_16");
    return (rung.overlaps ? overlapped : module).function(name.c_str());
  }
};

// Weights of random normals, in several copies: if they are used in turn, they do not come from the L2 cache.
class Problem {
 public:
  Problem(const Kernels& kernels, const Shape& shape, int copies) : kernels_(kernels), shape_(shape) {
    const std::size_t weights = std::size_t(shape.rows) * shape.columns;
    CU_CHECK(cuMemsetD32(done_.address, 0, shape.rows / kTile));
    fill(x_, std::size_t(kMostRows) * shape.columns, 0);
    for (int i = 0; i < copies; ++i) {
      full_.emplace_back(2 * weights), scales_.emplace_back(2 * weights / kGroup);
      for (auto* packed : {&plain_, &shuffled_}) packed->emplace_back(weights / 2);
      fill(full_[i], weights, i + 1);
      void* arguments[] = {&full_[i].address,   &plain_[i].address, &shuffled_[i].address,
                           &scales_[i].address, &shape_.rows,       &shape_.columns};
      launch("quantize", weights / 8, arguments);
    }
    CU_CHECK(cuCtxSynchronize());  // a kernel that overlaps must not load weights before they are stored
    use_rows(shape.m);
  }

  const Shape& shape() const { return shape_; }
  // Changes the number of rows of x, and computes the exact y.
  void use_rows(int m) {
    shape_.m = m;
    FourBit p = argument(0, false);
    void* arguments[] = {&p, &exact_.address};
    launch("reference", std::size_t{32} * m * shape_.rows, arguments);
    clear();
  }
  void clear() const { CU_CHECK(cuMemsetD8(y_.address, 0xff, bytes_of_y())); }
  CUdeviceptr x() const { return x_.address; }
  CUdeviceptr y() const { return y_.address; }
  CUdeviceptr full(int copy) const { return full_[copy].address; }  // the weights in bfloat16, after quantization
  int copies() const { return static_cast<int>(full_.size()); }

  void launch(const Rung& rung, int copy = 0, CUstream stream = nullptr) const {
    const int most = shape_.blocks > 0 ? shape_.blocks : attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    const int blocks = std::clamp(most / splits_, 1, shape_.rows / kTile);  // of each split
    FourBit p = argument(copy, rung.shuffled);
    p.splits = splits_;
    CUlaunchAttribute overlap{};
    overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    overlap.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{};
    config.gridDimX = splits_ * blocks;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = kThreads, config.hStream = stream;
    config.attrs = &overlap, config.numAttrs = rung.overlaps ? 1 : 0;
    void* arguments[] = {&p};
    CU_CHECK(cuLaunchKernelEx(&config, kernels_.of(rung, shape_.m), arguments, nullptr));
  }

  // Returns how many elements of y are wrong, and overwrites y with NaN for the next kernel.
  unsigned wrong(bool rounded) const {
    FourBit p = argument(0, true);
    CU_CHECK(cuMemsetD32(wrong_.address, 0, 1));
    CUdeviceptr exact = exact_.address, counter = wrong_.address;
    void* arguments[] = {&p, &exact, &rounded, &counter};
    launch("compare", std::size_t(shape_.m) * shape_.rows, arguments);
    unsigned found;
    CU_CHECK(cuMemcpyDtoH(&found, counter, sizeof found));
    clear();
    return found;
  }
  // All of y, also the rows that x does not have.
  std::vector<char> bits() const {
    std::vector<char> bits(bytes_of_y());
    CU_CHECK(cuMemcpyDtoH(bits.data(), y_.address, bits.size()));
    return bits;
  }

 private:
  std::size_t bytes_of_y() const { return std::size_t{2} * kMostRows * shape_.rows; }

  FourBit argument(int copy, bool shuffled) const {
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    return {pointer((shuffled ? shuffled_ : plain_)[copy]),
            pointer(scales_[copy]),
            pointer(x_),
            pointer(y_),
            static_cast<float*>(pointer(parts_)),
            static_cast<unsigned*>(pointer(done_)),
            shape_.m,
            shape_.rows,
            shape_.columns,
            1};
  }
  void launch(const char* kernel, std::size_t threads, void** arguments) const {
    const auto blocks = static_cast<unsigned>((threads + 255) / 256);
    CU_CHECK(cuLaunchKernel(kernels_.module.function(kernel), blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void fill(const cu::Memory& memory, std::size_t count, unsigned seed) const {
    CUdeviceptr address = memory.address;
    seed *= 0x9e3779b9u;
    void* arguments[] = {&address, &count, &seed};
    launch("fill", std::min<std::size_t>(count, 1 << 20), arguments);
  }

  const Kernels& kernels_;
  Shape shape_;
  const int splits_ = (shape_.columns / kStrip + kWarps - 1) / kWarps;
  cu::Memory x_{std::size_t{2} * kMostRows * shape_.columns}, y_{std::size_t{2} * kMostRows * shape_.rows};
  cu::Memory parts_{sizeof(float) * kMostRows * shape_.rows * splits_};
  cu::Memory done_{sizeof(unsigned) * shape_.rows / kTile}, wrong_{sizeof(unsigned)};
  cu::Memory exact_{3 * sizeof(double) * kMostRows * shape_.rows};
  std::vector<cu::Memory> full_, plain_, shuffled_, scales_;
};
