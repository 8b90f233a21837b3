// ROIAlign, modulated deformable convolution and multi-scale deformable attention as functions of one index. The CPU
// calls them in a loop, and the GPU gives each index to a thread (or to a warp). All of them read an image between its
// pixels, and their backward passes add to the same pixels; Corners computes both.
//
// An op is called as op(i, team). The index's type is unsigned where that suffices, because a GPU divides 64-bit
// numbers slowly. A team is one worker on the CPU, and one thread or one warp on the GPU:
//   team.lane, team.size     which worker this is, and how many of them share index i
//   team.add(sum, value)     adds to memory that other teams may be adding to at the same time
//   team.total(value)        the sum of all workers' values
#pragma once
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define HERE __device__
#else
#include <cmath>
#define HERE
#endif

namespace sampling_ops {

using Index = long long;

// The type of all arithmetic. Values are stored as half or bfloat16, but computed and added up as float.
template <class T>
struct WideOf {
  using type = T;
};
#ifdef __CUDACC__
using bfloat16 = __nv_bfloat16;
template <>
struct WideOf<half> {
  using type = float;
};
template <>
struct WideOf<bfloat16> {
  using type = float;
};
#endif
template <class T>
using Wide = typename WideOf<T>::type;

// How many channels a thread handles in ROIAlign and in a convolution's columns. They share the same four pixels and
// weights, which are computed once.
constexpr int kChannels = 8;
HERE inline int pieces(int channels) { return (channels + kChannels - 1) / kChannels; }
HERE inline int smaller(int a, int b) { return a < b ? a : b; }

// The four pixels around a point: their places, their weights, and the derivatives of the weights with respect to
// the point's coordinates. A pixel outside the image has weight 0.
template <class W>
struct Corners {
  int at[4] = {};
  W weight[4] = {}, by_y[4] = {}, by_x[4] = {};

