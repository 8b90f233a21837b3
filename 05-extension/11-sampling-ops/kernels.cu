// The ops of ops.hpp as kernels.

#include "05-extension/11-sampling-ops/ops.hpp"

using namespace sampling_ops;

// A team of one thread. Other threads may be adding to the same sum.
struct Thread {
  static constexpr int lane = 0, size = 1;

  template <class W>
  __device__ static void add(W* sum, W value) {
    atomicAdd(sum, value);
  }
  template <class W>
  __device__ static W total(W value) {
    return value;
  }
};

struct Warp : Thread {
  static constexpr int size = 32;
  const int lane = threadIdx.x % 32;

  template <class W>
  __device__ static W total(W value) {
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(~0u, value, apart);
    return value;
  }
};

// A grid-stride loop: the team computes index i, i + teams, …
template <class I, class Op, class Team>
__device__ void each_index(const Op& op, const Team& team, Index count) {
  const I teams = I(gridDim.x) * blockDim.x / Team::size,
          first = (I(blockIdx.x) * blockDim.x + threadIdx.x) / Team::size;
  for (I i = first; i < count; i += teams) op(i, team);
}

// The struct with the op's tensors and sizes is one parameter of the kernel.
#define KERNEL_FOR(name, Op, T, Team)                            \
  extern "C" __global__ void name##_##T(Op<T> op, Index count) { \
    if (count <= 1 << 30) {                                      \
      each_index<unsigned>(op, Team(), count);                   \
    } else {                                                     \
      each_index<Index>(op, Team(), count);                      \
    }                                                            \
  }
#define KERNEL(name, Op, T) KERNEL_FOR(name, Op, T, Thread)
#define KERNEL_OF_A_WARP(name, Op, T) KERNEL_FOR(name, Op, T, Warp)
EACH_OP(KERNEL, half)
EACH_OP(KERNEL, bfloat16)
EACH_OP(KERNEL, float)
EACH_OP(KERNEL, double)
EACH_OP_OF_A_WARP(KERNEL_OF_A_WARP, half)
EACH_OP_OF_A_WARP(KERNEL_OF_A_WARP, bfloat16)
EACH_OP_OF_A_WARP(KERNEL_OF_A_WARP, float)
EACH_OP_OF_A_WARP(KERNEL_OF_A_WARP, double)

// ---- ROIAlign by blocks ---------------------------------------------------------------------------------------------

// A bin's value is a sum over rows and columns of pixels, and its weights are products of a row's and a column's
// weight. A block computes both tables of weights once for a box, and uses them for kRoiChannels channels. Pixels and
// gradients go through shared memory, so that rows of pixels are read, and added to, with adjacent addresses.

constexpr int kRoiChannels = 64;
constexpr int kMostBins = 32, kMostPixels = 64,
              kMostWeights = 1024;  // along one side of a box that is handled this way
template <class W>
constexpr int kRoom = 24 * 1024 / sizeof(W);  // values in shared memory

// The weights of one side of a box.
template <class W>
struct Weights {
  W of[kMostWeights];                               // [bin][pixel - first]
  int first, last;                                  // the pixels that the side touches
  int low[kMostBins], high[kMostBins];              // those that a bin touches, counted from first
  int bin_low[kMostPixels], bin_high[kMostPixels];  // the bins that touch a pixel

  __device__ int pixels() const { return max(0, last - first + 1); }

  __device__ void find_pixels(const Side<W>& side, int bins) {
    if (threadIdx.x == 0) first = side.length, last = -1;
    __syncthreads();
    for (int i = threadIdx.x; i < bins * side.samples; i += blockDim.x) {
      const W at = side.point(i / side.samples, i % side.samples);
      if (at < 0) continue;
      const int pixel = static_cast<int>(at);
      atomicMin(&first, pixel);
      atomicMax(&last, at > pixel ? pixel + 1 : pixel);
    }
    __syncthreads();
  }

  __device__ bool fits(int bins) const {
    return bins <= kMostBins && pixels() <= kMostPixels && bins * pixels() <= kMostWeights;
  }

