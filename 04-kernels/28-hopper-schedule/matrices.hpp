// The matrices of one product, their reference, and the comparison of a result with it. All of it stays on the device.
#pragma once
#include "common/cu.hpp"
#include "shape.hpp"

#include <cstdint>

enum class Data { kIntegers, kNormals };

// Describes an n × n matrix of bfloat16 for the TMA: where its rows are, the box to copy, and how the box is arranged
// in shared memory.
inline CUtensorMap map_of(CUdeviceptr matrix, int n) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(n), static_cast<cuuint64_t>(n)};  // columns first
  const cuuint64_t pitch[] = {sizes[0] * sizeof(std::uint16_t)};                        // in bytes
  const cuuint32_t box[] = {kBox, kBox}, strides[] = {1, 1};
  CU_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, reinterpret_cast<void*>(matrix), sizes,
                                  pitch, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

class Matrices {
 public:
  Matrices(const cu::Module& module, int n, int multiprocessors)
      : module_(module),
        n_(n),
        multiprocessors_(multiprocessors),
        partial_(multiprocessors * kPartialBytes),
        ready_(multiprocessors * kMostConsumers * sizeof(unsigned)) {
    CU_CHECK(cuMemsetD32(ready_.address, 0, multiprocessors * kMostConsumers));
  }

  Product product() const {
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    return {map_of(a_.address, n_),
            map_of(b_.address, n_),
            map_of(c_.address, n_),
            pointer(a_),
            pointer(b_),
            pointer(c_),
            n_,
            1,
            static_cast<float*>(pointer(partial_)),
            static_cast<unsigned*>(pointer(ready_))};
  }

  // Fills a and b, and computes the reference.
  void fill(Data data) {
    exact_ = data == Data::kIntegers;
    fill(a_, 1), fill(b_, 0x80000001u);
    int n = n_;
    void* arguments[] = {&a_.address, &b_.address, &sums_.address, &lengths_.address, &n};
    const unsigned blocks = n_ / kReferenceSide;
    CU_CHECK(cuLaunchKernel(module_.function("reference"), blocks, blocks, 1, kReferenceThreads, 1, 1, 0, nullptr,
                            arguments, nullptr));
    clear();
  }

  // Returns how many of the n × n elements of c are wrong, and overwrites c with NaN for the next kernel.
  unsigned wrong() {
    CU_CHECK(cuMemsetD32(wrong_.address, 0, 1));
    int n = n_;
    void* arguments[] = {&c_.address, &sums_.address, &lengths_.address, &n, &exact_, &wrong_.address};
    launch("compare", arguments);
    unsigned count;
    CU_CHECK(cuMemcpyDtoH(&count, wrong_.address, sizeof count));
    clear();
    return count;
  }

 private:
  void launch(const char* kernel, void** arguments) const {
    CU_CHECK(cuLaunchKernel(module_.function(kernel), 8 * multiprocessors_, 1, 1, 256, 1, 1, 0, nullptr, arguments,
                            nullptr));
  }
  void fill(cu::Memory& matrix, unsigned seed) {
    bool normal = !exact_;
    void* arguments[] = {&matrix.address, &count_, &seed, &normal};
    launch("fill", arguments);
  }
  void clear() { CU_CHECK(cuMemsetD8(c_.address, 0xff, 2 * count_)); }

  const cu::Module& module_;
  int n_, multiprocessors_;
  std::size_t count_ = std::size_t(n_) * n_;
  cu::Memory a_{2 * count_}, b_{2 * count_}, c_{2 * count_}, sums_{4 * count_}, lengths_{4 * count_};
  cu::Memory partial_, ready_, wrong_{sizeof(unsigned)};
  bool exact_ = true;
};
