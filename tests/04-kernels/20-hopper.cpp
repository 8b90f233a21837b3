// Self-check of 04-kernels/20-hopper: judges the learner's describe() by the boxes that are fetched with its maps.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"
#include "tests/numbers.hpp"

#include <vector>

CUresult describe(CUtensorMap* map, CUdeviceptr matrix, int rows, int columns, std::size_t pitch, int box_rows,
                  int box_columns, bool swizzled);

namespace {

// Each element of a matrix has its own value; 0 marks elements outside, and the padding between rows is -1.
float number(int row, int column) { return static_cast<float>(1 + row * 1000 + column); }

struct Matrix {
  cu::Context context;
  int rows, columns;
  std::size_t pitch;
  cu::Memory memory;

  Matrix(int rows, int columns, int pitch_in_floats)
      : rows(rows), columns(columns), pitch(4 * pitch_in_floats), memory(pitch * rows) {
    std::vector<float> numbers(static_cast<std::size_t>(pitch_in_floats) * rows, -1.0f);
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) numbers[row * pitch_in_floats + column] = number(row, column);
    }
    CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), pitch * rows));
  }

  bool can_fetch() const {
    int major;
    CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context.device));
    return major >= 9;
  }

  // The box as stored in shared memory; all -2 if it has not arrived.
  std::vector<float> box(int row, int column, int box_rows, int box_columns, bool swizzled) const {
    CUtensorMap map{};
    REQUIRE(describe(&map, memory.address, rows, columns, pitch, box_rows, box_columns, swizzled) == CUDA_SUCCESS);
    cu::Module module(cu::image("check.ptx"));
    std::vector<float> got(box_rows * box_columns, -2.0f);
    int bytes = static_cast<int>(got.size() * sizeof(float));
    cu::Memory out(bytes);
    CU_CHECK(cuMemcpyHtoD(out.address, got.data(), bytes));
    void* arguments[] = {&map, &column, &row, &bytes, const_cast<CUdeviceptr*>(&out.address)};
    CU_CHECK(cuLaunchKernel(module.function("fetch"), 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    CU_CHECK(cuMemcpyDtoH(got.data(), out.address, bytes));
    return got;
  }

  // The same, as it should be.
  std::vector<float> expected(int row, int column, int box_rows, int box_columns, bool swizzled) const {
    std::vector<float> box(box_rows * box_columns);
    for (int i = 0; i < box_rows; ++i) {
      for (int j = 0; j < box_columns; ++j) {
        const int y = row + i, x = column + j, piece = j / 4;  // of sixteen bytes
        const int place = swizzled ? (piece ^ i % 8) * 4 + j % 4 : j;
        box[i * box_columns + place] = y >= 0 && y < rows && x >= 0 && x < columns ? number(y, x) : 0;
      }
    }
    return box;
  }
};

// What is wrong with a box, in a sentence.
std::string verdict(const Matrix& matrix, int row, int column, int box_rows, int box_columns, bool swizzled) {
  const std::vector<float> got = matrix.box(row, column, box_rows, box_columns, swizzled),
                           right = matrix.expected(row, column, box_rows, box_columns, swizzled);
  return judged("box", got.data(), static_cast<int>(got.size()), [&](int i) { return right[i]; });
}

#define NEEDS_THE_COPY_ENGINE(matrix) \
  if (!matrix.can_fetch()) SKIP_TEST("copies of boxes need compute capability 9.0")

}  // namespace

TEST_CASE("a square box of a square matrix") {
  const Matrix matrix(64, 64, 64);
  NEEDS_THE_COPY_ENGINE(matrix);
  CHECK(verdict(matrix, 16, 32, 16, 16, false) == kAllRight);
}

TEST_CASE("a matrix that is not square") {
  const Matrix matrix(20, 96, 96);
  NEEDS_THE_COPY_ENGINE(matrix);
  CHECK(verdict(matrix, 4, 64, 16, 16, false) == kAllRight);
}

TEST_CASE("a box that is not square") {
  const Matrix matrix(64, 64, 64);
  NEEDS_THE_COPY_ENGINE(matrix);
  CHECK(verdict(matrix, 8, 8, 4, 32, false) == kAllRight);
  CHECK(verdict(matrix, 8, 8, 32, 4, false) == kAllRight);
}

TEST_CASE("rows that are farther apart than they are long") {
  const Matrix matrix(32, 50, 64);
  NEEDS_THE_COPY_ENGINE(matrix);
  CHECK(verdict(matrix, 8, 16, 16, 16, false) == kAllRight);
}

TEST_CASE("what is outside of the matrix becomes 0") {
  const Matrix matrix(30, 50, 64);
  NEEDS_THE_COPY_ENGINE(matrix);
  CHECK(verdict(matrix, 20, 40, 16, 16, false) == kAllRight);
  CHECK(verdict(matrix, -8, -4, 16, 16, false) == kAllRight);
}

TEST_CASE("a swizzled box") {
  const Matrix matrix(64, 64, 64);
  NEEDS_THE_COPY_ENGINE(matrix);
  CHECK(verdict(matrix, 8, 32, 16, 32, true) == kAllRight);
}

TEST_CASE("what no map can be is refused") {
  const Matrix matrix(64, 64, 64);
  NEEDS_THE_COPY_ENGINE(matrix);
  CUtensorMap map;
  // Rows must begin at multiples of sixteen bytes; a swizzled box's rows are at most 128 bytes long.
  CHECK(describe(&map, matrix.memory.address, 16, 16, 4 * 17, 16, 16, false) == CUDA_ERROR_INVALID_VALUE);
  CHECK(describe(&map, matrix.memory.address, 64, 64, 4 * 64, 8, 64, true) == CUDA_ERROR_INVALID_VALUE);
}
