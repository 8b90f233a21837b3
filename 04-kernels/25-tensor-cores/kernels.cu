// Matrix products on the tensor cores of compute capability 8.0 and later: c = a × b in bfloat16 with FP32 sums. Each
// kernel changes one thing in an earlier one.
#include "04-kernels/clock.hpp"
#include "04-kernels/raster.hpp"
#include "04-kernels/verify.hpp"
#include "product.hpp"

template <class S>
__device__ int tiles(const Product& p) {
  return p.n / S::kRows * (p.n / S::kColumns);
}

// Where tile number `tile` of c begins.
struct Corner {
  int row, column;
};
template <class S>
__device__ Corner corner(const Product& p, int tile) {
  const Tile at = place(tile, p.n / S::kRows, p.n / S::kColumns, p.band);
  return {at.row * S::kRows, at.column * S::kColumns};
}

// `mma`, `ldmatrix` and `swizzled`: in each step, the block copies a tile of a and one of b through registers to shared
// memory, and then multiplies them.
template <class S>
__device__ void copy_then_multiply(const Product& p) {
  extern __shared__ __align__(128) char stage[];
  const Corner tile = corner<S>(p, blockIdx.x);
  ShareOfA<S> share_a(p.a, tile.row, 0, p.n);
  ShareOfB<S> share_b(p.b, 0, tile.column, p.n);
  Sums<S> sums;
  for (int k = 0; k < p.n; k += S::kDepth) {
    uint4 a[ShareOfA<S>::kCount], b[ShareOfB<S>::kCount];
    share_a.each([&](int i, int, const uint4* from) { a[i] = *from; });
    share_b.each([&](int i, int, const uint4* from) { b[i] = *from; });
    share_a.each([&](int i, int to, const uint4*) { *reinterpret_cast<uint4*>(stage + to) = a[i]; });
    share_b.each([&](int i, int to, const uint4*) { *reinterpret_cast<uint4*>(stage + kBytesOfA<S> + to) = b[i]; });
    share_a.advance(S::kDepth), share_b.advance(std::size_t(S::kDepth) * p.n);
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < S::kDepth; depth += kMma) {
      Fragments<S> fragments;
      if constexpr (S::kLdmatrix) {
        const unsigned tiles = ampere::shared_address(stage);
        load<S>(fragments, tiles, tiles + kBytesOfA<S>, depth);
      } else {
        load_separately<S>(fragments, stage, stage + kBytesOfA<S>, depth);
      }
      multiply(sums, fragments);
    }
    __syncthreads();
  }
  store(sums, p, tile.row, tile.column);
}