  // One thread for each bin, then one for each pixel.
  __device__ void fill(const Side<W>& side, int bins) {
    const int width = pixels();
    for (int i = threadIdx.x; i < bins * width; i += blockDim.x) of[i] = 0;
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
      int least = width, most = -1;
      side.each_pixel(bin, [&](int pixel, W weight) {
        of[bin * width + pixel - first] += weight / side.samples;
        least = min(least, pixel - first), most = max(most, pixel - first);
      });
      low[bin] = least, high[bin] = most;
    }
    __syncthreads();
    for (int pixel = threadIdx.x; pixel < width; pixel += blockDim.x) {
      int least = bins, most = -1;
      for (int bin = 0; bin < bins; ++bin) {
        if (of[bin * width + pixel] != 0) least = min(least, bin), most = bin;
      }
      bin_low[pixel] = least, bin_high[pixel] = most;
    }
    __syncthreads();
  }
};

template <class T>
struct RoiBlock {
  using W = Wide<T>;
  Weights<W> down, across;
  W room[kRoom<W>];

  // Calls work(box, first channel, number of channels) for each box and piece of channels of this block. A box that is
  // too large for the tables is computed as on the CPU, each index by a thread.
  template <class Op, class Work>
  __device__ void each_piece(const Op& op, Index count, Work work) {
    const RoiAlign<T>& roi = op.op;
    const int chunks = (roi.channels + kRoiChannels - 1) / kRoiChannels;
    for (Index i = blockIdx.x; i < count; i += gridDim.x) {
      const Index box = i / chunks;
      const int channel = static_cast<int>(i % chunks) * kRoiChannels,
                channels = min(kRoiChannels, roi.channels - channel);
      if (!(roi.boxes[5 * box] >= 0 && roi.boxes[5 * box] < roi.images)) __trap();
      const Side<W> side_down = roi.down(box), side_across = roi.across(box);
      down.find_pixels(side_down, roi.rows);
      across.find_pixels(side_across, roi.columns);
      if (down.fits(roi.rows) && across.fits(roi.columns) && down.pixels() * across.pixels() <= kRoom<W> &&
          roi.rows * roi.columns <= kRoom<W>) {
        down.fill(side_down, roi.rows);
        across.fill(side_across, roi.columns);
        work(box, channel, channels);
      } else {
        const int bins = roi.rows * roi.columns;
        const Index first = (box * pieces(roi.channels) + channel / kChannels) * bins;
        for (int k = threadIdx.x; k < pieces(channels) * bins; k += blockDim.x) op(first + k, Thread());
      }
      __syncthreads();
    }
  }
};

template <class T>
__device__ void roi_align_forward(const RoiAlignForward<T>& op, Index count) {
  using W = Wide<T>;
  __shared__ RoiBlock<T> block;
  const RoiAlign<T>& roi = op.op;
  const int bins = roi.rows * roi.columns;
  const Index plane = Index(roi.height) * roi.width;
  block.each_piece(op, count, [&](Index box, int channel, int channels) {
    const int width = block.across.pixels(), pixels = block.down.pixels() * width;
    const T* image = op.input + (Index(roi.boxes[5 * box]) * roi.channels + channel) * plane;
    T* output = op.output + (box * roi.channels + channel) * bins;
    const int together = pixels > 0 ? min(channels, kRoom<W> / pixels) : channels;
    for (int start = 0; start < channels; start += together) {
      const int here = min(together, channels - start);
      for (int p = threadIdx.x; p < pixels; p += blockDim.x) {
        const T* from =
            image + start * plane + Index(block.down.first + p / width) * roi.width + block.across.first + p % width;
#pragma unroll 4
        for (int c = 0; c < here; ++c) block.room[c * pixels + p] = from[c * plane];
      }
      __syncthreads();
      // A thread computes four channels of a bin, so that it loads each weight once.
      for (int i = threadIdx.x; i < (here + 3) / 4 * bins; i += blockDim.x) {
        const int bin = i % bins, row = bin / roi.columns, column = bin % roi.columns, c = i / bins * 4;
        W sums[4] = {};
        for (int y = block.down.low[row]; y <= block.down.high[row]; ++y) {
          const W of_row = block.down.of[row * block.down.pixels() + y];
          for (int x = block.across.low[column]; x <= block.across.high[column]; ++x) {
            const W weight = of_row * block.across.of[column * width + x];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
              if (c + k < here) sums[k] += weight * block.room[(c + k) * pixels + y * width + x];
            }
          }
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (c + k < here) output[(start + c + k) * bins + bin] = T(sums[k]);
        }
      }
      __syncthreads();
    }
  });
}

