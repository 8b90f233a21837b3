// The ops of ops.hpp as kernels, and NMS, which has more to it than a loop.

#include "05-extension/07-real-ops/ops.hpp"

using namespace real_ops;

// Many threads may add to one sum, and at the same time.
struct Atomically {
  template <class W>
  __device__ void operator()(W* sum, W value) const {
    atomicAdd(sum, value);
  }
};

// The op is a struct, and one parameter of the kernel. As many threads as there are, as often as it takes.
#define KERNEL(name, Op, T)                                                                                 \
  extern "C" __global__ void name##_##T(Op<T> op, Index count) {                                            \
    const Index step = Index(gridDim.x) * blockDim.x, first = Index(blockIdx.x) * blockDim.x + threadIdx.x; \
    for (Index i = first; i < count; i += step) op(i, Atomically());                                        \
  }
EACH_OP(KERNEL, half)
EACH_OP(KERNEL, float)
EACH_OP(KERNEL, double)

// ---- NMS, first kernel: who overlaps whom ---------------------------------------------------------------------------

// 64 boxes are a tile, and the answers "box i and box 64 t + 0 … 63" are the 64 bits of one word, mask[i][t]. `order` has
// the numbers of the boxes, the best first; from here on, box i is the one at order[i]. Of two boxes only the worse one
// can go, so the words left of the diagonal are not needed, except in groups of four tiles, which are scanned together:
// overlap has no direction, and there a word says also which better boxes overlap box i.

