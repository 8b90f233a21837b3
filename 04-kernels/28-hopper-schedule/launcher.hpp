// Launches the kernels of this lesson.
#pragma once
#include "04-kernels/attribute.hpp"
#include "04-kernels/matrices.hpp"
#include "04-kernels/tensor_map.hpp"
#include "common/cu.hpp"
#include "rungs.hpp"

#include <algorithm>
#include <climits>

class Launcher {
 public:
  explicit Launcher(const cu::Module& module) : module_(module) {}

  int multiprocessors() const { return multiprocessors_; }

  // Returns whether the rung can compute this product.
  static bool fits(const Rung& rung, const Matrices& matrices) {
    const Sides sides = matrices.sides();
    if (rung.transposed != matrices.transposed() || sides.inner % kBox != 0) return false;
    if (rung.thin) return sides.rows <= rung.columns && sides.columns % rung.rows == 0;
    return sides.rows % (rung.rows * rung.cluster) == 0 && sides.columns % rung.columns == 0;
  }

  // With at most `most` blocks, if the kernel is persistent.
  void launch(const Rung& rung, const Matrices& matrices, CUstream stream = nullptr, unsigned most = UINT_MAX) const {
    const CUfunction kernel = module_.function(rung.kernel);
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, rung.bytes));
    Product product = described(rung, matrices);
    const unsigned tiles = product.rows / rung.rows * (rung.thin ? 1 : product.columns / rung.columns);
    const unsigned cluster = rung.thin ? parts(tiles, product.inner / (2 * kBox)) : rung.cluster;
    const unsigned fit = std::min<unsigned>(most, multiprocessors_) / cluster * cluster;
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = cluster;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[1].value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{};
    config.gridDimX = rung.thin ? tiles * cluster : rung.persistent ? std::min(tiles, fit) : tiles;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = rung.threads;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = rung.bytes;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = rung.overlaps ? 2 : 1;
    void* arguments[] = {&product};  // the driver copies it
    CU_CHECK(cuLaunchKernelEx(&config, kernel, arguments, nullptr));
  }

  // Returns how many elements are wrong. If matrices are small, each block of a persistent kernel has only one tile, so
  // such a kernel is also verified with a quarter of the blocks.
  unsigned wrong_elements(const Rung& rung, Matrices& matrices) const {
    launch(rung, matrices);
    unsigned wrong = matrices.wrong();
    if (rung.persistent) {
      const Sides sides = matrices.sides();
      launch(rung, matrices, nullptr,
             std::max(sides.rows / rung.rows * (sides.columns / rung.columns) / 4, rung.cluster));
      wrong += matrices.wrong();
    }
    return wrong;
  }

 private:
  // A thin product is computed as its transpose, so that b is the matrix a of the kernel.
  static Product described(const Rung& rung, const Matrices& matrices) {
    const Sides sides = matrices.sides();
    void* const c = reinterpret_cast<void*>(matrices.c());
    if (rung.thin) {
      const CUtensorMap map_a = map_of(matrices.b(), sides.columns, sides.inner);
      return {map_a,         map_of(matrices.a(), sides.rows, sides.inner, rung.columns),
              map_a,         c,
              sides.columns, sides.rows,
              sides.inner,   1};
    }
    return {map_of(matrices.a(), sides.rows, sides.inner),
            rung.transposed ? map_of(matrices.b(), sides.columns, sides.inner)
                            : map_of(matrices.b(), sides.inner, sides.columns),
            map_of(matrices.c(), sides.rows, sides.columns, kBox,
                   kSwizzledStores ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE),
            c,
            sides.rows,
            sides.columns,
            sides.inner,
            std::max(1, rung.band / (rung.rows * rung.cluster))};
  }

  // Into how many parts the steps of a thin product are divided, so that two blocks run on each multiprocessor. A part
  // has at least two steps.
  unsigned parts(unsigned tiles, int steps) const {
    constexpr unsigned kMost = 8;  // blocks of a portable cluster
    return std::clamp<unsigned>(2 * multiprocessors_ / tiles, 1, std::clamp<unsigned>(steps / 2, 1, kMost));
  }

  const cu::Module& module_;
  int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
};