// The stages of a pipeline: while the block multiplies the tiles of one step, those of later steps are being copied.
// Block b computes the tiles b, b + blocks, and so on.
template <class S>
class Pipeline {
 public:
  __device__ explicit Pipeline(const Product& p) : p_(p), tile_(blockIdx.x), left_(p.n / S::kDepth), copied_(0) {
    extern __shared__ __align__(128) char stages[];
    first_ = read_ = write_ = ampere::shared_address(stages);
    start_tile();
    for (int step = 0; step < S::kStages - 1; ++step) copy();
  }
  // Starts to copy the tiles of one more step. After the last step, the group is empty, so that wait() can count.
  __device__ void copy() {
    if (left_ == 0) {
      tile_ += gridDim.x;
      if (tile_ < tiles<S>(p_)) left_ = p_.n / S::kDepth, start_tile();
    }
    if (left_ > 0) {
      --left_;
      if (S::kCopies || copied_++ < S::kStages) {
        a_.each([&](int, int to, const uint4* from) { ampere::cp_async(write_ + to, from); });
        b_.each([&](int, int to, const uint4* from) { ampere::cp_async(write_ + kBytesOfA<S> + to, from); });
      }
      a_.advance(S::kDepth), b_.advance(std::size_t(S::kDepth) * p_.n);
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
  __device__ void start_tile() {
    const Corner corner = ::corner<S>(p_, tile_);
    a_ = ShareOfA<S>(p_.a, corner.row, 0, p_.n), b_ = ShareOfB<S>(p_.b, 0, corner.column, p_.n);
  }
  __device__ unsigned after(unsigned stage) const {
    return stage == first_ + (S::kStages - 1) * kStageBytes<S> ? first_ : stage + kStageBytes<S>;
  }

  const Product& p_;
  ShareOfA<S> a_;
  ShareOfB<S> b_;
  int tile_, left_, copied_;  // the tile of c for which tiles are copied, its steps that are left; copies so far
  unsigned first_, read_, write_;
};

// `cp_async`, `wide` and `multistage`.
template <class S>
__device__ void copy_and_multiply(const Product& p) {
  Pipeline<S> pipeline(p);
  for (int tile = blockIdx.x; tile < tiles<S>(p); tile += gridDim.x) {
    Sums<S> sums;
    for (int k = 0; k < p.n; k += S::kDepth) {
      pipeline.wait();
      pipeline.copy();  // into the stage that was read in the step before
#pragma unroll
      for (int depth = 0; depth < S::kDepth; depth += kMma) {
        Fragments<S> fragments;
        load<S>(fragments, pipeline.a(), pipeline.b(), depth);
        multiply(sums, fragments);
      }
      pipeline.next();
    }
    const Corner at = corner<S>(p, tile);
    store(sums, p, at.row, at.column);
  }
}

// `ahead` and later rungs: while the tensor cores multiply some fragments, the next ones are loaded, even if they
// belong to the next step.
template <class S>
__device__ void load_ahead_and_multiply(const Product& p) {
  constexpr int kParts = S::kDepth / kMma;
  Pipeline<S> pipeline(p);
  Fragments<S> fragments[2];
  pipeline.wait();
  load<S>(fragments[0], pipeline.a(), pipeline.b(), 0);
  if (!S::kLoads) load<S>(fragments[1], pipeline.a(), pipeline.b(), kMma);
  for (int tile = blockIdx.x; tile < tiles<S>(p); tile += gridDim.x) {
    Sums<S> sums;
    for (int k = 0; k < p.n; k += S::kDepth) {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        if (part == kParts - 1) {  // all fragments of this step are in registers
          pipeline.wait();
          pipeline.next();
        }
        if (S::kLoads) load<S>(fragments[(part + 1) % 2], pipeline.a(), pipeline.b(), (part + 1) % kParts * kMma);
        if (part == 0) pipeline.copy();
        multiply(sums, fragments[part % 2]);
      }
    }
    const Corner at = corner<S>(p, tile);
    store(sums, p, at.row, at.column);
  }
}

template <class S>
__device__ void compute(const Product& p) {
  if constexpr (S::kStages == 1) {
    copy_then_multiply<S>(p);
  } else if constexpr (S::kAhead) {
    load_ahead_and_multiply<S>(p);
  } else {
    copy_and_multiply<S>(p);
  }
}

#define KERNEL(name, ...)                                                                                           \
  extern "C" __global__ void __launch_bounds__(kThreads<__VA_ARGS__>, __VA_ARGS__::kBlocks) name(const Product p) { \
    compute<__VA_ARGS__>(p);                                                                                        \
  }

KERNEL(mma, Mma)
KERNEL(ldmatrix, Ldmatrix)
KERNEL(swizzled, Swizzled)
KERNEL(cp_async, CpAsync)
KERNEL(wide, Wide)
KERNEL(multistage_3, Multistage<3>)
KERNEL(multistage_4, Multistage<4>)
KERNEL(ahead_2, Ahead<2>)
KERNEL(ahead_3, Ahead<3>)
KERNEL(ahead_4, Ahead<4>)
KERNEL(square, Square)
KERNEL(small, Small)

KERNEL(unswizzled, Unswizzled)
KERNEL(no_copies, NoCopies)
KERNEL(only_mma, OnlyMma)
