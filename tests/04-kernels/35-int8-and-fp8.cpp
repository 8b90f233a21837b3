// Checks the learner's kernels quantize_rows() and scaled_product() (exercise of 04-kernels/35-int8-and-fp8).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/bfloat16.hpp"
#include "tests/capability.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/traffic.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#define NEEDS_E4M3() \
  if (compute_capability() < 89) SKIP_TEST("mma with e4m3 needs compute capability 8.9")

namespace {

constexpr int kColumns = 512;
constexpr float kLargest = 448, kNoLimit = 0x1p100F;

unsigned hash(std::size_t i, unsigned seed) {
  unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed * 0x9e3779b9u;
  bits = (bits ^ bits >> 15) * 0x2c1b3c6du;
  return bits >> 16;
}

// e4m3: a sign, four bits of exponent, three of the fraction; 0x7f is NaN, and there is no infinity.
float e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                        : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}
// The distance from a number to the nearest one of e4m3.
double distance(double value) {
  double least = std::numeric_limits<double>::infinity();
  for (int bits = 0; bits < 0x7f; ++bits) least = std::fmin(least, std::fabs(std::fabs(value) - e4m3(bits)));
  return least;
}
std::uint8_t as_e4m3(float value) {
  for (int bits = 0; bits < 256; ++bits) {
    if (e4m3(static_cast<std::uint8_t>(bits)) == value) return static_cast<std::uint8_t>(bits);
  }
  throw std::logic_error("not a number of e4m3");
}

template <class T>
cu::Memory copied(const std::vector<T>& numbers) {
  cu::Memory memory(sizeof(T) * numbers.size());
  CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), sizeof(T) * numbers.size()));
  return memory;
}
template <class T>
std::vector<T> read(const cu::Memory& memory, std::size_t count) {
  std::vector<T> numbers(count);
  CU_CHECK(cuMemcpyDtoH(numbers.data(), memory.address, sizeof(T) * count));
  return numbers;
}

// Rows of x, and what quantize_rows() makes of them.
struct Rows {
  explicit Rows(int rows) : x(std::size_t(rows) * kColumns), elements(x.size()), scales(4 * std::size_t(rows)) {
    CU_CHECK(cuMemsetD8(elements.address, 0x7f, x.size()));
    CU_CHECK(cuMemsetD8(scales.address, 0xff, 4 * std::size_t(rows)));
  }
  int rows() const { return static_cast<int>(x.size() / kColumns); }

  void quantize(CUfunction kernel, float limit = kNoLimit) {
    std::vector<std::uint16_t> bits;
    for (const float value : x) bits.push_back(bfloat16(value));
    const cu::Memory from = copied(bits);
    CUdeviceptr at = from.address;
    void* arguments[] = {&at, &elements.address, &scales.address, &limit};
    CU_CHECK(cuLaunchKernel(kernel, rows(), 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    CU_CHECK(cuCtxSynchronize());
  }
  // How many scales are wrong, and how many elements are not the nearest ones.
  int wrong_scales(float limit = kNoLimit) const {
    const std::vector<float> found = read<float>(scales, rows());
    int wrong = 0;
    for (int row = 0; row < rows(); ++row) wrong += !(std::fabs(found[row] / scale(row, limit) - 1) < 1e-6);
    return wrong;
  }
  int wrong_elements(float limit = kNoLimit) const {
    const std::vector<std::uint8_t> found = read<std::uint8_t>(elements, x.size());
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double scaled = x[i] / scale(static_cast<int>(i / kColumns), limit);
      const double right = std::fmax(-kLargest, std::fmin(kLargest, scaled));
      wrong += !(std::fabs(e4m3(found[i]) - right) <= distance(right) + 1e-6 * std::fabs(right));
    }
    return wrong;
  }
  double scale(int row, float limit) const {
    float largest = 0;
    for (int k = 0; k < kColumns; ++k) largest = std::fmax(largest, std::fabs(x[std::size_t(row) * kColumns + k]));
    return largest == 0 ? 1 : double(std::fmin(largest, limit)) / kLargest;
  }

  std::vector<float> x;
  cu::Memory elements, scales;
};

// Rows of numbers from -1 to 1 times a factor of their own. The largest magnitude belongs to a negative number.
Rows random_rows(int count) {
  Rows rows(count);
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const std::size_t row = i / kColumns, column = i % kColumns;
    const float value = static_cast<float>(static_cast<int>(hash(i, 1) % 201) - 100) / 128;
    rows.x[i] = std::ldexp(column == 37 + 61 * row % 400 ? -1.25F : value, static_cast<int>(row % 7) - 3);
  }
  return rows;
}

