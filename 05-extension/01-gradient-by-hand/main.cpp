// Computes y = x² + b and its gradients by hand, and compares the gradients with finite differences.
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

using Numbers = std::vector<double>;

// y[i] = x[i]² + b, with the same b for every element.
Numbers forward(const Numbers& x, double b) {
  Numbers y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i] + b;
  return y;
}

struct Gradients {
  Numbers dx;
  double db;
};

// g[i] is dL/dy[i], which comes from the code that used y. dx[i] is dL/dx[i], and db is dL/db.
Gradients backward(const Numbers& x, const Numbers& g) {
  Gradients result{Numbers(x.size()), 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.dx[i] = 2 * x[i] * g[i];
    result.db += g[i];
  }
  return result;
}

// Half the sum of squares, so that dL/dy[i] is y[i].
double loss(const Numbers& y) {
  double sum = 0;
  for (double number : y) sum += number * number / 2;
  return sum;
}

// The slope of f at `value`, computed from two results of f. `value` has its old value afterwards.
double one_sided(const std::function<double()>& f, double& value, double step) {
  const double kept = value, here = f();
  value = kept + step;
  const double above = f();
  value = kept;
  return (above - here) / step;
}

double central(const std::function<double()>& f, double& value, double step) {
  const double kept = value;
  value = kept + step;
  const double above = f();
  value = kept - step;
  const double below = f();
  value = kept;
  return (above - below) / (2 * step);
}

double relative_error(double found, double right) { return std::fabs(found - right) / std::fabs(right); }

int main() {
  Numbers x = {0.5, -1, 2, 3};
  double b = 0.25;
  const auto L = [&] { return loss(forward(x, b)); };
  const Gradients gradients = backward(x, forward(x, b));

  bool right = true;
  const auto compare = [&](const char* what, double by_hand, double& value) {
    const double measured = central(L, value, 1e-5);
    const bool agrees = relative_error(measured, by_hand) < 1e-8;
    std::printf("%-8s | %8.4f | %8.4f    | %s\n", what, by_hand, measured, agrees ? "agrees" : "WRONG");
    right = right && agrees;
  };
  std::printf("gradient | by hand  | by differences\n");
  compare("dL/dx[0]", gradients.dx[0], x[0]);
  compare("dL/dx[1]", gradients.dx[1], x[1]);
  compare("dL/dx[2]", gradients.dx[2], x[2]);
  compare("dL/dx[3]", gradients.dx[3], x[3]);
  compare("dL/db", gradients.db, b);

  std::printf("\nrelative error of the slope, for x[3]\nstep  | one-sided | central\n");
  for (double step : {1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11}) {
    std::printf("%.0e | %.0e     | %.0e\n", step, relative_error(one_sided(L, x[3], step), gradients.dx[3]),
                relative_error(central(L, x[3], step), gradients.dx[3]));
  }
  return right ? 0 : 1;
}
