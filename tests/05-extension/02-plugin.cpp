// Judges backward_columns(): launches it and computes the same on the host.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <vector>

namespace {

using Floats = std::vector<float>;

// Small whole numbers, whose sums are exact in any order.
struct Op {
  static constexpr unsigned spare = 512;
  static constexpr float untouched = -7;

  unsigned rows, columns, count;
  cu::Context context;
  cu::Module module{cu::image("exercise.ptx")};
  Floats x, g, dx, db;

  Op() : Op(311, 12) {}  // not multiples of the size of a block or a warp

  Op(unsigned of_rows, unsigned of_columns) : rows(of_rows), columns(of_columns), count(rows * columns) {
    for (unsigned i = 0; i < count; ++i) {
      x.push_back(static_cast<float>(i % 13) - 6);
      g.push_back(static_cast<float>(i % 7) - 2);
    }
    // All arrays are longer than the length that the op receives, so that an extra thread does no harm but is detected.
    const Floats padding(spare, 1.0f);
    Floats x_padded = x, g_padded = g, dx_before(count + spare, untouched), db_before(columns + spare, untouched);
    x_padded.insert(x_padded.end(), padding.begin(), padding.end());
    g_padded.insert(g_padded.end(), padding.begin(), padding.end());
    std::fill_n(db_before.begin(), columns, 0.0f);

    cu::Memory device_x(bytes(x_padded)), device_g(bytes(g_padded)), device_dx(bytes(dx_before)),
        device_db(bytes(db_before));
    CU_THROW(cuMemcpyHtoD(device_x.address, x_padded.data(), bytes(x_padded)));
    CU_THROW(cuMemcpyHtoD(device_g.address, g_padded.data(), bytes(g_padded)));
    CU_THROW(cuMemcpyHtoD(device_dx.address, dx_before.data(), bytes(dx_before)));
    CU_THROW(cuMemcpyHtoD(device_db.address, db_before.data(), bytes(db_before)));
    unsigned width = columns, elements = count;
    void* arguments[] = {&device_x.address, &device_g.address, &device_dx.address, &device_db.address, &width,
                         &elements};
    const CUfunction kernel = module.function("backward_columns");
    CU_THROW(cuLaunchKernel(kernel, (count + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    CU_THROW(cuCtxSynchronize());
    dx.resize(dx_before.size());
    db.resize(db_before.size());
    CU_THROW(cuMemcpyDtoH(dx.data(), device_dx.address, bytes(dx)));
    CU_THROW(cuMemcpyDtoH(db.data(), device_db.address, bytes(db)));
  }

  static std::size_t bytes(const Floats& numbers) { return numbers.size() * sizeof(float); }
};

}  // namespace

TEST_CASE_METHOD(Op, "dx is 2 x g") {
  for (unsigned i = 0; i < count; ++i) {
    CAPTURE(i, x[i], g[i]);
    REQUIRE(dx[i] == 2 * x[i] * g[i]);
  }
}

TEST_CASE_METHOD(Op, "db is the sum of g over each column") {
  for (unsigned c = 0; c < columns; ++c) {
    float sum = 0;
    for (unsigned r = 0; r < rows; ++r) sum += g[r * columns + c];
    CAPTURE(c);
    REQUIRE(db[c] == sum);
  }
}

TEST_CASE("there may be more columns than a block has threads") {
  const Op wide(5, 1000);
  for (unsigned c = 0; c < wide.columns; ++c) {
    float sum = 0;
    for (unsigned r = 0; r < wide.rows; ++r) sum += wide.g[r * wide.columns + c];
    CAPTURE(c);
    REQUIRE(wide.db[c] == sum);
  }
}

TEST_CASE_METHOD(Op, "nothing past the last element is touched") {
  for (unsigned i = count; i < dx.size(); ++i) REQUIRE(dx[i] == untouched);
  for (unsigned c = columns; c < db.size(); ++c) REQUIRE(db[c] == untouched);
}
