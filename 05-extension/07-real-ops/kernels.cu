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

// 64 boxes are a tile, and the answers "box i and box 64 t + 0 … 63" are the 64 bits of one word, mask[i][t]. Overlap
// has no direction, so in the tiles of the diagonal a word says also which of the boxes before i overlap it.

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
template <class T>
__device__ void mask_of_tile(const T* boxes, int count, double threshold, Word* mask) {
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
  mask[Index(i) * gridDim.x + blockIdx.x] = word;
}

#define NMS_MASK(T)                                                                                  \
  extern "C" __global__ void nms_mask_##T(const T* boxes, int count, double threshold, Word* mask) { \
    mask_of_tile(boxes, count, threshold, mask);                                                     \
  }
NMS_MASK(half)
NMS_MASK(float)
NMS_MASK(double)

// ---- NMS, second kernel: who stays ----------------------------------------------------------------------------------

// One block, tile by tile.

// The bits below bit i.
__device__ Word below(int i) { return (Word(1) << i) - 1; }

// Bits of the tile's boxes that stay: those alive that no staying box before them overlaps. Start with all, and strike
// out until nothing changes. After k rounds the first k bits are final, so it ends; as a rule after one or two, since
// most of who overlaps was struck out by better tiles.
// By a warp; lane l stands for the boxes l and l + 32, and has their words.
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

// kept: which boxes stay, `*total` of them. Dynamic shared memory: a word a tile.
extern "C" __global__ void nms_scan(const Word* mask, int count, Index* kept, int* total) {
  extern __shared__ Word removed[];
  __shared__ Word stay[2];  // of this tile; of the last one, which others may still be reading
  const int tiles = (count + kTile - 1) / kTile, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto on_diagonal = [&](int tile, int box) { return mask[(Index(tile) * kTile + box) * tiles + tile]; };
  for (int t = threadIdx.x; t < tiles; t += blockDim.x) removed[t] = 0;
  __syncthreads();

  Word low = on_diagonal(0, lane), high = on_diagonal(0, lane + 32);
  int before = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int first = tile * kTile, left = count - first;
    // Who is left, and who of them stays? The first warp finds it out, and asks for the next tile's words meanwhile.
    if (warp == 0) {
      const Word alive = ~removed[tile] & (left < kTile ? below(left) : ~Word(0));
      const Word found = alive ? staying(alive, low, high) : 0;
      if (lane == 0) stay[tile % 2] = found;
      if (tile + 1 < tiles) low = on_diagonal(tile + 1, lane), high = on_diagonal(tile + 1, lane + 32);
      if (found >> lane & 1) kept[before + __popcll(found & below(lane))] = first + lane;
      if (found >> (lane + 32) & 1) kept[before + __popcll(found & below(lane + 32))] = first + lane + 32;
    }
    __syncthreads();
    // Whom do they remove from the tiles to come? A warp takes a box; most of its words are zero.
    const Word stays = stay[tile % 2];
    before += __popcll(stays);
    for (int box = warp; box < kTile; box += blockDim.x / 32) {
      if (!(stays >> box & 1)) continue;
      for (int t = tile + 1 + lane; t < tiles; t += 32) {
        const Word struck = mask[Index(first + box) * tiles + t];
        if (struck) atomicOr(&removed[t], struck);
      }
    }
    if (stays) __syncthreads();
  }
  if (threadIdx.x == 0) *total = before;
}

// The obvious way, to compare with: box by box. Who stays strikes out at once, and everybody waits for it.
extern "C" __global__ void nms_scan_by_box(const Word* mask, int count, Index* kept, int* total) {
  extern __shared__ Word removed[];
  const int tiles = (count + kTile - 1) / kTile;
  for (int t = threadIdx.x; t < tiles; t += blockDim.x) removed[t] = 0;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < count; ++i) {
    if (removed[i / kTile] >> (i % kTile) & 1) continue;  // the same for all threads
    __syncthreads();                                      // before anybody changes what others still read
    if (threadIdx.x == 0) kept[before] = i;
    ++before;
    for (int t = i / kTile + threadIdx.x; t < tiles; t += blockDim.x) removed[t] |= mask[Index(i) * tiles + t];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = before;
}
