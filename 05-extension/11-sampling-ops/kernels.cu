// The ops of ops.hpp as kernels, and NMS, which needs more than a loop.

#include "05-extension/11-sampling-ops/ops.hpp"

#include <climits>

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

// ---- NMS, first kernel: the order of the boxes ----------------------------------------------------------------------

// Maps scores to integers with the same order. NaN is the largest, as in torch.sort, and adding 0 turns -0 into 0.
__device__ int rank_of(float score) {
  const int bits = __float_as_int(score + 0.0f);
  return score != score ? INT_MAX : bits < 0 ? bits ^ INT_MAX : bits;
}
__device__ long long rank_of(double score) {
  const long long bits = __double_as_longlong(score + 0.0);
  return score != score ? LLONG_MAX : bits < 0 ? bits ^ LLONG_MAX : bits;
}

// A box's place in the order is the number of better boxes, which are those with a higher score and, among those with
// the same score, those before it. A warp finds the places of several boxes, so that it reads each score once for all.
template <class W>
__device__ void find_order(const W* scores, int count, Index* order) {
  constexpr int kBoxes = 4;
  const Warp warp;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) / warp.size * kBoxes;
  decltype(rank_of(W())) own[kBoxes];
  int better[kBoxes] = {};
#pragma unroll
  for (int k = 0; k < kBoxes; ++k) own[k] = first + k < count ? rank_of(scores[first + k]) : 0;
  for (int j = warp.lane; j < count; j += warp.size) {
    const auto other = rank_of(scores[j]);
#pragma unroll
    for (int k = 0; k < kBoxes; ++k) better[k] += other > own[k] - (j < first + k);
  }
#pragma unroll
  for (int k = 0; k < kBoxes; ++k) {
    const int place = warp.total(better[k]);
    if (warp.lane == 0 && first + k < count) order[place] = first + k;
  }
}

#define NMS_ORDER(T)                                                                   \
  extern "C" __global__ void nms_order_##T(const T* scores, int count, Index* order) { \
    find_order(scores, count, order);                                                  \
  }
NMS_ORDER(float)
NMS_ORDER(double)

// ---- NMS, second kernel: which boxes overlap ------------------------------------------------------------------------

// A tile is 64 boxes, and bit j of the word mask[i][t] tells whether box i overlaps box 64 t + j. `order` contains the
// numbers of the boxes, best first; below, box i is the one at order[i]. Of two boxes, only the worse one can be
// removed, so words left of the diagonal are not needed. The exception are groups of eight tiles, which are scanned
// together: overlap is symmetric, so such a word also tells which better boxes overlap box i.

using Word = unsigned long long;
constexpr int kTile = 64, kGroup = 8, kLoads = 16;

// These products are never fused with an addition, which would round differently. So the loop and the kernel agree in
// every bit, and overlap(a, b) equals overlap(b, a).
__device__ float product(float a, float b) { return __fmul_rn(a, b); }
__device__ double product(double a, double b) { return __dmul_rn(a, b); }

// The alignment lets a thread load a box with one instruction.
template <class W>
struct alignas(4 * sizeof(W)) Box {
  W left, top, right, bottom;
};

template <class W>
__device__ Box<W> box(const W* boxes, Index i) {
  return {boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]};
}

template <class W>
__device__ W area(const Box<W>& box) {
  return product(box.right - box.left, box.bottom - box.top);
}

template <class W>
__device__ bool apart(const Box<W>& a, const Box<W>& b) {
  return !(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom);
}

template <class W>
__device__ bool overlap(const Box<W>& a, const Box<W>& b, W threshold) {
  const W across = min(a.right, b.right) - max(a.left, b.left), down = min(a.bottom, b.bottom) - max(a.top, b.top);
  const W shared = product(max(across, W(0)), max(down, W(0)));
  return shared / (area(a) + area(b) - shared) > threshold;
}

// A block compares one tile of boxes, blockIdx.y, with another, blockIdx.x.
template <class W>
__device__ void mask_of_tile(const W* boxes, const Index* order, int count, double threshold, Word* mask) {
  if (blockIdx.x < blockIdx.y / kGroup * kGroup) return;
  const int first = blockIdx.x * kTile, here = min(kTile, count - first);
  __shared__ Box<W> tile[kTile];
  const W nowhere = nan("");  // overlaps no box
  tile[threadIdx.x] =
      threadIdx.x < here ? box(boxes, order[first + threadIdx.x]) : Box<W>{nowhere, nowhere, nowhere, nowhere};
  __syncthreads();
  const int i = blockIdx.y * kTile + threadIdx.x;
  const W limit = static_cast<W>(threshold);
  Word near = 0, word = 0;
  if (i < count) {
    const Box<W> own = box(boxes, order[i]);
    // Most pairs are far apart, which takes four comparisons to find out. Only the others need the division.
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      if (!apart(own, tile[j])) near |= Word(1) << j;
    }
    if (limit < 0) near = ~Word(0) >> (kTile - here);                 // every overlap exceeds a negative threshold
    if (blockIdx.x == blockIdx.y) near &= ~(Word(1) << threadIdx.x);  // a box does not remove itself
    for (; near != 0; near &= near - 1) {
      const int j = __ffsll(near) - 1;
      if (overlap(own, tile[j], limit)) word |= Word(1) << j;
    }
  }
  mask[Index(i) * gridDim.x + blockIdx.x] = word;
}

