// The arguments of the kernels that compute attention, on which host and kernels agree.
#pragma once

// The matrices are contiguous, one for each head: q and o have `queries` rows, k and v have `keys` rows. Several heads
// of q, `group` of them, use the same head of k and v.
struct Attention {
  const void *q, *k, *v;
  void* o;
  float* lse;  // for each row, the logarithm of the sum of the exponentials of its scores
  int queries, keys, group;
  float scale;  // of the scores
  bool causal;  // row i uses the keys up to i + keys - queries, so the last row uses all
};

#ifdef __CUDACC__
// How many keys row `row` of q uses, from the first one on.
__device__ inline int keys_of(const Attention& p, int row) {
  return max(0, p.causal ? min(p.keys, row + p.keys - p.queries + 1) : p.keys);
}
#endif