  HERE Corners(W y, W x, int height, int width) {
    if (!(y >= -1 && y < height && x >= -1 && x < width)) return;  // far outside, or not a number
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

// One side of a box: `bins` bins, each with `samples` points at equal distances. A point lies between two pixels.
template <class W>
struct Side {
  W start, bin;  // in pixels
  int samples, length;

  HERE Side(W low, W high, int bins, int samples_asked, int image, bool aligned) : start(low), length(image) {
    W size = high - low;
    if (!aligned) size = size > 1 ? size : W(1);  // the older rule: no box is smaller than a pixel
    bin = size / bins;
    samples = samples_asked > 0 ? samples_asked : static_cast<int>(ceil(bin));
  }

  // The place of a bin's point, or -1 if it is outside. Just outside counts as the edge.
  HERE W point(int number, int i) const {
    const W at = start + number * bin + (i + W(0.5)) * bin / samples;
    if (!(at >= -1 && at <= length)) return -1;
    return at < 0 ? W(0) : at > length - 1 ? W(length - 1) : at;
  }

  // Calls f(pixel, weight) for every pixel that a bin's points touch. Several points may lie between the same two
  // pixels; their weights are added up first, so that each pixel is read, or added to, only once.
  template <class F>
  HERE void each_pixel(int number, F f) const {
    int pixel = -1;  // the weights collected so far belong to `pixel` and pixel + 1
    W weight = 0, next = 0;
    for (int i = 0; i < samples; ++i) {
      const W at = point(number, i);
      if (at < 0) continue;
      const int low = static_cast<int>(at);
      if (low != pixel) {
        const bool adjacent = low == pixel + 1;
        if (pixel >= 0) f(pixel, weight);
        if (!adjacent && next != 0) f(pixel + 1, next);
        weight = adjacent ? next : W(0);
        next = 0;
        pixel = low;
      }
      weight += 1 - (at - low);
      next += at - low;
    }
    if (pixel >= 0) f(pixel, weight);
    if (next != 0) f(pixel + 1, next);
  }
};

// Index: (box, piece of kChannels channels, bin's row, bin's column). A box is image, left, top, right, bottom.
template <class T>
struct RoiAlign {
  using W = Wide<T>;
  const W* boxes;
  int images, channels, height, width, rows, columns, samples, aligned;
  double scale;

  template <class I>
  HERE int first_channel(I i) const {
    return static_cast<int>(i / columns / rows % pieces(channels)) * kChannels;
  }
  template <class I>
  HERE Index box(I i) const {
    return i / columns / rows / pieces(channels);
  }
  template <class I>
  HERE Index plane(I i) const {  // of the first channel, in the input
    return (static_cast<Index>(boxes[5 * box(i)]) * channels + first_channel(i)) * height * width;
  }
  template <class I>
  HERE Index bin(I i) const {  // of the first channel, in the output
    return (box(i) * channels + first_channel(i)) * rows * columns + i % (rows * columns);
  }

  HERE Side<W> across(Index box) const {
    const W* at = boxes + 5 * box;
    const W factor = static_cast<W>(scale), half_pixel = aligned ? W(0.5) : W(0);
    return {at[1] * factor - half_pixel, at[3] * factor - half_pixel, columns, samples, width, aligned != 0};
  }
  HERE Side<W> down(Index box) const {
    const W* at = boxes + 5 * box;
    const W factor = static_cast<W>(scale), half_pixel = aligned ? W(0.5) : W(0);
    return {at[2] * factor - half_pixel, at[4] * factor - half_pixel, rows, samples, height, aligned != 0};
  }

  // Calls f(pixel, weight) for all pixels that bin i averages.
  template <class I, class F>
  HERE void each_pixel(I i, F f) const {
    const Side<W> across = this->across(box(i)), down = this->down(box(i));
    const int points = across.samples * down.samples;
    const W share = W(1) / (points > 1 ? points : 1);
    down.each_pixel(static_cast<int>(i / columns % rows), [&](int y, W of_row) {
      across.each_pixel(static_cast<int>(i % columns),
                        [&](int x, W of_column) { f(y * width + x, of_row * of_column * share); });
    });
  }
};

template <class T>
struct RoiAlignForward {
  const T* input;
  T* output;
  RoiAlign<T> op;

  template <class I, class Team>
  HERE void operator()(I i, const Team&) const {
    const int count = smaller(kChannels, op.channels - op.first_channel(i));
    const Index plane = Index(op.height) * op.width;
    const T* image = input + op.plane(i);
    Wide<T> sums[kChannels] = {};
    op.each_pixel(i, [&](int pixel, Wide<T> weight) {
      for (int c = 0; c < kChannels; ++c) {
        if (c < count) sums[c] += weight * Wide<T>(image[c * plane + pixel]);
      }
    });
    T* to = output + op.bin(i);
    for (int c = 0; c < kChannels; ++c) {
      if (c < count) to[c * op.rows * op.columns] = T(sums[c]);
    }
  }
};

// The reverse direction. Boxes overlap, so many bins add to the same pixel.
template <class T>
struct RoiAlignBackward {
  const T* gradient;
  Wide<T>* input_gradient;  // zero at the start
  RoiAlign<T> op;

  template <class I, class Team>
  HERE void operator()(I i, const Team& team) const {
    const int count = smaller(kChannels, op.channels - op.first_channel(i));
    const Index plane = Index(op.height) * op.width;
    const T* from = gradient + op.bin(i);
    Wide<T>* image = input_gradient + op.plane(i);
    Wide<T> incoming[kChannels];
    for (int c = 0; c < kChannels; ++c) incoming[c] = c < count ? Wide<T>(from[c * op.rows * op.columns]) : Wide<T>(0);
    op.each_pixel(i, [&](int pixel, Wide<T> weight) {
      for (int c = 0; c < kChannels; ++c) {
        if (c < count) team.add(&image[c * plane + pixel], weight * incoming[c]);
      }
    });
  }
};

// ---- Modulated deformable convolution: an offset moves each tap of the filter ---------------------------------------

// What the filter's taps read. These columns, multiplied by the filter as a matrix, are the convolution; PyTorch
// multiplies the matrices.
template <class T>
struct Taps {
  using W = Wide<T>;
  const T* input;
  const W* offsets;
  const T* mask;  // may be null: all ones
  int images, channels, height, width, groups, kernel_height, kernel_width, out_height, out_width;
  int stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;

  HERE int taps() const { return kernel_height * kernel_width; }
  HERE Index positions() const { return Index(out_height) * out_width; }
  HERE int channels_of_a_group() const { return channels / groups; }
  HERE Index plane(int image, int channel) const { return (Index(image) * channels + channel) * height * width; }

  // The columns are [image][channel][tap][position].
  HERE Index column(int image, int channel, int tap, Index position) const {
    return ((Index(image) * channels + channel) * taps() + tap) * positions() + position;
  }
  HERE Index channel_step() const { return Index(taps()) * positions(); }

  // The point at which a tap reads the image, and the factor by which the mask scales the result.
  struct SamplingPoint {
    Index offset_at, mask_at;  // indices; the vertical offset is at offset_at, the horizontal one positions() later
    W y, x, factor;
  };

  HERE SamplingPoint sampling_point(int image, int group, int tap, Index position) const {
    SamplingPoint point;
    point.mask_at = ((Index(image) * groups + group) * taps() + tap) * positions() + position;
    point.offset_at = 2 * (point.mask_at - position) + position;
    point.y = static_cast<int>(position / out_width) * stride_y - padding_y + tap / kernel_width * dilation_y +
              offsets[point.offset_at];
    point.x = static_cast<int>(position % out_width) * stride_x - padding_x + tap % kernel_width * dilation_x +
              offsets[point.offset_at + positions()];
    point.factor = mask ? W(mask[point.mask_at]) : W(1);
    return point;
  }
};

// Index: (group, piece of kChannels channels, tap, image, position).
template <class T>
struct DeformColumns {
  T* columns;
  Taps<T> op;

  template <class I, class Team>
  HERE void operator()(I i, const Team&) const {
    const I positions = op.positions(), position = i % positions, row = i / positions;
    const int image = row % op.images, tap = row / op.images % op.taps();
    const int piece = row / op.images / op.taps() % pieces(op.channels_of_a_group());
    const int group = row / op.images / op.taps() / pieces(op.channels_of_a_group());
    const int first = group * op.channels_of_a_group() + piece * kChannels;
    const int count = smaller(kChannels, (group + 1) * op.channels_of_a_group() - first);
    const auto point = op.sampling_point(image, group, tap, position);
    const Corners<Wide<T>> corners(point.y, point.x, op.height, op.width);
    const T* plane = op.input + op.plane(image, first);
    T* column = columns + op.column(image, first, tap, position);
    for (int c = 0; c < kChannels; ++c) {
      if (c >= count) break;
      Wide<T> sampled = 0;
      for (int k = 0; k < 4; ++k) sampled += corners.weight[k] * Wide<T>(plane[corners.at[k]]);
      *column = T(point.factor * sampled);
      plane += Index(op.height) * op.width;
      column += op.channel_step();
    }
  }
};

// All gradients that depend on the columns' gradient, in one pass over it. A thread handles all channels that an offset
// serves, so no other thread adds to that offset's gradient. Other threads do add to the input's.
//
// Index: (group, tap, image, position). A null pointer means that this result is not wanted.
template <class T>
struct DeformBackward {
  const T* column_gradient;
  T* columns;               // what the taps have read: needed for the gradient of the weight
  Wide<T>* input_gradient;  // zero at the start
  Wide<T>* offset_gradient;
  T* mask_gradient;
  Taps<T> op;

  template <class I, class Team>
  HERE void operator()(I i, const Team& team) const {
    const I positions = op.positions(), position = i % positions, row = i / positions;
    const Index plane_size = Index(op.height) * op.width;
    const int image = row % op.images, tap = row / op.images % op.taps(), group = row / op.images / op.taps();
    const auto point = op.sampling_point(image, group, tap, position);
    const Corners<Wide<T>> corners(point.y, point.x, op.height, op.width);
    const int first = group * op.channels_of_a_group();
    const Index start = op.plane(image, first), column = op.column(image, first, tap, position);
    const bool reads = columns != nullptr || offset_gradient != nullptr;
    Wide<T> by_y = 0, by_x = 0, by_mask = 0;
#ifdef __CUDACC__
#pragma unroll 4
#endif
    for (int c = 0; c < op.channels_of_a_group(); ++c) {
      const Wide<T> incoming = column_gradient[column + c * op.channel_step()];
      const T* plane = op.input + start + c * plane_size;
      Wide<T> sampled = 0;
      for (int k = 0; k < 4; ++k) {
        if (reads) {
          const Wide<T> pixel = plane[corners.at[k]];
          sampled += corners.weight[k] * pixel;
          by_y += incoming * corners.by_y[k] * pixel;
          by_x += incoming * corners.by_x[k] * pixel;
        }
        if (input_gradient && corners.weight[k] != 0) {
          team.add(&input_gradient[start + c * plane_size + corners.at[k]],
                   corners.weight[k] * point.factor * incoming);
        }
      }
      by_mask += incoming * sampled;
      if (columns) columns[column + c * op.channel_step()] = T(point.factor * sampled);
    }
    if (offset_gradient) {
      offset_gradient[point.offset_at] = by_y * point.factor;
      offset_gradient[point.offset_at + op.positions()] = by_x * point.factor;
    }
    if (mask_gradient) mask_gradient[point.mask_at] = T(by_mask);
  }
};

// ---- Multi-scale deformable attention: each query reads a few points in images of several sizes ---------------------

constexpr int kLevels = 8;  // at most

// value is [image][pixel][head][channel], with the pixels of all levels one after the other. locations is
// [image][query][head][level][point][x, y], from 0 to 1 across a level. weights is the same without the last dimension.
template <class T>
struct Attention {
  using W = Wide<T>;
  const T* value;
  const W* locations;
  const T* weights;
  int images, pixels, queries, heads, channels, levels, points;
  int sizes[2 * kLevels];  // height and width of each level

  // Sample: (image, query, head, level, point).
  HERE Corners<W> corners(Index sample, int height, int width) const {
    return {locations[2 * sample + 1] * height - W(0.5), locations[2 * sample] * width - W(0.5), height, width};
  }
  // The first channel of a pixel.
  HERE Index place(Index image, Index pixel, int head) const {
    return ((image * pixels + pixel) * heads + head) * channels;
  }
};

// Index: (image, query, head, channel).
template <class T>
struct AttentionForward {
  T* output;
  Attention<T> op;

  template <class I, class Team>
  HERE void operator()(I i, const Team&) const {
    const int channel = i % op.channels, head = i / op.channels % op.heads;
    const Index image = i / op.channels / op.heads / op.queries;
    Index sample = Index(i / op.channels) * op.levels * op.points, first = 0;
    Wide<T> sum = 0;
    for (int level = 0; level < op.levels; ++level) {
      const int height = op.sizes[2 * level], width = op.sizes[2 * level + 1];
      const T* from = op.value + op.place(image, first, head) + channel;
      for (int point = 0; point < op.points; ++point, ++sample) {
        const Corners<Wide<T>> corners = op.corners(sample, height, width);
        Wide<T> sampled = 0;
        for (int k = 0; k < 4; ++k) {
          if (corners.weight[k] != 0) {
            sampled += corners.weight[k] * Wide<T>(from[Index(corners.at[k]) * op.heads * op.channels]);
          }
        }
        sum += Wide<T>(op.weights[sample]) * sampled;
      }
      first += Index(height) * width;
    }
    output[i] = T(sum);
  }
};

// Index: a sample, shared by a team whose workers divide the channels. Several samples may read the same pixel, so its
// gradient is added to; a location and a weight belong to one sample.
template <class T>
struct AttentionBackward {
  const T* gradient;  // as the output: [image][query][head][channel]
  Wide<T>* value_gradient;  // zero at the start
  Wide<T>* location_gradient;
  T* weight_gradient;
  Attention<T> op;

  template <class I, class Team>
  HERE void operator()(I sample, const Team& team) const {
    const int level = sample / op.points % op.levels;
    const I output = sample / op.points / op.levels;
    const Index image = output / op.heads / op.queries;
    const int head = output % op.heads;
    Index first = 0;
    for (int before = 0; before < level; ++before) first += Index(op.sizes[2 * before]) * op.sizes[2 * before + 1];
    const int height = op.sizes[2 * level], width = op.sizes[2 * level + 1];
    const Corners<Wide<T>> corners = op.corners(sample, height, width);
    const Wide<T> weight = op.weights[sample];
    const Index start = op.place(image, first, head);
    Wide<T> by_y = 0, by_x = 0, by_weight = 0;
    for (int channel = team.lane; channel < op.channels; channel += team.size) {
      const Wide<T> incoming = gradient[Index(output) * op.channels + channel];
      for (int k = 0; k < 4; ++k) {
        if (corners.weight[k] == 0 && corners.by_y[k] == 0 && corners.by_x[k] == 0) continue;  // outside the image
        const Index at = start + Index(corners.at[k]) * op.heads * op.channels + channel;
        const Wide<T> pixel = op.value[at];
        by_y += incoming * corners.by_y[k] * pixel;
        by_x += incoming * corners.by_x[k] * pixel;
        by_weight += incoming * corners.weight[k] * pixel;
        team.add(&value_gradient[at], corners.weight[k] * weight * incoming);
      }
    }
    by_y = team.total(by_y), by_x = team.total(by_x), by_weight = team.total(by_weight);
    if (team.lane == 0) {
      location_gradient[2 * Index(sample)] = by_x * weight * width;
      location_gradient[2 * Index(sample) + 1] = by_y * weight * height;
      weight_gradient[sample] = T(by_weight);
    }
  }
};

}  // namespace sampling_ops

// Lists all ops for kernels.cu and host.cpp, which make a function of each: DO(name, struct, type). The second list has
// those that a warp computes together.
#define EACH_OP(DO, T)                        \
  DO(roi_align_forward, RoiAlignForward, T)   \
  DO(roi_align_backward, RoiAlignBackward, T) \
  DO(deform_columns, DeformColumns, T)        \
  DO(deform_backward, DeformBackward, T)      \
  DO(attention_forward, AttentionForward, T)
#define EACH_OP_OF_A_WARP(DO, T) DO(attention_backward, AttentionBackward, T)