template <class T>
__device__ void roi_align_backward(const RoiAlignBackward<T>& op, Index count) {
  using W = Wide<T>;
  __shared__ RoiBlock<T> block;
  const RoiAlign<T>& roi = op.op;
  const int bins = roi.rows * roi.columns;
  const Index plane = Index(roi.height) * roi.width;
  block.each_piece(op, count, [&](Index box, int channel, int channels) {
    const int height = block.down.pixels(), width = block.across.pixels();
    const T* gradient = op.gradient + (box * roi.channels + channel) * bins;
    W* image = op.input_gradient + (Index(roi.boxes[5 * box]) * roi.channels + channel) * plane;
    const int together = min(channels, kRoom<W> / bins);
    for (int start = 0; start < channels; start += together) {
      const int here = min(together, channels - start);
      for (int i = threadIdx.x; i < here * bins; i += blockDim.x) block.room[i] = gradient[start * bins + i];
      __syncthreads();
      // A thread adds to a pixel, four channels at a time. Neighboring threads add to neighboring pixels.
      for (int p = threadIdx.x; p < height * width; p += blockDim.x) {
        const int y = p / width, x = p % width;
        const int rows_end = block.down.bin_high[y], columns_end = block.across.bin_high[x];
        if (rows_end < 0 || columns_end < 0) continue;
        W* to = image + start * plane + Index(block.down.first + y) * roi.width + block.across.first + x;
        for (int c = 0; c < here; c += 4) {
          W sums[4] = {};
          for (int row = block.down.bin_low[y]; row <= rows_end; ++row) {
            const W of_row = block.down.of[row * height + y];
            for (int column = block.across.bin_low[x]; column <= columns_end; ++column) {
              const W weight = of_row * block.across.of[column * width + x];
#pragma unroll
              for (int k = 0; k < 4; ++k) {
                if (c + k < here) sums[k] += weight * block.room[(c + k) * bins + row * roi.columns + column];
              }
            }
          }
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            if (c + k < here) atomicAdd(&to[(c + k) * plane], sums[k]);
          }
        }
      }
      __syncthreads();
    }
  });
}

// ---- the gradient of a convolution's input, a plane at a time -------------------------------------------------------

// A block adds up the gradients of one or two channels of an image in shared memory, and writes each of them once. The
// planes must fit; DeformBackward handles larger images with atomics in global memory.
template <class T>
__device__ void deform_input_gradient(const DeformBackward<T>& backward, Index count, int together) {
  using W = Wide<T>;
  extern __shared__ double planes_storage[];
  W* const planes = reinterpret_cast<W*>(planes_storage);
  const Taps<T>& op = backward.op;
  const int plane = op.height * op.width, positions = op.positions();
  for (Index i = blockIdx.x; i < count; i += gridDim.x) {
    const int image = i / (op.channels / together), channel = i % (op.channels / together) * together;
    const int group = channel / op.channels_of_a_group();
    for (int p = threadIdx.x; p < together * plane; p += blockDim.x) planes[p] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < op.taps() * positions; k += blockDim.x) {
      const auto point = op.sampling_point(image, group, k / positions, k % positions);
      const Corners<W> corners(point.y, point.x, op.height, op.width);
      const T* from = backward.column_gradient + op.column(image, channel, 0, k);
      for (int c = 0; c < together; ++c) {
        const W incoming = point.factor * W(from[c * op.channel_step()]);
#pragma unroll
        for (int corner = 0; corner < 4; ++corner) {
          if (corners.weight[corner] != 0) {
            atomicAdd(&planes[c * plane + corners.at[corner]], corners.weight[corner] * incoming);
          }
        }
      }
    }
    __syncthreads();
    W* const result = backward.input_gradient + op.plane(image, channel);
    for (int p = threadIdx.x; p < together * plane; p += blockDim.x) result[p] = planes[p];
    __syncthreads();
  }
}

#define KERNELS_OF_A_BLOCK(T)                                                      \
  extern "C" __global__ void __launch_bounds__(256)                                \
      roi_align_forward_by_block_##T(RoiAlignForward<T> op, Index count) {         \
    roi_align_forward(op, count);                                                  \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(256)                                \
      roi_align_backward_by_block_##T(RoiAlignBackward<T> op, Index count) {       \
    roi_align_backward(op, count);                                                 \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(256)                                \
      deform_input_gradient_##T(DeformBackward<T> op, Index count, int together) { \
    deform_input_gradient(op, count, together);                                    \
  }
KERNELS_OF_A_BLOCK(half)
KERNELS_OF_A_BLOCK(bfloat16)
KERNELS_OF_A_BLOCK(float)
KERNELS_OF_A_BLOCK(double)
