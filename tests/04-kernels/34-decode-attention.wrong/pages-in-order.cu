// Rejected with: "the pages of a request are where the table says"
// The pages are assumed to be in order.
// Attention of one new token for each request, with the keys and values in pages. Several blocks share a head.
#include "04-kernels/34-decode-attention/softmax.hpp"

using S = Even<64>;                                 // rows of 64 elements of bfloat16
constexpr int kPart = kMostGroup * (S::kHead + 2);  // floats that a block may store for the others

// A block has one warp. Block (b, h, r) uses the pages of request r from number pages × b / blocks on and up to
// pages × (b + 1) / blocks - 1, where `blocks` is gridDim.x. These may be no pages at all. Of each page, it uses the
// keys and values of head h. `group` rows of q use this head: those from (r × gridDim.y + h) × group on. o is like q,
// and lse has an element for each row of q: the natural logarithm of the sum of the exponentials of its scores.
//
// Row r of the table has `pitch` elements: the numbers of the pages of request r in the cache. A page has kPage rows
// for each head. Request r has lengths[r] keys; its last page may have room for more.
//
// For every block, there are kPart floats in `parts`. For every head of every request, `done` has a number that is 0
// before the launch, and must be 0 afterward.
extern "C" __global__ void __launch_bounds__(32)
    decode(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const int* table, const int* lengths,
           __nv_bfloat16* o, float* lse, float* parts, unsigned* done, int pitch, int group, float scale) {
  __shared__ __align__(256) char memory[2 * kPageBytes<S>];
  const unsigned tile_of_k = ampere::shared_address(memory), tile_of_v = tile_of_k + kPageBytes<S>;
  const int pair = blockIdx.z * gridDim.y + blockIdx.y;
  Queries<S> queries;
  load_queries<S>(queries, q + std::size_t(pair) * group * S::kHead, group);
  State<S> state;
  const int keys = lengths[blockIdx.z], pages = (keys + kPage - 1) / kPage, blocks = gridDim.x;
  const int begin = pages * blockIdx.x / blocks, end = pages * (blockIdx.x + 1) / blocks;
  for (int page = begin; page < end; ++page) {
    const std::size_t number = blockIdx.z * pitch + page;
    const std::size_t first = (number * gridDim.y + blockIdx.y) * kPage * S::kHead;
    const int rows = keys - page * kPage;
    __syncwarp();  // all lanes have used the last page
    copy_page<S>(tile_of_k, k + first, rows);
    copy_page<S>(tile_of_v, v + first, rows);
    ampere::cp_async_commit();
    ampere::cp_async_wait<0>();
    __syncwarp();
    state.add(queries, group, tile_of_k, tile_of_v, rows, scale * kLog2E);
  }

  float* const mine = parts + (std::size_t(pair) * blocks + blockIdx.x) * kPart;
  for (int i = 0; i < 2; ++i) {
    const int row = Output<S>::row(i);
    const float sum = state.sum(i);
    if (row >= group) continue;
    for (int j = 0; j < Output<S>::kEach; ++j) {
      mine[row * S::kHead + Output<S>::column(j)] = state.output().of_row(i, j);
    }
    if (lane() % 4 == 0) {
      mine[kMostGroup * S::kHead + 2 * row] = state.largest(i);
      mine[kMostGroup * S::kHead + 2 * row + 1] = sum;
    }
  }
  __threadfence();
  __syncwarp();
  unsigned before = 0;
  if (lane() == 0) before = atomicAdd(&done[pair], 1);
  if (__shfl_sync(0xffffffff, before, 0) != blocks - 1) return;
  __threadfence();
  if (lane() == 0) done[pair] = 0;

  const float* const first = parts + std::size_t(pair) * blocks * kPart;
  for (int i = lane(); i < group * S::kHead; i += 32) {
    const int row = i / S::kHead;
    float largest = -INFINITY, sum = 0, value = 0;
    for (int b = 0; b < blocks; ++b) {
      const float* const totals = first + b * kPart + kMostGroup * S::kHead + 2 * row;
      const float most = fmaxf(largest, totals[0]);
      if (most == -INFINITY) continue;
      const float ours = exp2_approximately(largest - most), theirs = exp2_approximately(totals[0] - most);
      largest = most;
      sum = ours * sum + theirs * totals[1];
      value = ours * value + theirs * first[b * kPart + i];
    }
    o[std::size_t(pair) * group * S::kHead + i] = __float2bfloat16_rn(sum > 0 ? value / sum : 0);
    if (i % S::kHead == 0) lse[pair * group + row] = sum > 0 ? largest * kLn2 + logf(sum) : -INFINITY;
  }
}
