// Attention in bfloat16 on the tensor cores of compute capability 8.0 and later: o = softmax(scale × q × the transpose
// of k) × v. Each kernel changes one thing in an earlier one.
#include "04-kernels/attention_exact.hpp"
#include "04-kernels/clock.hpp"
#include "softmax.hpp"
#include "tile.hpp"
#include "unfused.hpp"

// `fused`: the weights pass through shared memory.
template <class S>
__device__ void through_memory(unsigned (&to)[kDown<S>][4], const Scores<S>& weights, unsigned tile, int k) {
  const unsigned mine = tile + warp() * S::kWarpRows * S::kKeys * kElementBytes;
  if (k == 0) {
    __syncwarp();  // all lanes have loaded the weights of the last step
    store_in_tile(weights, mine);
    __syncwarp();
  }
#pragma unroll
  for (int i = 0; i < kDown<S>; ++i) ampere::ldmatrix_x4(to[i], shifted<S::kKeys>(left<S::kKeys>(mine), i, k));
}

// Removes the scores of the keys that a row does not use.
template <class S>
__device__ void mask(Scores<S>& scores, const Attention& p, int row, int first_key) {
#pragma unroll
  for (int i = 0; i < scores.kRows; ++i) {
    const int keys = keys_of(p, row + scores.row(i)) - first_key;
#pragma unroll
    for (int j = 0; j < scores.kEach; ++j) {
      if (scores.column(j) >= keys) scores.of_row(i, j) = -INFINITY;
    }
  }
}

// The tiles of k and v that a block copies, in one stage or in two.
template <class S>
class Pipeline {
 public:
  __device__ Pipeline(const Attention& p, unsigned stages, int tiles) : keys_(p.keys), tiles_(tiles), stages_(stages) {
    const std::size_t head = std::size_t{blockIdx.y / p.group} * p.keys * S::kHead;
    k_ = static_cast<const __nv_bfloat16*>(p.k) + head, v_ = static_cast<const __nv_bfloat16*>(p.v) + head;
    if (S::kStages > 1) copy(0);
  }
  // Waits until a tile is complete, and starts to copy the next one if there are two stages.
  __device__ void wait(int tile) const {
    if (S::kStages == 1) copy(tile);
    ampere::cp_async_wait<0>();
    __syncthreads();
    if (S::kStages > 1) copy(tile + 1);
  }
  // With one stage, all warps must have read a tile before the next one is copied.
  __device__ void release() const {
    if (S::kStages == 1) __syncthreads();
  }
  __device__ unsigned k(int tile) const { return stages_ + tile % S::kStages * 2 * kTileBytes<S>; }
  __device__ unsigned v(int tile) const { return k(tile) + kTileBytes<S>; }

 private:
  __device__ void copy(int tile) const {
    if (tile >= tiles_ || (tile > 0 && !S::kCopies)) return;
    const int first = tile * S::kKeys;
    const std::size_t at = std::size_t(first) * S::kHead;
    copy_tile<S::kKeys, S::kHead, kThreads<S>>(k(tile), k_ + at, S::kHead, keys_ - first);
    copy_tile<S::kKeys, S::kHead, kThreads<S>>(v(tile), v_ + at, S::kHead, keys_ - first);
    ampere::cp_async_commit();
  }

  const __nv_bfloat16 *k_, *v_;
  int keys_, tiles_;
  unsigned stages_;
};

template <class S>
__device__ void attend(const Attention& p) {
  extern __shared__ __align__(1024) char memory[];
  const int block = S::kLongestFirst ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const int first_row = block * S::kRows, row = first_row + warp() * S::kWarpRows;  // of the block, of the warp
  const int keys_of_block = S::kSkips ? keys_of(p, min(first_row + S::kRows, p.queries) - 1) : p.keys;
  const int keys_of_warp = S::kSkips ? keys_of(p, min(row + S::kWarpRows, p.queries) - 1) : p.keys;
  const int tiles = (keys_of_block + S::kKeys - 1) / S::kKeys;

  const unsigned tile_of_q = ampere::shared_address(memory), stages = tile_of_q + kQueryBytes<S>;
  const auto* const q =
      static_cast<const __nv_bfloat16*>(p.q) + (std::size_t{blockIdx.y} * p.queries + first_row) * S::kHead;
  copy_tile<S::kRows, S::kHead, kThreads<S>>(tile_of_q, q, S::kHead, p.queries - first_row);
  const Pipeline<S> pipeline(p, stages, tiles);
  Queries<S> queries(tile_of_q);
  Softmax<S> softmax(p.scale);
  Output<S> output;
  for (int tile = 0; tile < tiles; ++tile) {
    const int first_key = tile * S::kKeys;
    pipeline.wait(tile);
    if (tile == 0) queries.hold();
    if (first_key < keys_of_warp) {
      Scores<S> scores;
      multiply(scores, queries, pipeline.k(tile));
      if (first_key + S::kKeys > keys_of(p, row)) mask<S>(scores, p, row, first_key);
      if (S::kSoftmax) softmax.add(scores, output);
#pragma unroll
      for (int k = 0; k < scores.kAcross; ++k) {
        unsigned weights[kDown<S>][4];
        if constexpr (S::kInRegisters) {
          as_operand(weights, scores, k);
        } else {
          through_memory<S>(weights, scores, stages + 2 * S::kStages * kTileBytes<S>, k);
        }
        multiply_part(output, weights, pipeline.v(tile), k);
      }
    }
    pipeline.release();
  }
  softmax.finish(output, p, row);
  store<S>(output, p, row);
}

#define KERNEL(name, ...)                                                                                             \
  extern "C" __global__ void __launch_bounds__(kThreads<__VA_ARGS__>, __VA_ARGS__::kBlocks) name(const Attention p) { \
    attend<__VA_ARGS__>(p);                                                                                           \
  }

KERNEL(fused_128, Fused<128>)
KERNEL(registers_128, Registers<128>)
KERNEL(exp2_128, Exp2<128>)
KERNEL(ahead_128, Ahead<128>)
KERNEL(twice_128, Twice<128>)
KERNEL(lazy_128, Lazy<128>)
KERNEL(lazy_64, Lazy<64>)

KERNEL(all_tiles_128, AllTiles<128>)
KERNEL(skips_128, Skips<128>)

KERNEL(no_copies_128, NoCopies<128>)
KERNEL(no_softmax_128, NoSoftmax<128>)
KERNEL(only_products_128, OnlyProducts<128>)
