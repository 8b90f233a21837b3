// Write the backward pass of another op: y = (x + b)², where b is a row that is added to every row of x.
#include <vector>

using Numbers = std::vector<double>;

struct Gradients {
  Numbers dx;  // of the same size as x
  Numbers db;  // of the same size as b
};

// Forward: y[r * columns + c] = (x[r * columns + c] + b[c])², with columns = b.size().
// g[i] is dL/dy[i]. Returns dL/dx and dL/db.
Gradients backward(const Numbers& x, const Numbers& b, const Numbers& g) {
  Gradients result{Numbers(x.size()), Numbers(b.size())};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t column = i % b.size();
    result.dx[i] = 2 * (x[i] + b[column]) * g[i];
    result.db[column] += result.dx[i];
  }
  return result;
}
