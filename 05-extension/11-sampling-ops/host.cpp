// The ops on the CPU: loops over the functions that the kernels consist of, and NMS as its definition says. Python
// calls them through a C interface.
#include "05-extension/11-sampling-ops/ops.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace sampling_ops;

namespace {

// A team of one worker, and no other worker adds to the same sum.
struct Alone {
  static constexpr int lane = 0, size = 1;

  template <class W>
  static void add(W* sum, W value) {
    *sum += value;
  }
  template <class W>
  static W total(W value) {
    return value;
  }
};

// A box is left, top, right, bottom, and the boxes are sorted, best first. Writes the numbers of the boxes that are
// kept and returns how many they are.
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

#define LOOP(name, Op, T)                                \
  void name##_##T(const Op<T>* op, Index count) {        \
    for (Index i = 0; i < count; ++i) (*op)(i, Alone()); \
  }
EACH_OP(LOOP, float)
EACH_OP(LOOP, double)
EACH_OP_OF_A_WARP(LOOP, float)
EACH_OP_OF_A_WARP(LOOP, double)

Index nms_float(const float* boxes, Index count, double threshold, Index* kept) {
  return nms(boxes, count, static_cast<float>(threshold), kept);
}

Index nms_double(const double* boxes, Index count, double threshold, Index* kept) {
  return nms(boxes, count, threshold, kept);
}

// Scans the mask of kernels.cu on the host, as torchvision did before version 0.21.
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

// The offsets of all members in bytes, and kChannels. Python defines the same structs and compares.
const char* layouts() {
#define AT(member) +#member + " " + std::to_string(offsetof(S, member)) + ", "
#define LAYOUT(Struct, members)                                                              \
  {                                                                                          \
    using S = Struct<float>;                                                                 \
    told += std::string(#Struct) + ": " members + "end " + std::to_string(sizeof(S)) + "\n"; \
  }
  static const std::string text = [] {
    std::string told;
    LAYOUT(RoiAlign, AT(boxes) AT(images) AT(channels) AT(height) AT(width) AT(rows) AT(columns) AT(samples) AT(aligned)
                         AT(scale))
    LAYOUT(Taps, AT(input) AT(offsets) AT(mask) AT(images) AT(channels) AT(height) AT(width) AT(groups)
                     AT(kernel_height) AT(kernel_width) AT(out_height) AT(out_width) AT(stride_y) AT(stride_x)
                         AT(padding_y) AT(padding_x) AT(dilation_y) AT(dilation_x))
    LAYOUT(Attention, AT(value) AT(locations) AT(weights) AT(images) AT(pixels) AT(queries) AT(heads) AT(channels)
                          AT(levels) AT(points) AT(sizes))
    LAYOUT(RoiAlignForward, AT(input) AT(output) AT(op))
    LAYOUT(RoiAlignBackward, AT(gradient) AT(input_gradient) AT(op))
    LAYOUT(DeformColumns, AT(columns) AT(op))
    LAYOUT(DeformBackward,
           AT(column_gradient) AT(columns) AT(input_gradient) AT(offset_gradient) AT(mask_gradient) AT(op))
    LAYOUT(AttentionForward, AT(output) AT(op))
    LAYOUT(AttentionBackward, AT(gradient) AT(value_gradient) AT(location_gradient) AT(weight_gradient) AT(op))
    return told + "channels at once: " + std::to_string(kChannels) + "\n";
  }();
  return text.c_str();
}

}  // extern "C"
