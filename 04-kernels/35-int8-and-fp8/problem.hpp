// A product whose matrices are quantized in several ways: the matrices, their exact product, and the launches.
#pragma once
#include "04-kernels/attribute.hpp"
#include "04-kernels/matrices.hpp"
#include "04-kernels/tensor_map.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "rungs.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// The images. Only compute capability 9.0 can run what is on wgmma.
struct Kernels {
  bool has_wgmma;
  cu::Module portable{cu::image("int8.ptx")};
  std::optional<cu::Module> hopper;

  explicit Kernels(bool is_hopper) : has_wgmma(is_hopper) {
    if (is_hopper) hopper.emplace(cu::image("kernels.ptx"));
  }
  const cu::Module& of(const Rung& rung) const { return rung.on_wgmma ? *hopper : portable; }
};

// As in check.hpp, whose kernels use them.
enum class Values { kIntegers, kNormals, kRows, kColumns };
struct Found {
  unsigned long long different;
  double squares;
};

class Problem {
 public:
  Problem(const Kernels& kernels, Sides sides) : kernels_(kernels), sides_(sides) {}

  const Sides& sides() const { return sides_; }
  CUdeviceptr x() const { return x_.full.address; }  // in bfloat16
  CUdeviceptr w() const { return w_.full.address; }
  CUdeviceptr y() const { return y_.address; }

  // Fills x and w, and computes their exact product. Only x has rows or columns of different sizes.
  void fill(Values values) {
    power_of_two_ = values == Values::kIntegers;
    fill(x_, values, 1);
    fill(w_, values == Values::kIntegers ? values : Values::kNormals, 0x80000001u);
    CUdeviceptr exact = exact_.address;
    int columns = sides_.columns, inner = sides_.inner;
    void* arguments[] = {&x_.full.address, &w_.full.address, &exact, &columns, &inner};
    CU_CHECK(cuLaunchKernel(kernels_.portable.function("reference"), columns / 64, sides_.rows / 64, 1, 256, 1, 1, 0,
                            nullptr, arguments, nullptr));
  }

  // Sets an element of x, or all elements of a row, to a number with these bits. The exact product stays what it was.
  void set_x(int row, int column, std::uint16_t bits) const {
    CU_CHECK(cuMemsetD16(x_.full.address + 2 * (std::size_t(row) * sides_.inner + column), bits, 1));
  }
  void set_row_of_x(int row, std::uint16_t bits) const {
    CU_CHECK(cuMemsetD16(x_.full.address + 2 * std::size_t(row) * sides_.inner, bits, sides_.inner));
  }
  // A row of y, in bfloat16.
  std::vector<std::uint16_t> row_of_y(int row) const {
    std::vector<std::uint16_t> bits(sides_.columns);
    CU_CHECK(cuMemcpyDtoH(bits.data(), y_.address + 2 * std::size_t(row) * sides_.columns, 2 * bits.size()));
    return bits;
  }

  // Quantizes x and w as the kernel needs them.
  void quantize(const Rung& rung) {
    quantize(x_, rung, 1);
    quantize(w_, rung, kBlock);
  }

