// The ops of ops.hpp as kernels, and NMS, which has more to it than a loop.

// Many threads may add to one sum, and at the same time.
template <class W>
__device__ void add(W* sum, W value) {
  atomicAdd(sum, value);
}

#include "05-extension/07-real-ops/ops.hpp"

using namespace real_ops;

// The op is a struct, and one parameter of the kernel. As many threads as there are, as often as it takes.
#define KERNEL(name, Op, T)                                                                   \
  extern "C" __global__ void name##_##T(Op<T> op, Index count) {                              \
    const Index step = Index(gridDim.x) * blockDim.x;                                         \
    for (Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) op(i); \
  }
EACH_OP(KERNEL, half)
EACH_OP(KERNEL, float)
EACH_OP(KERNEL, double)

// ---- NMS, first kernel: who overlaps whom ---------------------------------------------------------------------------

// 64 boxes are a tile, and the answers "box i and box 64 t + 0 … 63" are the 64 bits of one word, that of tile t and
// box i. Overlap has no direction, so in the tiles of the diagonal a word says also which of the boxes before i overlap
// it.

using Word = unsigned long long;
constexpr int kTile = 64;

// Never fused with an addition, which a compiler may do and which rounds differently: loop and kernel are to agree in
// every bit, and so are overlap(a, b) and overlap(b, a).
__device__ float product(float a, float b) { return __fmul_rn(a, b); }
__device__ double product(double a, double b) { return __dmul_rn(a, b); }

// Aligned, so that a thread reads it in one piece.
template <class W>
struct alignas(4 * sizeof(W)) Box {
  W left, top, right, bottom;
};

template <class T>
__device__ Box<Wide<T>> box(const T* boxes, int i) {
  return {boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]};
}

template <class W>
__device__ W area(const Box<W>& box) {
  return product(box.right - box.left, box.bottom - box.top);
}

template <class W>
__device__ bool overlap(const Box<W>& a, const Box<W>& b, W threshold) {
  const W across = min(a.right, b.right) - max(a.left, b.left), down = min(a.bottom, b.bottom) - max(a.top, b.top);
  const W shared = product(max(across, W(0)), max(down, W(0)));
  if (shared == 0 && threshold >= 0) return false;  // most pairs are far apart: no division for them
  return shared / (area(a) + area(b) - shared) > threshold;
}

// A block compares one tile of boxes, blockIdx.y, with another, blockIdx.x; the boxes are in the order of their scores.
// The words of the next tile, and of the next box, are so many words further in the mask.
template <class T>
__device__ void mask_of_tile(const T* boxes, int count, double threshold, Word* mask, int next_tile, int next_box) {
  if (blockIdx.x < blockIdx.y) return;  // better boxes are not removed by worse ones
  const int first = blockIdx.x * kTile, here = min(kTile, count - first);
  __shared__ Box<Wide<T>> tile[kTile];
  if (threadIdx.x < here) tile[threadIdx.x] = box(boxes, first + threadIdx.x);
  __syncthreads();
  const int i = blockIdx.y * kTile + threadIdx.x;
  const Wide<T> limit = static_cast<Wide<T>>(threshold);
  Word word = 0;
  if (i < count) {
    const Box<Wide<T>> own = box(boxes, i);
    for (int j = 0; j < here; ++j) {
      if (overlap(own, tile[j], limit)) word |= Word(1) << j;
    }
    if (blockIdx.x == blockIdx.y) word &= ~(Word(1) << threadIdx.x);  // nobody removes himself
  }
  mask[Index(blockIdx.x) * next_tile + Index(i) * next_box] = word;
}

#define NMS_MASK(T)                                                                                               \
  extern "C" __global__ void nms_mask_##T(const T* boxes, int count, double threshold, Word* mask, int next_tile, \
                                          int next_box) {                                                         \
    mask_of_tile(boxes, count, threshold, mask, next_tile, next_box);                                             \
  }
NMS_MASK(half)
NMS_MASK(float)
NMS_MASK(double)

// ---- NMS, second kernel: who stays ----------------------------------------------------------------------------------

// One block, tile by tile. Lane l of every warp stands for the boxes l and l + 32 of the tile.

// The bits below bit i.
__device__ Word below(int i) { return (Word(1) << i) - 1; }

