// The ops on the CPU: loops over the functions that the kernels are made of, and NMS as it is written in papers. A C
// interface for Python.
// A loop has nobody beside it.
template <class W>
void add(W* sum, W value) {
  *sum += value;
}

#include "05-extension/07-real-ops/ops.hpp"

#include <algorithm>
#include <vector>

using namespace real_ops;

namespace {

// A box is left, top, right, bottom; the best come first. Returns how many stay; kept: their places in `boxes`.
template <class T>
Index nms(const T* boxes, Index count, T threshold, Index* kept) {
  const auto area = [&](const T* box) { return (box[2] - box[0]) * (box[3] - box[1]); };
  std::vector<bool> removed(count);
  Index total = 0;
  for (Index i = 0; i < count; ++i) {
    if (removed[i]) continue;
    kept[total++] = i;
    const T* a = boxes + 4 * i;
    for (Index j = i + 1; j < count; ++j) {
      const T* b = boxes + 4 * j;
      const T across = std::min(a[2], b[2]) - std::max(a[0], b[0]), down = std::min(a[3], b[3]) - std::max(a[1], b[1]);
      const T shared = std::max(across, T(0)) * std::max(down, T(0));
      if (shared / (area(a) + area(b) - shared) > threshold) removed[j] = true;
    }
  }
  return total;
}

}  // namespace

extern "C" {

#define LOOP(name, Op, T)                         \
  void name##_##T(const Op<T>* op, Index count) { \
    for (Index i = 0; i < count; ++i) (*op)(i);   \
  }
EACH_OP(LOOP, float)
EACH_OP(LOOP, double)

Index nms_float(const float* boxes, Index count, double threshold, Index* kept) {
  return nms(boxes, count, static_cast<float>(threshold), kept);
}

Index nms_double(const double* boxes, Index count, double threshold, Index* kept) {
  return nms(boxes, count, threshold, kept);
}

// From the mask of kernels.cu: what torchvision did on the CPU for years.
Index nms_scan(const unsigned long long* mask, Index count, Index* kept) {
  const Index tiles = (count + 63) / 64;
  std::vector<unsigned long long> removed(tiles);
  Index total = 0;
  for (Index i = 0; i < count; ++i) {
    if (removed[i / 64] >> (i % 64) & 1) continue;
    kept[total++] = i;
    for (Index t = i / 64; t < tiles; ++t) removed[t] |= mask[i * tiles + t];
  }
  return total;
}

}  // extern "C"