// Integers from -4 to 4. Column 3 of x has the largest magnitude that e4m3 has, and column 3 of w is 0, so that all
// sums are small. Row r of x is multiplied by a power of two, so its scale is that.
float integer(std::size_t i, unsigned seed) { return static_cast<float>(static_cast<int>(hash(i, seed) % 9) - 4); }
Rows integer_rows(int count) {
  Rows rows(count);
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const float value = i % kColumns == 3 ? kLargest : integer(i, 2);
    rows.x[i] = std::ldexp(value, static_cast<int>(i / kColumns % 5) - 2);
  }
  return rows;
}

// Weights of e4m3 and their scales, and the product with quantized rows.
class Weights {
 public:
  explicit Weights(int columns) : columns_(columns) {
    std::vector<std::uint8_t> elements;
    std::vector<float> scales;
    for (std::size_t i = 0; i < std::size_t(columns) * kColumns; ++i) elements.push_back(as_e4m3(element(i)));
    for (int column = 0; column < columns; ++column) scales.push_back(scale(column));
    elements_ = copied(elements), scales_ = copied(scales);
  }
  std::vector<float> multiply(CUfunction kernel, CUdeviceptr x, CUdeviceptr x_scales, int rows) {
    const std::size_t count = std::size_t(rows) * columns_;
    const cu::Memory y(2 * count);
    CU_CHECK(cuMemsetD8(y.address, 0xff, 2 * count));
    CUdeviceptr to = y.address;
    void* arguments[] = {&x, &x_scales, &elements_.address, &scales_.address, &to, &columns_};
    CU_CHECK(cuLaunchKernel(kernel, columns_ / 8, rows / 16, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    std::vector<float> found;
    for (const std::uint16_t bits : read<std::uint16_t>(y, count)) found.push_back(from_bfloat16(bits));
    return found;
  }
  static float element(std::size_t i) { return i % kColumns == 3 ? 0 : integer(i, 3); }
  static float scale(int column) { return std::ldexp(1.0F, column % 3 - 5) * (column % 4 == 3 ? 1.5F : 1); }
  // The exact result for row `row` of x.
  double exact(const Rows& rows, int row, int column) const {
    double sum = 0;
    for (int k = 0; k < kColumns; ++k) {
      sum += double(rows.x[std::size_t(row) * kColumns + k]) * element(std::size_t(column) * kColumns + k);
    }
    return sum * scale(column);
  }

 private:
  int columns_;
  cu::Memory elements_, scales_;
};

struct Device {
  cu::Context context;
  cu::Module module{cu::image("exercise.ptx")};
  CUfunction quantize = module.function("quantize_rows"), multiply = module.function("scaled_product");
};

// The results for these rows; 16 of them for each tile.
std::vector<float> results(const Device& device, Rows& rows, int columns, float limit = kNoLimit) {
  rows.quantize(device.quantize, limit);
  return Weights(columns).multiply(device.multiply, rows.elements.address, rows.scales.address, rows.rows());
}
// How many results are not the exact ones, rounded to the 8 bits of bfloat16.
int wrong_results(const std::vector<float>& y, const Rows& rows, int columns) {
  const Weights weights(columns);
  int wrong = 0;
  for (int i = 0; i < static_cast<int>(y.size()); ++i) {
    const double exact = weights.exact(rows, i / columns, i % columns);
    wrong += !(std::fabs(y[i] - exact) <= std::ldexp(std::fabs(exact), -8));
  }
  return wrong;
}

// One row, so that the store of its scale is the only access of a single lane.
template <class Instrumented, class Look>
auto quantized_with(Look look) {
  cu::Context context;
  const Instrumented kernel(cu::image("exercise.ptx"));
  Rows rows = random_rows(1);
  rows.quantize(kernel.function("quantize_rows"));
  REQUIRE(rows.wrong_elements() == 0);
  return look(kernel);
}

}  // namespace

TEST_CASE("the scale of a row is its largest magnitude, divided by 448") {
  NEEDS_E4M3();
  const Device device;
  Rows rows = random_rows(9);
  rows.quantize(device.quantize);
  CHECK(rows.wrong_scales() == 0);
}

TEST_CASE("each element becomes the nearest e4m3 number") {
  NEEDS_E4M3();
  const Device device;
  Rows rows = random_rows(9);
  rows.quantize(device.quantize);
  REQUIRE(rows.wrong_scales() == 0);
  CHECK(rows.wrong_elements() == 0);
}

TEST_CASE("a row of zeros has the scale 1, and its elements are zero") {
  NEEDS_E4M3();
  const Device device;
  Rows rows = random_rows(3);
  for (int k = 0; k < kColumns; ++k) rows.x[kColumns + k] = 0;
  rows.quantize(device.quantize);
  CHECK(rows.wrong_scales() == 0);
  CHECK(rows.wrong_elements() == 0);
}

TEST_CASE("magnitudes beyond the limit become 448") {
  NEEDS_E4M3();
  const Device device;
  for (const float limit : {0.5F, 2.0F, 1024.0F}) {
    CAPTURE(limit);
    Rows rows = random_rows(8);
    rows.x[5] = 4096, rows.x[kColumns + 9] = -std::numeric_limits<float>::infinity();
    rows.quantize(device.quantize, limit);
    CHECK(rows.wrong_scales(limit) == 0);
    CHECK(rows.wrong_elements(limit) == 0);
  }
}

TEST_CASE("integers times powers of two give exact results") {
  NEEDS_E4M3();
  const Device device;
  Rows rows = integer_rows(16);
  CHECK(wrong_results(results(device, rows, 8), rows, 8) == 0);
}

TEST_CASE("every sum gets the scales of its row and of its column") {
  NEEDS_E4M3();
  const Device device;
  Rows rows = integer_rows(48);
  CHECK(wrong_results(results(device, rows, 40), rows, 40) == 0);
}

TEST_CASE("a NaN makes the results of its row NaN, and no others") {
  NEEDS_E4M3();
  const Device device;
  Rows rows = integer_rows(16);
  rows.x[6 * kColumns + 100] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> y = results(device, rows, 8);
  int nans = 0;
  for (int column = 0; column < 8; ++column) nans += std::isnan(y[6 * 8 + column]);
  INFO("row 6 of x has a NaN, so 8 results must be NaN");
  CHECK(nans == 8);
  for (int k = 0; k < kColumns; ++k) rows.x[6 * kColumns + k] = 0;
  CHECK(wrong_results(y, rows, 8) == 8);
}

TEST_CASE("each element is loaded once, and only elements and scales are stored") {
  NEEDS_E4M3();
  const auto bytes = quantized_with<Traffic>([](const Traffic& traffic) { return traffic.bytes(); });
  CHECK(bytes.loaded == 2 * kColumns);
  CHECK(bytes.stored == kColumns + 4);
}

TEST_CASE("a warp's loads and stores touch no more sectors than needed") {
  NEEDS_E4M3();
  CHECK(quantized_with<Traffic>([](const Traffic& traffic) { return traffic.scattered(); }) == "");
}

TEST_CASE("one instruction converts two numbers") {
  NEEDS_E4M3();
  const double executed =
      quantized_with<Counted>([](const Counted& counted) { return counted.executed_by_warps("cvt", "e4m3x2"); });
  INFO("conversions of a warp, for " << kColumns / 32 << " elements of each lane");
  CHECK(executed <= kColumns / 2 / 32);
}

TEST_CASE("each result takes two multiplications") {
  NEEDS_E4M3();
  const Device device;
  Rows rows = integer_rows(16);
  REQUIRE(wrong_results(results(device, rows, 8), rows, 8) == 0);
  const Counted counted(cu::image("exercise.ptx"));
  Weights(8).multiply(counted.function("scaled_product"), rows.elements.address, rows.scales.address, 16);
  CHECK(counted.work().arithmetic <= 2 * 16 * 8);
}
