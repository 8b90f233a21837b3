// What the CPU and the GPU share: the order of the scores, and the rule for when two boxes overlap. Neither this header
// nor kernels.cu includes PyTorch's headers, so nvcc needs little time for the kernels.
#pragma once
#include <climits>
#include <cmath>
#include <cstring>

#ifdef __CUDACC__
#define HERE __host__ __device__ inline
#else
#define HERE inline
#endif

struct CUstream_st;  // cudaStream_t points to it

namespace box_nms {

using Index = long long;
using Word = unsigned long long;
using Stream = CUstream_st*;

constexpr int kTile = 64;  // boxes for which a word of the mask has bits
constexpr int kMost = 294912;  // boxes: the scan needs eight bytes of shared memory for each tile, 36 KiB in all
constexpr int kCounted = 1 << 14;  // boxes up to which counting the better boxes takes no longer than sorting

// Maps scores to integers with the same order. NaN is the largest, as in torch.sort, and adding 0 turns -0 into 0.
HERE int rank_of(float score) {
  score += 0.0f;
  int bits;
  memcpy(&bits, &score, sizeof bits);
  return score != score ? INT_MAX : bits < 0 ? bits ^ INT_MAX : bits;
}
HERE long long rank_of(double score) {
  score += 0.0;
  long long bits;
  memcpy(&bits, &score, sizeof bits);
  return score != score ? LLONG_MAX : bits < 0 ? bits ^ LLONG_MAX : bits;
}

// These products are never fused with an addition, which would round differently. So the CPU and the GPU agree in every
// bit, and overlap(a, b) equals overlap(b, a).
HERE float product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;  // setup.py disables fusing
#endif
}
HERE double product(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

template <class W>
HERE W smaller(W a, W b) {
  return a < b ? a : b;
}
template <class W>
HERE W larger(W a, W b) {
  return a > b ? a : b;
}

// The alignment lets a thread load a box with one or two instructions.
template <class W>
struct alignas(4 * sizeof(W)) Box {
  W left, top, right, bottom;
};

template <class W>
HERE Box<W> box(const W* boxes, Index i) {
  return {boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]};
}

template <class W>
HERE W area(const Box<W>& box) {
  return product(box.right - box.left, box.bottom - box.top);
}

// Divides the area of the intersection by the area of the union. If a coordinate is NaN, so is the quotient, and the
// boxes do not overlap.
template <class W>
HERE bool overlap(const Box<W>& a, const Box<W>& b, W threshold) {
  const W across = smaller(a.right, b.right) - larger(a.left, b.left);
  const W down = smaller(a.bottom, b.bottom) - larger(a.top, b.top);
  const W shared = product(larger(across, W(0)), larger(down, W(0)));
  return shared / (area(a) + area(b) - shared) > threshold;
}

// ---- kernels.cu: enqueue kernels in a stream, and wait for nothing
// ----------------------------------------------------

// Writes the numbers of the boxes, best first. Boxes with equal scores keep their order.
void find_order(const float* scores, int count, Index* order, Stream stream);
void find_order(const double* scores, int count, Index* order, Stream stream);

// `order` contains the numbers of the boxes, best first. Writes the numbers of those that are kept, best first, and -1
// in the rest of `kept`; *total becomes the number of kept boxes. The mask has mask_words(count) words.
void keep(const float* boxes, const Index* order, int count, double threshold, Word* mask, Index* kept, Index* total,
          Stream stream);
void keep(const double* boxes, const Index* order, int count, double threshold, Word* mask, Index* kept, Index* total,
          Stream stream);

inline Index tiles_of(Index count) { return (count + kTile - 1) / kTile; }
inline Index mask_words(Index count) { return tiles_of(count) * kTile * tiles_of(count); }

}  // namespace box_nms
