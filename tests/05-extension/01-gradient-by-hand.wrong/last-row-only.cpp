// Rejected with: "db is the slope that central differences find, summed over the column"
// Assigns instead of adding, so only the last row's contribution to db is left.
#include <vector>

using Numbers = std::vector<double>;

struct Gradients {
  Numbers dx, db;
};

Gradients backward(const Numbers& x, const Numbers& b, const Numbers& g) {
  Gradients result{Numbers(x.size()), Numbers(b.size())};
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.dx[i] = 2 * (x[i] + b[i % b.size()]) * g[i];
    result.db[i % b.size()] = result.dx[i];
  }
  return result;
}
