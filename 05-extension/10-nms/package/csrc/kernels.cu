// NMS on a GPU, in three kernels: the order of the boxes, which of them overlap, and which of them are kept.
#include "nms.hpp"

using namespace box_nms;

// ---- The first kernel: the order of the boxes
// -------------------------------------------------------------------------

constexpr int kThreads = 256, kBoxes = 4;  // threads of a block, and boxes of a warp

// A box's place in the order is the number of better boxes, which are those with a higher score and, among those with
// the same score, those before it. A warp finds the places of several boxes, so that it reads each score once for all.
template <class W>
__device__ void order_of(const W* scores, int count, Index* order) {
  const int lane = threadIdx.x % 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * kBoxes;
  decltype(rank_of(W())) own[kBoxes];
  int better[kBoxes] = {};
#pragma unroll
  for (int k = 0; k < kBoxes; ++k) own[k] = first + k < count ? rank_of(scores[first + k]) : 0;
  for (int j = lane; j < count; j += 32) {
    const auto other = rank_of(scores[j]);
#pragma unroll
    for (int k = 0; k < kBoxes; ++k) better[k] += other > own[k] - (j < first + k);
  }
#pragma unroll
  for (int k = 0; k < kBoxes; ++k) {
    int place = better[k];
    for (int apart = 16; apart > 0; apart /= 2) place += __shfl_xor_sync(~0u, place, apart);
    if (lane == 0 && first + k < count) order[place] = first + k;
  }
}

#define NMS_ORDER(T) \
  extern "C" __global__ void nms_order_##T(const T* scores, int count, Index* order) { order_of(scores, count, order); }
NMS_ORDER(float)
NMS_ORDER(double)

// ---- The second kernel: which boxes overlap
// ---------------------------------------------------------------------------

// A tile is 64 boxes, and bit j of the word mask[i][t] tells whether box i overlaps box 64 t + j. `order` contains the
// numbers of the boxes, best first; below, box i is the one at order[i]. Of two boxes, only the worse one can be
// removed, so words left of the diagonal are not needed. The exception are groups of eight tiles, which are scanned
// together: overlap is symmetric, so such a word also tells which better boxes overlap box i.

constexpr int kGroup = 8, kLoads = 16;

template <class W>
__device__ bool apart(const Box<W>& a, const Box<W>& b) {
  return !(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom);
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

// ---- The third kernel: which boxes are kept
// ---------------------------------------------------------------------------

// A single block scans the mask, group by group. A thread is responsible for one box of the group, and a warp for 32,
// which is half of a tile.

constexpr int kScanners = kGroup * kTile, kWarps = kScanners / 32;  // threads and warps of the block

// The bits below bit i.
__device__ Word below(int i) { return (Word(1) << i) - 1; }

// A bit for each box of the group: is it better than the thread's box, and does it overlap it?
struct Better {
  Word of_tile[kGroup];
};

__device__ Better better_boxes(const Word* mask, int tiles, int first) {
  const int own = threadIdx.x / kTile;
  Better better;
#pragma unroll
  for (int t = 0; t < kGroup; ++t) {
    const bool is_there = first + own < tiles && t <= own;
    better.of_tile[t] = is_there ? mask[(Index(first) * kTile + threadIdx.x) * tiles + first + t] : 0;
    if (t == own) better.of_tile[t] &= below(threadIdx.x % kTile);
  }
  return better;
}

// At first, all boxes that are alive are kept. In each round, a box is kept only if it overlaps no better box kept in
// the round before. After k rounds, the first k boxes are final. In the end, `kept` has a bit for each thread.
__device__ bool decide(bool alive, const Better& better, unsigned* kept) {
  bool is_kept = alive, was_kept;
  do {
    const unsigned of_warp = __ballot_sync(~0u, is_kept);
    if (threadIdx.x % 32 == 0) kept[threadIdx.x / 32] = of_warp;
    __syncthreads();
    was_kept = is_kept, is_kept = alive;
#pragma unroll
    for (int t = 0; t < kGroup; ++t) {
      if (better.of_tile[t] & (Word(kept[2 * t + 1]) << 32 | kept[2 * t])) is_kept = false;
    }
  } while (__syncthreads_or(is_kept != was_kept));
  return is_kept;
}

// A thread's place among the kept boxes of the group, and how many there are.
struct Place {
  int mine, found;
};

__device__ Place place_in(const unsigned* kept) {
  const int warp = threadIdx.x / 32;
  Place place = {__popc(kept[warp] & unsigned(below(threadIdx.x % 32))), 0};
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) place.mine += place.found;
    place.found += __popc(kept[w]);
  }
  return place;
}

