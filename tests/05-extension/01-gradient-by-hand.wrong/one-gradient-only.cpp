// Rejected with: "each gradient has the size of its input"
// "return a, b;" returns b: the comma operator evaluates both sides and drops the first. Compilers need not warn.
#include <vector>

using Numbers = std::vector<double>;

struct Gradients {
  Numbers dx, db;
};

Gradients of_x(const Numbers& x, const Numbers& b, const Numbers& g) {
  Gradients result;
  for (std::size_t i = 0; i < x.size(); ++i) result.dx.push_back(2 * (x[i] + b[i % b.size()]) * g[i]);
  return result;
}

Gradients of_b(const Numbers& x, const Numbers& b, const Numbers& g) {
  Gradients result;
  result.db.resize(b.size());
  for (std::size_t i = 0; i < x.size(); ++i) result.db[i % b.size()] += 2 * (x[i] + b[i % b.size()]) * g[i];
  return result;
}

Gradients backward(const Numbers& x, const Numbers& b, const Numbers& g) { return of_x(x, b, g), of_b(x, b, g); }
