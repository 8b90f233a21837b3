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
  // Your code here. Copy the block's pages with copy_page(), and call state.add() for each of them. Store what the
  // block knows, and count the blocks that have done so. The last one merges the parts, and stores o and lse.
}