using Word = unsigned long long;
constexpr int kTile = 64, kGroup = 4;

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
__device__ Box<Wide<T>> box(const T* boxes, Index i) {
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
template <class T>
__device__ void mask_of_tile(const T* boxes, const Index* order, int count, double threshold, Word* mask) {
  if (blockIdx.x < blockIdx.y / kGroup * kGroup) return;
  const int first = blockIdx.x * kTile, here = min(kTile, count - first);
  __shared__ Box<Wide<T>> tile[kTile];
  const Wide<T> nowhere = nan("");  // is apart from everything
  tile[threadIdx.x] = threadIdx.x < here ? box(boxes, order[first + threadIdx.x])
                                         : Box<Wide<T>>{nowhere, nowhere, nowhere, nowhere};
  __syncthreads();
  const int i = blockIdx.y * kTile + threadIdx.x;
  const Wide<T> limit = static_cast<Wide<T>>(threshold);
  Word near = 0, word = 0;
  if (i < count) {
    const Box<Wide<T>> own = box(boxes, order[i]);
    // Most pairs are far apart, which four comparisons tell. Only what is left is computed, and divided.
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      if (!apart(own, tile[j])) near |= Word(1) << j;
    }
    if (limit < 0) near = ~Word(0) >> (kTile - here);  // even an overlap of nothing is above it
    if (blockIdx.x == blockIdx.y) near &= ~(Word(1) << threadIdx.x);  // nobody removes himself
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
NMS_MASK(half)
NMS_MASK(float)
NMS_MASK(double)

// ---- NMS, second kernel: who stays ----------------------------------------------------------------------------------

// One block, group by group.

// The bits below bit i.
__device__ Word below(int i) { return (Word(1) << i) - 1; }

// For the boxes of a tile, a bit each. Lane l of a warp stands for the boxes l and l + 32.
__device__ Word bits(bool low, bool high) {
  const unsigned first_half = __ballot_sync(~0u, low), second_half = __ballot_sync(~0u, high);
  return Word(second_half) << 32 | first_half;
}

// Bits of the tile's boxes that stay: those alive that no staying box before them overlaps. Start with all, and strike
// out until nothing changes. After k rounds the first k bits are final, so it ends; as a rule after one or two, since
// most of who overlaps was struck out by better tiles. `low`, `high`: whom the lane's two boxes overlap.
__device__ Word staying(Word alive, Word low, Word high) {
  const int lane = threadIdx.x % 32;
  const Word before_low = low & below(lane), before_high = high & below(lane + 32);
  Word stays = alive, last;
  do {
    last = stays;
    stays = alive & bits((before_low & last) == 0, (before_high & last) == 0);
  } while (stays != last);
  return stays;
}

// kept: the numbers of the boxes that stay, `*total` of them. By 1024 threads; dynamic shared memory: a word a tile.
extern "C" __global__ void __launch_bounds__(1024)
    nms_scan(const Word* mask, const Index* order, int count, Index* kept, int* total) {
  extern __shared__ unsigned removed[];  // two a tile: atomics of 32 bits are quick in shared memory, those of 64 are not
  __shared__ Word within[kGroup][kGroup * kTile];  // who overlaps whom in this group: by tile, then by box
  __shared__ short stay[kGroup * kTile];           // the boxes of this group that stay, `number` of them
  __shared__ int number;
  const int tiles = (count + kTile - 1) / kTile, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int my_box = threadIdx.x / kGroup, my_tile = threadIdx.x % kGroup;  // a thread brings one word of `within`
  const auto brought = [&](int first) {
    const bool is_there = first + my_box / kTile < tiles && first + my_tile < tiles;
    return is_there ? mask[(Index(first) * kTile + my_box) * tiles + first + my_tile] : 0;
  };
  for (int half = threadIdx.x; half < 2 * tiles; half += blockDim.x) removed[half] = 0;
  within[my_tile][my_box] = brought(0);
  __syncthreads();

  int before = 0;
  for (int first = 0; first < tiles; first += kGroup) {
    const Word next = brought(first + kGroup);  // asked for now, for it takes a while
    // Who is left, and who of them stays? The first warp finds it out, from registers and shared memory alone.
    if (warp == 0) {
      Word stays[kGroup];
      int found = 0;
#pragma unroll
      for (int t = 0; t < kGroup; ++t) {
        const int tile = first + t, left = count - tile * kTile, low = t * kTile + lane, high = low + 32;
        Word alive = left <= 0 ? 0 : left < kTile ? below(left) : ~Word(0);
        if (alive) alive &= ~(Word(removed[2 * tile + 1]) << 32 | removed[2 * tile]);
        bool low_goes = false, high_goes = false;
        for (int better = 0; better < t; ++better) {
          low_goes |= (within[better][low] & stays[better]) != 0;
          high_goes |= (within[better][high] & stays[better]) != 0;
        }
        alive &= ~bits(low_goes, high_goes);
        stays[t] = alive ? staying(alive, within[t][low], within[t][high]) : 0;
        if (stays[t] >> lane & 1) stay[found + __popcll(stays[t] & below(lane))] = low;
        if (stays[t] >> (lane + 32) & 1) stay[found + __popcll(stays[t] & below(lane + 32))] = high;
        found += __popcll(stays[t]);
      }
      if (lane == 0) number = found;
    }
    __syncthreads();
    // Whom do they remove from the groups to come? A warp takes 32 words of each box, or of every second, third, … one.
    const int found = number, rest = tiles - first - kGroup;
    const Index mine = threadIdx.x < found ? order[first * kTile + stay[threadIdx.x]] : 0;  // is on its way meanwhile
    const int across = (rest + 31) / 32, parts = max(1, 32 / max(1, across));
    for (int task = warp; task < across * parts; task += 32) {
      const int tile = first + kGroup + task % across * 32 + lane;
      Word struck = 0;
#pragma unroll 8
      for (int k = task / across; k < found; k += parts) {
        if (tile < tiles) struck |= mask[(Index(first) * kTile + stay[k]) * tiles + tile];
      }
      if (unsigned(struck)) atomicOr(&removed[2 * tile], unsigned(struck));
      if (unsigned(struck >> 32)) atomicOr(&removed[2 * tile + 1], unsigned(struck >> 32));
    }
    if (threadIdx.x < found) kept[before + threadIdx.x] = mine;
    before += found;
    within[my_tile][my_box] = next;
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = before;
}

// The obvious way, to compare with: box by box. Who stays strikes out at once, and everybody waits for it.
extern "C" __global__ void nms_scan_by_box(const Word* mask, const Index* order, int count, Index* kept, int* total) {
  extern __shared__ Word gone[];
  const int tiles = (count + kTile - 1) / kTile;
  for (int t = threadIdx.x; t < tiles; t += blockDim.x) gone[t] = 0;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < count; ++i) {
    if (gone[i / kTile] >> (i % kTile) & 1) continue;  // the same for all threads
    __syncthreads();                                      // before anybody changes what others still read
    if (threadIdx.x == 0) kept[before] = order[i];
    ++before;
    for (int t = i / kTile + threadIdx.x; t < tiles; t += blockDim.x) gone[t] |= mask[Index(i) * tiles + t];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = before;
}
