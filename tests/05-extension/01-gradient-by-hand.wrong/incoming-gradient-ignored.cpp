// Rejected with: "an incoming gradient of zero makes every gradient zero"
// Computes dy/dx and forgets the other factor of the chain rule, g.
#include <vector>

using Numbers = std::vector<double>;

struct Gradients {
  Numbers dx, db;
};

Gradients backward(const Numbers& x, const Numbers& b, const Numbers&) {
  Gradients result{Numbers(x.size()), Numbers(b.size())};
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.dx[i] = 2 * (x[i] + b[i % b.size()]);
    result.db[i % b.size()] += result.dx[i];
  }
  return result;
}
