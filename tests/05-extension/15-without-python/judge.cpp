// Linked with an answer: calls it with the real package, and prints what came of it, one line for each scenario.
#include "05-extension/15-without-python/answer.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::int64_t kLargest = 64;

// The model, and what it was called with.
class Watched : public Model {
 public:
  explicit Watched(Model& model) : model_(model) {}

  Matrix run(const Matrix& x) override {
    ++calls;
    most_rows = std::max(most_rows, x.rows);
    return model_.run(x);
  }
  Matrix replay(const Matrix& captured, const Matrix& x) override { return model_.replay(captured, x); }
  double microseconds(const Matrix& x, int runs) override { return model_.microseconds(x, runs); }

  int calls = 0;
  std::int64_t most_rows = 0;

 private:
  Model& model_;
};

Matrix numbers(std::int64_t rows, std::int64_t columns, int first) {
  Matrix x{rows, columns, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i) x.values.push_back(static_cast<float>(first + i % 50));
  return x;
}

bool equal(const Matrix& a, const Matrix& b) {
  return a.rows == b.rows && a.columns == b.columns &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](float left, float right) { return left - right < 1e-4f && right - left < 1e-4f; });
}

// Prints for one group of requests: calls, rows of the largest call, and for each request right, wrong or error.
void judge(const char* name, Model& model, const std::vector<Matrix>& requests) {
  Watched watched(model);
  std::string outcomes;
  try {
    const std::vector<Reply> replies = answer(watched, requests, kLargest);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (i >= replies.size()) {
        outcomes += " missing";
      } else if (!replies[i].error.empty()) {
        outcomes += " error";
      } else if (requests[i].columns != 4 || requests[i].rows > kLargest) {
        outcomes += replies[i].y.rows == requests[i].rows ? " rows" : " wrong";
      } else {
        outcomes += equal(replies[i].y, model.run(requests[i])) ? " right" : " wrong";
      }
    }
    if (replies.size() > requests.size()) outcomes += " more";
  } catch (const std::exception& error) {
    outcomes = " exception";
  }
  std::printf("%s %d %lld%s\n", name, watched.calls, static_cast<long long>(watched.most_rows), outcomes.c_str());
}

// One request's rows must be the same whether the answer splits the request or the client does.
void judge_split(Model& model) {
  const Matrix x = numbers(150, 4, 3);
  Matrix expected{150, 3, {}};
  for (std::int64_t begin = 0; begin < 150; begin += 50) {
    const Matrix part = {50, 4, {x.values.begin() + begin * 4, x.values.begin() + (begin + 50) * 4}};
    const Matrix y = model.run(part);
    expected.values.insert(expected.values.end(), y.values.begin(), y.values.end());
  }
  Watched watched(model);
  std::string outcome = "exception";
  try {
    const std::vector<Reply> replies = answer(watched, {x}, kLargest);
    outcome = replies.size() == 1 && replies[0].error.empty() && equal(replies[0].y, expected) ? "right" : "wrong";
  } catch (const std::exception&) {
  }
  std::printf("split %d %lld %s\n", watched.calls, static_cast<long long>(watched.most_rows), outcome.c_str());
}

}  // namespace

extern "C" int judge(const char* library, const char* package) {
  setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);
  // Not RTLD_GLOBAL: if the library contains the C++ library itself, PyTorch would call that copy, and crash in Python.
  if (!dlopen(library, RTLD_NOW)) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const std::unique_ptr<Model> model = load(package, "cpu");
  judge("one", *model, {numbers(3, 4, 0)});
  judge("several", *model, {numbers(1, 4, 0), numbers(7, 4, 10), numbers(20, 4, 20), numbers(2, 4, 30)});
  judge("full", *model, {numbers(40, 4, 0), numbers(24, 4, 7), numbers(1, 4, 9)});
  judge("many", *model, {numbers(40, 4, 0), numbers(40, 4, 7), numbers(40, 4, 9)});
  judge("bad", *model, {numbers(2, 4, 0), numbers(3, 5, 0), numbers(4, 4, 5), numbers(1, 3, 0), numbers(5, 4, 9)});
  judge("none", *model, {});
  judge_split(*model);
  std::fflush(stdout);
  return 0;
}
