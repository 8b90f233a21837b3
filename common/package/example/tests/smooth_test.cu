// A test in C++: it ends with status 0 if all results are right.
#include "../smooth.cuh"

#include <cmath>
#include <cstdio>

int main() {
  const std::vector<float> x(1000, 3.0f), y = smooth(x);
  int wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const float expected = i == 0 || i + 1 == x.size() ? 2.0f : 3.0f;  // an end has one neighbor
    if (std::abs(y[i] - expected) > 1e-6f) ++wrong;
  }
  std::printf("%d of %zu results are wrong\n", wrong, y.size());
  return wrong == 0 ? 0 : 1;
}
