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

// A box is left, top, right, bottom.
template <class W>
__device__ W area(const W* box) {
  return product(box[2] - box[0], box[3] - box[1]);
}

template <class W>
__device__ bool overlap(const W* a, const W* b, W threshold) {
  const W across = min(a[2], b[2]) - max(a[0], b[0]), down = min(a[3], b[3]) - max(a[1], b[1]);
  const W shared = product(max(across, W(0)), max(down, W(0)));
  if (shared == 0 && threshold >= 0) return false;  // most pairs are far apart: no division for them
  return shared / (area(a) + area(b) - shared) > threshold;
}

// A block compares one tile of boxes, blockIdx.y, with another, blockIdx.x; the boxes are in the order of their scores.
// The words of the next tile, and of the next box, are so many words further in the mask.
template <class T>
__device__ void mask_of_tile(const T* boxes, int count, double threshold, Word* mask, int next_tile, int next_box) {
  const int first = blockIdx.x * kTile, here = min(kTile, count - first);
  if (blockIdx.x < blockIdx.y) return;  // better boxes are not removed by worse ones
  __shared__ Wide<T> tile[kTile][4];
  if (threadIdx.x < here) {
    for (int k = 0; k < 4; ++k) tile[threadIdx.x][k] = boxes[4 * (first + threadIdx.x) + k];
  }
  __syncthreads();
  const int i = blockIdx.y * kTile + threadIdx.x;
  Word word = 0;
  if (i < count) {
    const Wide<T> own[4] = {boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]};
    for (int j = 0; j < here; ++j) {
      if (first + j != i && overlap(own, tile[j], static_cast<Wide<T>>(threshold))) word |= Word(1) << j;
    }
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

// Bits of the tile's boxes that stay: those alive that no staying box before them overlaps. Start with all, and strike
// out until nothing changes. After k rounds the first k bits are final, so it ends; as a rule after one or two, since
// most of who overlaps was struck out by better tiles.
__device__ Word staying(Word alive, Word low, Word high) {
  const int lane = threadIdx.x % 32;
  const Word before_low = low & ((Word(1) << lane) - 1), before_high = high & ((Word(1) << (lane + 32)) - 1);
  Word stays = alive, last;
  do {
    last = stays;
    const unsigned first_half = __ballot_sync(~0u, (before_low & last) == 0),
                   second_half = __ballot_sync(~0u, (before_high & last) == 0);
    stays = alive & (Word(second_half) << 32 | first_half);
  } while (stays != last);
  return stays;
}

// What all lanes have, ored.
__device__ Word any_of_warp(Word word) {
  for (int distance = 16; distance > 0; distance /= 2) word |= __shfl_xor_sync(~0u, word, distance);
  return word;
}

// kept: the numbers from `order` of the boxes that stay, `*total` of them. Dynamic shared memory: a word a tile. The
// mask has the words of a tile's boxes side by side, so that a warp reads 32 of them at once.
extern "C" __global__ void nms_scan(const Word* mask, const Index* order, int count, Index* kept, int* total) {
  extern __shared__ Word removed[];
  const int tiles = (count + kTile - 1) / kTile, lane = threadIdx.x % 32, warp = threadIdx.x / 32,
            warps = blockDim.x / 32;
  const Index row = Index(tiles) * kTile;
  for (int t = threadIdx.x; t < tiles; t += blockDim.x) removed[t] = 0;
  __syncthreads();

  int before = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int first = tile * kTile, left = count - first;
    const Word* own = mask + tile * row + first;
    const Word alive = ~removed[tile] & (left < kTile ? (Word(1) << left) - 1 : ~Word(0));
    if (alive == 0) continue;  // the same for all threads
    // Every warp finds it out for itself: nobody waits for another.
    const Word stays = staying(alive, own[lane], own[lane + 32]);
    const bool low = stays >> lane & 1, high = stays >> (lane + 32) & 1;
    if (warp == 0) {
      if (low) kept[before + __popcll(stays & ((Word(1) << lane) - 1))] = order[first + lane];
      if (high) kept[before + __popcll(stays & ((Word(1) << (lane + 32)) - 1))] = order[first + lane + 32];
    }
    before += __popcll(stays);
    for (int t = tile + 1 + warp; t < tiles; t += warps) {
      const Word* theirs = mask + t * row + first;
      const Word struck = any_of_warp((low ? theirs[lane] : 0) | (high ? theirs[lane + 32] : 0));
      if (lane == 0) removed[t] |= struck;
    }
    __syncthreads();
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
