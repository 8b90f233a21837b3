// The matrices of one product, with the maps that describe them to the TMA.
#pragma once
#include "04-kernels/matrices.hpp"
#include "common/cu.hpp"
#include "shape.hpp"

#include <cstdint>

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

// The matrices with their maps, and what stream-K needs besides.
class MappedMatrices : public Matrices {
 public:
  MappedMatrices(const cu::Module& module, int n, int multiprocessors)
      : Matrices(module, n),
        partial_(multiprocessors * kPartialBytes),
        ready_(multiprocessors * kMostConsumers * sizeof(unsigned)) {
    CU_CHECK(cuMemsetD32(ready_.address, 0, multiprocessors * kMostConsumers));
  }

  Product product() const {
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    return {map_of(a(), n()),
            map_of(b(), n()),
            map_of(c(), n()),
            pointer(a()),
            pointer(b()),
            pointer(c()),
            n(),
            1,
            static_cast<float*>(pointer(partial_.address)),
            static_cast<unsigned*>(pointer(ready_.address))};
  }

 private:
  cu::Memory partial_, ready_;
};
