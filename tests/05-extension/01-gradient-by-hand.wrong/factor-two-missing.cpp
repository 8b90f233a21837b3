// Rejected with: "dx is the slope that central differences find"
// The derivative of a square is twice its base. Training still converges with half of it, so the mistake goes
// unnoticed.
#include <vector>

using Numbers = std::vector<double>;

struct Gradients {
  Numbers dx, db;
};

Gradients backward(const Numbers& x, const Numbers& b, const Numbers& g) {
  Gradients result{Numbers(x.size()), Numbers(b.size())};
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.dx[i] = (x[i] + b[i % b.size()]) * g[i];
    result.db[i % b.size()] += 2 * result.dx[i];
  }
  return result;
}
