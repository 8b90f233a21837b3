// The kernel that all shapes share. Lesson 05-17 includes it, too.
#pragma once
#include "merge.hpp"
#include "ring.hpp"

// `ready` is called when the lengths of the requests are known, and before anything else is loaded.
template <class S, class Ready>
__device__ void decode(const Decode& p, Ready ready) {
  extern __shared__ __align__(256) char memory[];
  __shared__ typename Work<S>::Memory of_work;
  __shared__ Totals totals;
  __shared__ Shared shared;
  const Work<S> work(p, of_work);
  ready();
  Ring<S> ring(p, work, ampere::shared_address(memory));
  int shares = 0;
  for (Position at = work.first(); at.left > 0;) {
    const Part part = work.part(at);
    const std::size_t row =
        (std::size_t{static_cast<unsigned>(part.request)} * work.heads() + part.head) * rows_of<S>(p);
    Queries<S> queries;
    load_queries<S>(queries, static_cast<const __nv_bfloat16*>(p.q) + row * S::kHead, rows_of<S>(p));
    const float scale = p.scale * kLog2E * (S::kBytes == 2 ? 1 : p.k_scales[part.head]);
    State<S> state;
    for (int i = 0; i < part.steps; ++i, work.advance(at)) {
      ring.wait();
#pragma unroll
      for (int page = 0; page < kPages<S>; ++page) {
        const int keys = work.keys_of(part.request) - Ring<S>::first_key(at.step, page);
        if (keys > 0) state.add(queries, rows_of<S>(p), ring.k(page), ring.v(page), keys, scale);
      }
    }
    Merge<S>(p, part, work.heads())
        .merge_warps(state, memory + ring.used_offset(), S::kStages * kStageBytes<S>, totals);
    if (part.is_whole()) continue;
    if (threadIdx.x == 0) shared.parts[shares] = part;
    ++shares;
  }
  merge_shared<S>(p, shared, shares, work.heads());
}
template <class S>
__device__ void decode(const Decode& p) {
  decode<S>(p, [] {});
}