// The kept boxes of a group, `found` in a list, remove boxes of later groups. A warp handles 32 words of each kept box,
// or of every second, third, … one. Beyond the end of the list, it loads the last box's words again, so that always
// kLoads loads are in flight.
__device__ void remove_later(const Word* mask, int tiles, int first, const short* list, int found, unsigned* removed) {
  const int rest = tiles - first - kGroup, across = (rest + 31) / 32, parts = max(1, kWarps / max(1, across));
  for (int task = threadIdx.x / 32; task < across * parts; task += kWarps) {
    const int tile = first + kGroup + task % across * 32 + threadIdx.x % 32;
    Word struck = 0;
    for (int k = task / across; k < found && tile < tiles; k += kLoads * parts) {
#pragma unroll
      for (int j = 0; j < kLoads; ++j) {
        struck |= mask[(Index(first) * kTile + list[min(k + j * parts, found - 1)]) * tiles + tile];
      }
    }
    if (unsigned(struck)) atomicOr(&removed[2 * tile], unsigned(struck));
    if (unsigned(struck >> 32)) atomicOr(&removed[2 * tile + 1], unsigned(struck >> 32));
  }
}

// It needs a word of dynamic shared memory for each tile.
extern "C" __global__ void __launch_bounds__(kScanners)
    nms_scan(const Word* mask, const Index* order, int count, Index* kept, Index* total) {
  extern __shared__ unsigned removed[];     // two for each tile: shared memory has faster 32-bit than 64-bit atomics
  __shared__ unsigned kept_here[kWarps];    // which boxes of this group are kept
  __shared__ short list[kScanners];         // the same as a list
  const int me = threadIdx.x, tiles = (count + kTile - 1) / kTile;
  for (int half = me; half < 2 * tiles; half += kScanners) removed[half] = 0;
  Better better = better_boxes(mask, tiles, 0);
  __syncthreads();

  int before = 0;
  for (int first = 0; first < tiles; first += kGroup) {
    const int i = first * kTile + me;
    const Index number = i < count ? order[i] : 0;
    const Better next = better_boxes(mask, tiles, first + kGroup);  // prefetch: used in the next iteration
    const bool alive = i < count && !(removed[2 * first + me / 32] >> me % 32 & 1);
    const bool is_kept = decide(alive, better, kept_here);
    const Place place = place_in(kept_here);
    if (is_kept) list[place.mine] = me, kept[before + place.mine] = number;
    __syncthreads();
    remove_later(mask, tiles, first, list, place.found, removed);
    before += place.found;
    better = next;
    __syncthreads();
  }
  for (int i = before + me; i < count; i += kScanners) kept[i] = -1;
  if (me == 0) *total = before;
}

// ---- The launches
// -----------------------------------------------------------------------------------------------------

namespace box_nms {

#define NMS_LAUNCHES(T)                                                                                              \
  void find_order(const T* scores, int count, Index* order, Stream stream) {                                         \
    const int boxes_of_a_block = kThreads / 32 * kBoxes;                                                             \
    nms_order_##T<<<(count + boxes_of_a_block - 1) / boxes_of_a_block, kThreads, 0, stream>>>(scores, count, order); \
  }                                                                                                                  \
  void keep(const T* boxes, const Index* order, int count, double threshold, Word* mask, Index* kept, Index* total,  \
            Stream stream) {                                                                                         \
    const auto tiles = static_cast<unsigned>(tiles_of(count));                                                       \
    nms_mask_##T<<<dim3(tiles, tiles), kTile, 0, stream>>>(boxes, order, count, threshold, mask);                    \
    nms_scan<<<1, kScanners, tiles * sizeof(Word), stream>>>(mask, order, count, kept, total);                       \
  }
NMS_LAUNCHES(float)
NMS_LAUNCHES(double)

}  // namespace box_nms
