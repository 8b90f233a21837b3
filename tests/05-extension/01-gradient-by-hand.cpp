// Judges the learner's backward() by comparing it with central differences.
#include "tests/catch.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

using Numbers = std::vector<double>;

struct Gradients {
  Numbers dx, db;
};

Gradients backward(const Numbers& x, const Numbers& b, const Numbers& g);

namespace {

// Three rows of two. The values are irregular, so that two mistakes do not cancel.
struct Op {
  Numbers x = {0.5, -1, 2, 3, -0.25, 1.5}, b = {0.25, -2}, g = {1, -0.5, 2, 0.75, -3, 0.125};

  // A loss whose gradient with respect to y is g.
  double loss() const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double base = x[i] + b[i % b.size()];
      sum += g[i] * base * base;
    }
    return sum;
  }

  double slope(double& value) {
    const double step = 1e-4, kept = value;
    value = kept + step;
    const double above = loss();
    value = kept - step;
    const double below = loss();
    value = kept;
    return (above - below) / (2 * step);
  }
};

bool close(double a, double b) { return std::fabs(a - b) < 1e-6; }

}  // namespace

TEST_CASE_METHOD(Op, "each gradient has the size of its input") {
  const Gradients found = backward(x, b, g);
  CHECK(found.dx.size() == x.size());
  CHECK(found.db.size() == b.size());
}

TEST_CASE_METHOD(Op, "dx is the slope that central differences find") {
  const Gradients found = backward(x, b, g);
  for (std::size_t i = 0; i < found.dx.size(); ++i) {
    const double expected = slope(x[i]);
    CAPTURE(i, expected, found.dx[i]);
    CHECK(close(found.dx[i], expected));
  }
}

TEST_CASE_METHOD(Op, "db is the slope that central differences find, summed over the column") {
  const Gradients found = backward(x, b, g);
  for (std::size_t i = 0; i < found.db.size(); ++i) {
    const double expected = slope(b[i]);
    CAPTURE(i, expected, found.db[i]);
    CHECK(close(found.db[i], expected));
  }
}

TEST_CASE_METHOD(Op, "there may be more columns than rows, a single row, or no rows") {
  for (const Numbers& row : {Numbers{0.25, -2, 1}, Numbers{1, -1, 2, 0.5, -3, 0.75}}) {
    b = row;
    const Gradients found = backward(x, b, g);
    REQUIRE(found.dx.size() == x.size());
    REQUIRE(found.db.size() == b.size());
    CAPTURE(b.size());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(close(found.dx[i], slope(x[i])));
    for (std::size_t i = 0; i < b.size(); ++i) CHECK(close(found.db[i], slope(b[i])));
  }
  const Gradients none = backward({}, {1, 2}, {});
  CHECK(none.dx.empty());
  CHECK(none.db == Numbers{0, 0});
}

TEST_CASE_METHOD(Op, "an incoming gradient of zero makes every gradient zero") {
  const Gradients found = backward(x, b, Numbers(g.size(), 0.0));
  for (double number : found.dx) CHECK(number == 0);
  for (double number : found.db) CHECK(number == 0);
}
