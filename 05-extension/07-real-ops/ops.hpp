// ROIAlign and modulated deformable convolution as functions of one index: a CPU calls them in a loop, a GPU gives each
// index to a thread. What an op reads from four pixels, its backward sends to the same four: both ask the same function
// for them.
//
// An op is called as op(i, add). How add(sum, value) adds, the caller says: in a kernel, others may be adding to the same
// sum.
#pragma once
#ifdef __CUDACC__
#include <cuda_fp16.h>
#define HERE __device__
#else
#include <cmath>
#define HERE
#endif

namespace real_ops {

using Index = long long;

// What is computed in: half numbers are read and written, but not added up.
template <class T>
struct WideOf {
  using type = T;
};
#ifdef __CUDACC__
template <>
struct WideOf<half> {
  using type = float;
};
#endif
template <class T>
using Wide = typename WideOf<T>::type;

// The four pixels around a point: where they lie, what each weighs, and how the weight changes as the point moves. A
// pixel outside of the image weighs nothing.
template <class W>
struct Corners {
  int at[4] = {};
  W weight[4] = {}, by_y[4] = {}, by_x[4] = {};

  HERE Corners(W y, W x, int height, int width) {
    if (!(y >= -1 && y < height && x >= -1 && x < width)) return;  // far away, or not a number
    const int top = static_cast<int>(floor(y)), left = static_cast<int>(floor(x));
    const W down = y - top, right = x - left;
    for (int i = 0; i < 4; ++i) {
      const int lower = i / 2, on_right = i % 2, row = top + lower, column = left + on_right;
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const W of_row = lower ? down : 1 - down, of_column = on_right ? right : 1 - right;
      at[i] = row * width + column;
      weight[i] = of_row * of_column;
      by_y[i] = lower ? of_column : -of_column;
      by_x[i] = on_right ? of_row : -of_row;
    }
  }
};

// ---- ROIAlign: a box of any size, averaged into a grid of bins ------------------------------------------------------

// Index: (box, channel, bin's row, bin's column). A box is image, left, top, right, bottom.
template <class T>
struct RoiAlign {
  using W = Wide<T>;
  const T* boxes;
  int channels, height, width, rows, columns, samples, aligned;
  double scale;

  // Calls f(pixel's index in the input, weight) for all that bin i is made of.
  template <class F>
  HERE void each_pixel(Index i, F f) const {
    const int column = i % columns, row = i / columns % rows, channel = i / columns / rows % channels;
    const T* box = boxes + 5 * (i / columns / rows / channels);
    const W factor = static_cast<W>(scale), half_pixel = aligned ? W(0.5) : W(0);
    const W left = W(box[1]) * factor - half_pixel, top = W(box[2]) * factor - half_pixel;
    W box_width = W(box[3]) * factor - half_pixel - left, box_height = W(box[4]) * factor - half_pixel - top;
    if (!aligned) {  // the older rule: no box is smaller than a pixel
      box_width = box_width > 1 ? box_width : 1;
      box_height = box_height > 1 ? box_height : 1;
    }
    const W bin_height = box_height / rows, bin_width = box_width / columns;
    const int down = samples > 0 ? samples : static_cast<int>(ceil(bin_height));
    const int across = samples > 0 ? samples : static_cast<int>(ceil(bin_width));
    const W share = W(1) / (down * across > 1 ? down * across : 1);
    const Index plane = (static_cast<Index>(box[0]) * channels + channel) * height * width;
    for (int a = 0; a < down; ++a) {
      for (int b = 0; b < across; ++b) {
        W y = top + row * bin_height + (a + W(0.5)) * bin_height / down;
        W x = left + column * bin_width + (b + W(0.5)) * bin_width / across;
        if (!(y >= -1 && y <= height && x >= -1 && x <= width)) continue;
        y = y < 0 ? 0 : y > height - 1 ? height - 1 : y;  // just outside counts as the edge
        x = x < 0 ? 0 : x > width - 1 ? width - 1 : x;
        const Corners<W> corners(y, x, height, width);
        for (int k = 0; k < 4; ++k) {
          if (corners.weight[k] != 0) f(plane + corners.at[k], corners.weight[k] * share);
        }
      }
    }
  }
};

template <class T>
struct RoiAlignForward {
  const T* input;
  T* output;
  RoiAlign<T> op;

  template <class Add>
  HERE void operator()(Index i, Add) const {
    Wide<T> sum = 0;
    op.each_pixel(i, [&](Index pixel, Wide<T> weight) { sum += weight * Wide<T>(input[pixel]); });
    output[i] = T(sum);
  }
};

// The arrows turned round. Boxes overlap, and so many bins add to one pixel.
template <class T>
struct RoiAlignBackward {
  const T* gradient;
  Wide<T>* input_gradient;  // zero at the start
  RoiAlign<T> op;

  template <class Add>
  HERE void operator()(Index i, Add add) const {
    const Wide<T> arrived = gradient[i];
    op.each_pixel(i, [&](Index pixel, Wide<T> weight) { add(&input_gradient[pixel], weight * arrived); });
  }
};

// ---- Modulated deformable convolution: each tap of the filter looks where an offset sends it ------------------------

// What the filter's taps see. Its columns, times the filter as a matrix, are the convolution, and PyTorch multiplies
// matrices.
template <class T>
struct Taps {
  using W = Wide<T>;
  const T *input, *offsets, *mask;  // mask: may be null, all one
  int images, channels, height, width, groups, kernel_height, kernel_width, out_height, out_width;
  int stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;