// Bits of the tile's boxes that stay: those alive that no staying box before them overlaps. Start with all, and strike
// out until nothing changes. After k rounds the first k bits are final, so it ends; as a rule after one or two, since
// most of who overlaps was struck out by better tiles.
__device__ Word staying(Word alive, Word low, Word high) {
  const int lane = threadIdx.x % 32;
  const Word before_low = low & below(lane), before_high = high & below(lane + 32);
  Word stays = alive, last;
  do {
    last = stays;
    const unsigned first_half = __ballot_sync(~0u, (before_low & last) == 0),
                   second_half = __ballot_sync(~0u, (before_high & last) == 0);
    stays = alive & (Word(second_half) << 32 | first_half);
  } while (stays != last);
  return stays;
}

// kept: the numbers from `order` of the boxes that stay, `*total` of them. Dynamic shared memory: a word a tile. The
// mask has the words of a tile's boxes side by side, so that a warp reads 32 of them at once.
extern "C" __global__ void nms_scan(const Word* mask, const Index* order, int count, Index* kept, int* total) {
  extern __shared__ Word stay[];  // of the tiles before: who stays
  // Of the last tile, this one and the next; in halves, since atomics in shared memory take 32 bits at once.
  __shared__ unsigned removed[3][2];
  const int tiles = (count + kTile - 1) / kTile, lane = threadIdx.x % 32;
  if (threadIdx.x < 6) removed[threadIdx.x / 2][threadIdx.x % 2] = 0;
  __syncthreads();

  Word stays = 0;
  int before = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int first = tile * kTile, left = count - first;
    const Word* words = mask + Index(tile) * tiles * kTile;
    // Asked for early, needed late.
    const Word low = words[first + lane], high = words[first + lane + 32];
    const bool writes = threadIdx.x < 32;
    const Index number = writes && lane < left ? order[first + lane] : 0;
    const Index second_number = writes && lane + 32 < left ? order[first + lane + 32] : 0;

    // Which boxes of the tile does one that stays remove? A thread asks box k, and 1024 boxes further.
    unsigned* gone = removed[tile % 3];
    Word struck = 0;
#pragma unroll 4
    for (int k = threadIdx.x; k < first; k += blockDim.x) {
      const Word of_tile = k < first - kTile ? stay[k / kTile] : stays;
      if (of_tile >> (k % kTile) & 1) struck |= words[k];
    }
    if (struck) {
      atomicOr(&gone[0], static_cast<unsigned>(struck));
      atomicOr(&gone[1], static_cast<unsigned>(struck >> 32));
    }
    if (threadIdx.x < 2) removed[(tile + 1) % 3][threadIdx.x] = 0;
    __syncthreads();

    // Who is left, and who of them stays? Every warp finds it out for itself: nobody waits for another.
    const Word alive = ~(Word(gone[1]) << 32 | gone[0]) & (left < kTile ? below(left) : ~Word(0));
    stays = staying(alive, low, high);
    if (writes && stays >> lane & 1) kept[before + __popcll(stays & below(lane))] = number;
    if (writes && stays >> (lane + 32) & 1) kept[before + __popcll(stays & below(lane + 32))] = second_number;
    if (threadIdx.x == 0) stay[tile] = stays;  // the others read it after the next barrier
    before += __popcll(stays);
  }
  if (threadIdx.x == 0) *total = before;
}

// The obvious way, to compare with: box by box. Who stays strikes out at once, and everybody waits for it. The mask has
// the words of a box side by side.
extern "C" __global__ void nms_scan_by_box(const Word* mask, const Index* order, int count, Index* kept, int* total) {
  extern __shared__ Word removed[];
  const int tiles = (count + kTile - 1) / kTile;
  for (int t = threadIdx.x; t < tiles; t += blockDim.x) removed[t] = 0;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < count; ++i) {
    if (removed[i / kTile] >> (i % kTile) & 1) continue;  // the same for all threads
    __syncthreads();                                      // before anybody changes what others still read
    if (threadIdx.x == 0) kept[before] = order[i];
    ++before;
    for (int t = i / kTile + threadIdx.x; t < tiles; t += blockDim.x) removed[t] |= mask[Index(i) * tiles + t];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = before;
}