  // With at most `most` blocks, if each of them computes several tiles.
  void launch(const Rung& rung, CUstream stream = nullptr, unsigned most = UINT_MAX) const {
    const CUfunction kernel = kernels_.of(rung).function(rung.name);
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, rung.bytes));
    Scaled scaled = described(rung);
    const unsigned tiles = sides_.rows / rung.rows * (sides_.columns / rung.columns);
    const unsigned fit = std::min<unsigned>(most, multiprocessors_) / rung.cluster * rung.cluster;
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = rung.cluster, cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = rung.on_wgmma ? std::min(tiles, fit) : tiles;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = rung.threads, config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = rung.bytes;
    config.hStream = stream, config.attrs = &cluster, config.numAttrs = rung.cluster > 1 ? 1 : 0;
    void* arguments[] = {&scaled};  // the driver copies it
    CU_CHECK(cuLaunchKernelEx(&config, kernel, arguments, nullptr));
  }

  // How many elements of y are not the exact ones, and the errors; overwrites y with NaN.
  Found compare() const {
    CU_CHECK(cuMemsetD8(found_.address, 0, sizeof(Found)));
    std::size_t count = elements_of_y();
    CUdeviceptr y = y_.address, exact = exact_.address, found = found_.address;
    void* arguments[] = {&y, &exact, &count, &found};
    run(kernels_.portable, "compare", arguments);
    Found result;
    CU_CHECK(cuMemcpyDtoH(&result, found, sizeof result));
    CU_CHECK(cuMemsetD8(y, 0xff, 2 * count));
    return result;
  }
  // The root mean square of the errors, relative to the typical size of an element.
  double error() const { return std::sqrt(compare().squares / static_cast<double>(elements_of_y())); }

 private:
  static constexpr std::size_t kBytesOfExact = 16;
  struct Matrix {
    Matrix(int of_rows, int of_columns) : rows(of_rows), columns(of_columns) {}
    std::size_t count() const { return std::size_t(rows) * columns; }
    int rows, columns;
    // In bfloat16, and in 8 bits. There is a scale for at most every row or every kBlock elements.
    cu::Memory full{2 * count()}, elements{count()};
    cu::Memory magnitudes{4 * count() / kBlock + 4 * rows}, scales{4 * count() / kBlock + 4 * rows};
  };

  std::size_t elements_of_y() const { return std::size_t(sides_.rows) * sides_.columns; }

  static void run(const cu::Module& module, const char* kernel, void** arguments) {
    CU_CHECK(
        cuLaunchKernel(module.function(kernel), kBlocks, 1, 1, kThreadsOfCheck, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void fill(Matrix& matrix, Values values, unsigned seed) const {
    void* arguments[] = {&matrix.full.address, &matrix.rows, &matrix.columns, &seed, &values};
    run(kernels_.portable, "fill", arguments);
  }
  void quantize(Matrix& matrix, const Rung& rung, int block_rows) const {
    Quantized quantized{rung.scales, matrix.rows, matrix.columns, block_rows};
    CU_CHECK(cuMemsetD32(matrix.magnitudes.address, 0, quantized.count()));
    void* first[] = {&matrix.full.address, &quantized, &matrix.magnitudes.address};
    run(kernels_.portable, "find_largest", first);
    bool power_of_two = power_of_two_;
    void* second[] = {&matrix.full.address,       &quantized,
                      &matrix.magnitudes.address, &power_of_two,
                      &matrix.elements.address,   &matrix.scales.address};
    if (rung.format == Format::kS8) {
      run(kernels_.portable, "quantize_s8", second);
    } else {
      run(*kernels_.hopper, "quantize_e4m3", second);
    }
  }

  // Pairs of elements of 8 bits, as elements of bfloat16: only their sizes matter.
  Scaled described(const Rung& rung) const {
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    const int pairs = sides_.inner / 2;
    Scaled scaled{};
    if (rung.on_wgmma) {
      // Variables, since g++ 12 does not align a temporary to 128 bytes if it compiles without optimization.
      const CUtensorMap a = map_of(x_.elements.address, sides_.rows, pairs);
      const CUtensorMap b = map_of(w_.elements.address, sides_.columns, pairs);
      const CUtensorMap c = map_of(y_.address, sides_.rows, sides_.columns);
      scaled.map_a = a, scaled.map_b = b, scaled.map_c = c;
    }
    scaled.c = pointer(y_), scaled.x = pointer(x_.elements), scaled.w = pointer(w_.elements);
    scaled.rows = sides_.rows, scaled.columns = sides_.columns, scaled.inner = pairs;
    scaled.band = std::max(1, kBand / (rung.rows * rung.cluster));
    scaled.x_scales = static_cast<float*>(pointer(x_.scales)),
    scaled.w_scales = static_cast<float*>(pointer(w_.scales));
    return scaled;
  }

  static constexpr int kBlocks = 1024, kBand = 2048;
  const Kernels& kernels_;
  Sides sides_;
  Matrix x_{sides_.rows, sides_.inner}, w_{sides_.columns, sides_.inner};
  cu::Memory y_{2 * elements_of_y()}, exact_{kBytesOfExact * elements_of_y()}, found_{sizeof(Found)};
  bool power_of_two_ = false;
  int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
};