  HERE int taps() const { return kernel_height * kernel_width; }
  HERE Index positions() const { return Index(out_height) * out_width; }

  // Where an element of offsets' [image][group][tap][position] points, and how much of it is taken.
  struct Look {
    Index offset, mask;  // of the vertical offset, in offsets; the horizontal one comes `positions` later
    W y, x, share;
  };

  HERE Look look(int image, int group, int tap, Index position) const {
    Look to;
    to.mask = ((Index(image) * groups + group) * taps() + tap) * positions() + position;
    to.offset = 2 * (to.mask - position) + position;
    to.y = static_cast<int>(position / out_width) * stride_y - padding_y + tap / kernel_width * dilation_y +
           W(offsets[to.offset]);
    to.x = static_cast<int>(position % out_width) * stride_x - padding_x + tap % kernel_width * dilation_x +
           W(offsets[to.offset + positions()]);
    to.share = mask ? W(mask[to.mask]) : W(1);
    return to;
  }

  // Element i of the columns, [channel][tap][image][position].
  struct Column {
    int channel, tap, image;
    Index position;
  };

  HERE Column column(Index i) const {
    const Index row = i / positions() / images;
    return {static_cast<int>(row / taps()), static_cast<int>(row % taps()), static_cast<int>(i / positions() % images),
            i % positions()};
  }

  HERE Index index(const Column& c) const {
    return ((Index(c.channel) * taps() + c.tap) * images + c.image) * positions() + c.position;
  }

  HERE Look look(const Column& c) const { return look(c.image, c.channel / (channels / groups), c.tap, c.position); }
  HERE Index plane(int image, int channel) const { return (Index(image) * channels + channel) * height * width; }
};

template <class T>
struct DeformColumns {
  T* columns;
  Taps<T> op;

  template <class Add>
  HERE void operator()(Index i, Add) const {
    const auto c = op.column(i);
    const auto to = op.look(c);
    const Corners<Wide<T>> corners(to.y, to.x, op.height, op.width);
    const T* plane = op.input + op.plane(c.image, c.channel);
    Wide<T> seen = 0;
    for (int k = 0; k < 4; ++k) seen += corners.weight[k] * Wide<T>(plane[corners.at[k]]);
    columns[i] = T(to.share * seen);
  }
};

// Gradient of the input: whoever looked at a pixel adds to it.
template <class T>
struct DeformInputGradient {
  const T* column_gradient;
  Wide<T>* input_gradient;  // zero at the start
  Taps<T> op;

  template <class Add>
  HERE void operator()(Index i, Add add) const {
    const auto c = op.column(i);
    const auto to = op.look(c);
    const Corners<Wide<T>> corners(to.y, to.x, op.height, op.width);
    const Wide<T> arrived = to.share * Wide<T>(column_gradient[i]);
    Wide<T>* plane = input_gradient + op.plane(c.image, c.channel);
    for (int k = 0; k < 4; ++k) {
      if (corners.weight[k] != 0) add(&plane[corners.at[k]], corners.weight[k] * arrived);
    }
  }
};

// Gradients of an offset and a mask: one thread for [image][group][tap][position] goes through all channels that they
// served, so that nobody else adds to them.
template <class T>
struct DeformOffsetGradient {
  const T* column_gradient;
  T *offset_gradient, *mask_gradient;  // mask_gradient: null if there is no mask
  Taps<T> op;

  template <class Add>
  HERE void operator()(Index i, Add) const {
    const Index position = i % op.positions();
    const int tap = i / op.positions() % op.taps(), group = i / op.positions() / op.taps() % op.groups;
    const int image = i / op.positions() / op.taps() / op.groups;
    const auto to = op.look(image, group, tap, position);
    const Corners<Wide<T>> corners(to.y, to.x, op.height, op.width);
    const int served = op.channels / op.groups;
    Wide<T> by_y = 0, by_x = 0, by_mask = 0;
    for (int channel = group * served; channel < (group + 1) * served; ++channel) {
      const Wide<T> arrived = column_gradient[op.index({channel, tap, image, position})];
      const T* plane = op.input + op.plane(image, channel);
      for (int k = 0; k < 4; ++k) {
        const Wide<T> pixel = plane[corners.at[k]];
        by_y += arrived * corners.by_y[k] * pixel;
        by_x += arrived * corners.by_x[k] * pixel;
        by_mask += arrived * corners.weight[k] * pixel;
      }
    }
    offset_gradient[to.offset] = T(by_y * to.share);
    offset_gradient[to.offset + op.positions()] = T(by_x * to.share);
    if (mask_gradient) mask_gradient[to.mask] = T(by_mask);
  }
};

}  // namespace real_ops

// EACH_OP(DO) says DO(name, struct) for all of them: kernels.cu and host.cpp make a function of each.
#define EACH_OP(DO, T)                              \
  DO(roi_align_forward, RoiAlignForward, T)         \
  DO(roi_align_backward, RoiAlignBackward, T)       \
  DO(deform_columns, DeformColumns, T)              \
  DO(deform_input_gradient, DeformInputGradient, T) \
  DO(deform_offset_gradient, DeformOffsetGradient, T)
