// A compiled model, as the rest of the server sees it. PyTorch's headers are included in model.cpp only: they take the
// compiler ten seconds.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;  // row by row
};

// If a function of a model fails, it throws an exception that is derived from std::exception.
class Model {
 public:
  virtual ~Model() = default;
  virtual Matrix run(const Matrix& x) = 0;

  // Captures a run on `captured` in a CUDA graph, and replays the graph after x has taken the place of `captured`.
  virtual Matrix replay(const Matrix& captured, const Matrix& x) = 0;
  // The mean time of a run, without the copies from and to vectors.
  virtual double microseconds(const Matrix& x, int runs) = 0;
};

// The package must have been compiled for this device, "cpu" or "cuda".
std::unique_ptr<Model> load(const std::string& package, const std::string& device);

// The dispatch keys for which this process has an implementation of an op.
std::vector<std::string> dispatch_keys(const std::string& op);

// The first line of an error message. The other lines list the functions that were running.
std::string reason(const std::exception& error);