#define NMS_MASK(T)                                                                                        \
  extern "C" __global__ void nms_mask_##T(const T* boxes, const Index* order, int count, double threshold, \
                                          Word* mask) {                                                    \
    mask_of_tile(boxes, order, count, threshold, mask);                                                    \
  }
NMS_MASK(float)
NMS_MASK(double)

// ---- NMS, third kernel: which boxes are kept ------------------------------------------------------------------------

// A single block of kGroup * kTile threads scans the mask, group by group. A thread is responsible for one box of the
// group, and a warp for 32, which is half of a tile.

// The bits below bit i.
__device__ Word below(int i) { return (Word(1) << i) - 1; }

// Writes the numbers of the boxes that are kept, and to kept[count] how many they are. It needs a word of dynamic
// shared memory for each tile. It is long, because its steps share what the threads keep in registers.
extern "C" __global__ void __launch_bounds__(kGroup* kTile)
    nms_scan(const Word* mask, const Index* order, int count, Index* kept) {
  extern __shared__ unsigned removed[];  // two for each tile: shared memory has faster 32-bit than 64-bit atomics
  __shared__ unsigned kept_bits[2 * kGroup];  // which boxes of this group are kept: a bit for each thread of a warp
  __shared__ short kept_list[kGroup * kTile];  // the same as a list
  const int me = threadIdx.x, tiles = (count + kTile - 1) / kTile, lane = me % 32, warp = me / 32;
  for (int half = me; half < 2 * tiles; half += blockDim.x) removed[half] = 0;

  // Which better boxes of the group overlap the thread's box?
  const auto load = [&](int first, Word* better) {
    for (int t = 0; t < kGroup; ++t) {
      const bool is_there = first + me / kTile < tiles && t <= me / kTile;
      better[t] = is_there ? mask[(Index(first) * kTile + me) * tiles + first + t] : 0;
      if (t == me / kTile) better[t] &= below(me % kTile);
    }
  };
  Word better[kGroup], next[kGroup];
  load(0, better);
  __syncthreads();

  int before = 0;
  for (int first = 0; first < tiles; first += kGroup) {
    const int i = first * kTile + me;
    const Index number = i < count ? order[i] : 0;
    load(first + kGroup, next);  // prefetch: used in the next iteration

    // At first, all boxes that are alive are kept. In each round, a box is kept only if it overlaps no better box kept
    // in the round before. After k rounds, the first k boxes are final. Usually, nothing changes after one or two.
    const bool alive = i < count && !(removed[2 * first + warp] >> lane & 1);
    bool is_kept = alive, was_kept;
    do {
      const unsigned half = __ballot_sync(~0u, is_kept);
      if (lane == 0) kept_bits[warp] = half;
      __syncthreads();
      was_kept = is_kept, is_kept = alive;
      for (int t = 0; t < kGroup; ++t) {
        if (better[t] & (Word(kept_bits[2 * t + 1]) << 32 | kept_bits[2 * t])) is_kept = false;
      }
    } while (__syncthreads_or(is_kept != was_kept));

    // The list of those that are kept.
    int found = 0, mine = __popc(kept_bits[warp] & unsigned(below(lane)));
    for (int w = 0; w < 2 * kGroup; ++w) {
      if (w == warp) mine += found;
      found += __popc(kept_bits[w]);
    }
    if (is_kept) kept_list[mine] = me, kept[before + mine] = number;
    __syncthreads();

    // They remove boxes from later groups. A warp handles 32 words of each kept box, or of every second, third, … one.
    // Beyond the end of the list, it loads the last box's words again, so that always kLoads loads are in flight.
    const int rest = tiles - first - kGroup, across = (rest + 31) / 32, parts = max(1, 2 * kGroup / max(1, across));
    for (int task = warp; task < across * parts; task += 2 * kGroup) {
      const int tile = first + kGroup + task % across * 32 + lane;
      Word struck = 0;
      for (int k = task / across; k < found && tile < tiles; k += kLoads * parts) {
#pragma unroll
        for (int j = 0; j < kLoads; ++j) {
          struck |= mask[(Index(first) * kTile + kept_list[min(k + j * parts, found - 1)]) * tiles + tile];
        }
      }
      if (unsigned(struck)) atomicOr(&removed[2 * tile], unsigned(struck));
      if (unsigned(struck >> 32)) atomicOr(&removed[2 * tile + 1], unsigned(struck >> 32));
    }
    before += found;
    for (int t = 0; t < kGroup; ++t) better[t] = next[t];
    __syncthreads();
  }
  if (me == 0) kept[count] = before;
}

// The obvious way, for comparison: box by box. A kept box removes others at once, and the whole block waits for that.
extern "C" __global__ void nms_scan_by_box(const Word* mask, const Index* order, int count, Index* kept) {
  extern __shared__ Word gone[];
  const int tiles = (count + kTile - 1) / kTile;
  for (int t = threadIdx.x; t < tiles; t += blockDim.x) gone[t] = 0;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < count; ++i) {
    if (gone[i / kTile] >> (i % kTile) & 1) continue;  // the same for all threads
    __syncthreads();  // before a thread changes words that others still read
    if (threadIdx.x == 0) kept[before] = order[i];
    ++before;
    for (int t = i / kTile + threadIdx.x; t < tiles; t += blockDim.x) gone[t] |= mask[Index(i) * tiles + t];
    __syncthreads();
  }
  if (threadIdx.x == 0) kept[count] = before;
}
