// The ops on the CPU: loops over the functions that the kernels consist of. Python calls them through a C interface.
#include "05-extension/11-sampling-ops/ops.hpp"

#include <cstddef>
#include <string>

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

// Adds 1 instead of a value, so that each sum becomes the number of additions to it.
struct Counting : Alone {
  template <class W>
  static void add(W* sum, W) {
    *sum += 1;
  }
};

}  // namespace

extern "C" {

#define LOOP(name, Op, T)                                \
  void name##_##T(const Op<T>* op, Index count) {        \
    for (Index i = 0; i < count; ++i) (*op)(i, Alone()); \
  }
#define COUNTING_LOOP(name, Op, T)                          \
  void count_##name##_##T(const Op<T>* op, Index count) {   \
    for (Index i = 0; i < count; ++i) (*op)(i, Counting()); \
  }
EACH_OP(LOOP, float)
EACH_OP(LOOP, double)
EACH_OP_OF_A_WARP(LOOP, float)
EACH_OP_OF_A_WARP(LOOP, double)
EACH_OP(COUNTING_LOOP, double)
EACH_OP_OF_A_WARP(COUNTING_LOOP, double)

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
