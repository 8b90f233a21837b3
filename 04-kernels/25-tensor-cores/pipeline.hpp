// A product whose tiles are copied ahead: the stages in shared memory, and the loop that multiplies them.
#pragma once
#include "04-kernels/raster.hpp"
#include "product.hpp"

// What a block computes at a time: `steps` steps of one tile of c, from step number `first` on.
struct Part {
  int row, column;  // where the tile begins
  int first, steps;
};

// Tile number `tile` of c, as a whole.
template <class S>
__device__ Part whole_tile(const Product& p, int tile) {
  const Tile at = place(tile, p.rows / S::kRows, p.columns / S::kColumns, p.band);
  return {at.row * S::kRows, at.column * S::kColumns, 0, p.inner / S::kDepth};
}

// The work of block b: the tiles b, b + blocks, and so on.
template <class S>
class WholeTiles {
 public:
  __device__ explicit WholeTiles(const Product& p) : p_(p), tile_(blockIdx.x) {}
  // Returns whether there is one more.
  __device__ bool more() const { return tile_ < p_.rows / S::kRows * (p_.columns / S::kColumns); }
  // Goes on to the next one. Returns whether there was one.
  __device__ bool next(Part& part) {
    if (!more()) return false;
    part = whole_tile<S>(p_, tile_);
    tile_ += gridDim.x;
    return true;
  }

 private:
  const Product& p_;
  int tile_;
};

// The stages of a pipeline: while the block multiplies the tiles of one step, those of later steps are being copied.
template <class S, class Work>
class Pipeline {
 public:
  __device__ Pipeline(const Product& p, const Work& work) : p_(p), work_(work), row_(0), left_(0), copied_(0) {
    extern __shared__ __align__(128) char stages[];
    first_ = read_ = write_ = ampere::shared_address(stages);
    for (int step = 0; step < S::kStages - 1; ++step) copy();
  }
  // Starts to copy the tiles of one more step. After the last step, the group is empty, so that wait() can count.
  __device__ void copy() {
    if (Part part; left_ == 0 && work_.next(part)) start(part);
    if (left_ > 0) {
      --left_;
      if (S::kCopies || copied_++ < S::kStages) {
        a_.each([&](int i, int to, const uint4* from) {
          if constexpr (S::kThin) {  // a may have fewer rows than the tile
            const bool inside = row_ + ShareOfA<S>::row(i) < p_.rows;
            ampere::cp_async_or_zero(write_ + to, inside ? from : p_.a, inside);
          } else {
            ampere::cp_async(write_ + to, from);
          }
        });
        b_.each([&](int, int to, const uint4* from) { ampere::cp_async(write_ + kBytesOfA<S> + to, from); });
      }
      a_.advance(S::kDepth), b_.advance(std::size_t(S::kDepth) * p_.columns);
      write_ = after(write_);
    }
    ampere::cp_async_commit();
  }
  // Waits until the tiles of the next step are complete, and until all threads have read those of the last one.
  __device__ void wait() const {
    ampere::cp_async_wait<S::kStages - 2>();
    __syncthreads();
  }
  // The tiles of the step that is being computed.
  __device__ unsigned a() const { return read_; }
  __device__ unsigned b() const { return read_ + kBytesOfA<S>; }
  __device__ void next() { read_ = after(read_); }

 private:
  __device__ void start(const Part& part) {
    const int k = part.first * S::kDepth;
    a_ = ShareOfA<S>(p_.a, part.row, k, p_.inner), b_ = ShareOfB<S>(p_.b, k, part.column, p_.columns);
    row_ = part.row, left_ = part.steps;
  }
  __device__ unsigned after(unsigned stage) const {
    return stage == first_ + (S::kStages - 1) * kStageBytes<S> ? first_ : stage + kStageBytes<S>;
  }

  const Product& p_;
  Work work_;
  ShareOfA<S> a_;
  ShareOfB<S> b_;
  int row_, left_, copied_;  // of the part whose tiles are being copied: row, steps that are left; copies so far
  unsigned first_, read_, write_;
};

// `ahead` and later rungs: while the tensor cores multiply some fragments, the next ones are loaded, even if they
// belong to the next step. If there is none, they are loaded in vain, except by thin kernels. Calls finish(sums, part)
// for each part of the work.
template <class S, class Work, class Finish>
__device__ void load_ahead_and_multiply(const Product& p, Work work, Finish finish) {
  constexpr int kParts = S::kDepth / kMma;
  Pipeline<S, Work> pipeline(p, work);
  Fragments<S> fragments[2];
  pipeline.wait();
  load<S>(fragments[0], pipeline.a(), pipeline.b(), 0);
  if (!S::kLoads) load<S>(fragments[1], pipeline.a(), pipeline.b(), kMma);
  for (Part part; work.next(part);) {
    Sums<S> sums;
    for (int step = 0; step < part.steps; ++step) {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        if (i == kParts - 1) {  // all fragments of this step are in registers
          pipeline.wait();
          pipeline.next();
        }
        const bool more = !S::kThin || i < kParts - 1 || step + 1 < part.steps || work.more();
        if (S::kLoads && more) load<S>(fragments[(i + 1) % 2], pipeline.a(), pipeline.b(), (i + 1) % kParts * kMma);
        if (i == 0) pipeline.copy();
        multiply(sums, fragments[i % 2]);
      }
    }
    finish(sums, part);
  }
}
