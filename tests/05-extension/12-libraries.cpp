// Judges multiply() and linear() with a plain product that has cublasSgemm's interface and refuses what cublasSgemm
// refuses, then with cuBLAS itself where it works.
#include "05-extension/12-libraries/libraries.hpp"
#include "05-extension/12-libraries/references.hpp"
#include "tests/catch.hpp"

#include <limits>

struct Matrix {
  float* data;
  int rows, columns, stride;
};

int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c);
int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y);

namespace {

constexpr int kInvalidValue = 7;  // CUBLAS_STATUS_INVALID_VALUE
constexpr int kFailed = 13;       // CUBLAS_STATUS_EXECUTION_FAILED
constexpr float kUntouched = -7;  // between the rows of a result

// The stand-in's handle points to this.
struct Calls {
  int count = 0;
  int result = 0;
};

// Computes what cublasSgemm's manual defines, number by number.
int stand_in(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a, int lda,
             const float* b, int ldb, const float* beta, float* c, int ldc) {
  auto& calls = *static_cast<Calls*>(handle);
  ++calls.count;
  if (calls.result != 0) return calls.result;
  if (op_a < 0 || op_a > 1 || op_b < 0 || op_b > 1 || m < 0 || n < 0 || k < 0 || alpha == nullptr || beta == nullptr ||
      lda < std::max(1, op_a ? k : m) || ldb < std::max(1, op_b ? n : k) || ldc < std::max(1, m)) {
    return kInvalidValue;
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += (op_a ? a[l + i * lda] : a[i + l * lda]) * (op_b ? b[j + l * ldb] : b[l + j * ldb]);
      c[i + j * ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * ldc]);  // with beta = 0, c is not read
    }
  }
  return 0;
}

// Rows of small integers, `stride` apart, with room after them to detect out-of-bounds writes.
struct Rows {
  int rows, columns, stride;
  Floats all;

  Rows(int r, int c, int s, int seed) : rows(r), columns(c), stride(s), all(4096, kUntouched) {
    for (int i = 0; i < r * c; ++i) all[i / c * s + i % c] = static_cast<float>((i * 7 + seed) % 11 - 5);
  }
  Matrix matrix() { return {all.data(), rows, columns, stride}; }
  float at(int row, int column) const { return all[row * stride + column]; }
};

// c = a b, or a w' if `transposed`: every number right, and nothing else touched.
void expect_product(const Rows& a, const Rows& b, const Floats& c, int rows, int columns, int stride, bool transposed) {
  for (int i = 0; i < static_cast<int>(c.size()); ++i) {
    const int row = i / stride, column = i % stride;
    float wanted = kUntouched;
    if (row < rows && column < columns) {
      wanted = 0;
      for (int k = 0; k < a.columns; ++k) wanted += a.at(row, k) * (transposed ? b.at(column, k) : b.at(k, column));
    }
    CAPTURE(row, column);
    REQUIRE(c[i] == wanted);
  }
}

// Both functions take the same matrices, except that the rows of the second are the columns of the product.
struct Shape {
  int m, n, k;
  int gap = 0;  // between the rows of all three
};

void try_multiply(const Shape& s, float before = 0) {
  Rows a(s.m, s.k, s.k + s.gap, 1), b(s.k, s.n, s.n + 2 * s.gap, 3), c(s.m, s.n, s.n + 3 * s.gap, 0);
  for (int i = 0; i < s.m * s.n; ++i) c.all[i / s.n * c.stride + i % s.n] = before;
  Calls calls;
  REQUIRE(multiply(stand_in, &calls, a.matrix(), b.matrix(), c.matrix()) == 0);
  expect_product(a, b, c.all, s.m, s.n, c.stride, false);
  CHECK(calls.count == 1);
}

void try_linear(const Shape& s, float before = 0) {
  Rows x(s.m, s.k, s.k + s.gap, 1), w(s.n, s.k, s.k + 2 * s.gap, 3), y(s.m, s.n, s.n + 3 * s.gap, 0);
  for (int i = 0; i < s.m * s.n; ++i) y.all[i / s.n * y.stride + i % s.n] = before;
  Calls calls;
  REQUIRE(linear(stand_in, &calls, x.matrix(), w.matrix(), y.matrix()) == 0);
  expect_product(x, w, y.all, s.m, s.n, y.stride, true);
  CHECK(calls.count == 1);
}

}  // namespace

TEST_CASE("a product of square matrices") { try_multiply({6, 6, 6}); }

TEST_CASE("a product of matrices that are not square") {
  try_multiply({5, 9, 3});
  try_multiply({9, 2, 17});
  try_multiply({1, 8, 4});
}

TEST_CASE("rows with a stride larger than their length") { try_multiply({5, 9, 3, 4}); }

TEST_CASE("the old contents of the result do not matter") {
  try_multiply({4, 6, 5}, std::numeric_limits<float>::quiet_NaN());
  try_linear({4, 6, 5}, std::numeric_limits<float>::quiet_NaN());
}

TEST_CASE("a linear layer uses its weights transposed, without a copy") {
  try_linear({6, 6, 6});
  try_linear({5, 9, 3});
  try_linear({1, 2, 17});
}

TEST_CASE("a linear layer with a larger stride") { try_linear({5, 9, 3, 4}); }

TEST_CASE("the library's error code is returned") {
  Rows a(2, 2, 2, 1), b(2, 2, 2, 3), c(2, 2, 2, 0);
  Calls calls{0, kFailed};
  CHECK(multiply(stand_in, &calls, a.matrix(), b.matrix(), c.matrix()) == kFailed);
  CHECK(linear(stand_in, &calls, a.matrix(), b.matrix(), c.matrix()) == kFailed);
}

TEST_CASE("cuBLAS accepts the calls") {
  cu::Context context;
  cu::Stream stream;
  void* handle = nullptr;
  try {
    const Cublas lib;
    start("cublasCreate", lib.cublasCreate(&handle));
    REQUIRE(lib.cublasSetStream(handle, stream.handle) == 0);
    const Rows a(5, 3, 3, 1), b(3, 9, 9, 3), w(9, 3, 3, 3);
    const std::size_t bytes = a.all.size() * sizeof(float);
    const Floats untouched(a.all.size(), kUntouched);
    cu::Memory first(bytes), second(bytes), result(bytes);
    const auto there = [](const cu::Memory& memory) { return reinterpret_cast<float*>(memory.address); };
    Floats back(a.all.size());
    for (const bool transposed : {false, true}) {
      CU_THROW(cuMemcpyHtoD(first.address, a.all.data(), bytes));
      CU_THROW(cuMemcpyHtoD(second.address, (transposed ? w : b).all.data(), bytes));
      CU_THROW(cuMemcpyHtoD(result.address, untouched.data(), bytes));
      const Matrix left{there(first), 5, 3, 3}, product{there(result), 5, 9, 9};
      const Matrix right = transposed ? Matrix{there(second), 9, 3, 3} : Matrix{there(second), 3, 9, 9};
      REQUIRE((transposed ? linear : multiply)(lib.cublasSgemm, handle, left, right, product) == 0);
      CU_THROW(cuStreamSynchronize(stream.handle));
      CU_THROW(cuMemcpyDtoH(back.data(), result.address, bytes));
      expect_product(a, transposed ? w : b, back, 5, 9, 9, transposed);
    }
    CHECK(lib.cublasDestroy(handle) == 0);
  } catch (const Unusable& reason) {
    SKIP_TEST(reason.what());
  }
}
