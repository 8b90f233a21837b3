// The kernels of a step, except attention and RMSNorm, which lessons 04-34 and 04-30 have; and those that prepare
// weights.
#include "epilogues.hpp"
#include "sample.hpp"

namespace engine {

#define PRODUCT(name, Use)                                                                                       \
  extern "C" __global__ void __launch_bounds__(32 * kMostWarps, kBlocksOfProduct) name##_bf16(const Product p) { \
    product<InBfloat16>(p, Use{p});                                                                              \
  }                                                                                                              \
  extern "C" __global__ void __launch_bounds__(32 * kMostWarps, kBlocksOfProduct) name##_int4(const Product p) { \
    product<InFourBits>(p, Use{p});                                                                              \
  }
PRODUCT(plain, Plain)
PRODUCT(add, Add)
PRODUCT(swiglu, Swiglu)
PRODUCT(logits, Logits)

#define TO_CACHE(name, Weights)                                                   \
  extern "C" __global__ void __launch_bounds__(32 * kMostWarps, kBlocksOfProduct) \
      name(const Product p, const Cache c) {                                      \
    product<Weights>(p, ToCache{p, c});                                           \
  }
TO_CACHE(to_cache_bf16, InBfloat16)
TO_CACHE(to_cache_int4, InFourBits)

extern "C" __global__ void __launch_bounds__(1024) sample_next(const Sampling p) {
  let_next_start();
  wait_for_last();
  sample(p);
}

// A request begins in a slot: its first token becomes the input of the next step.
extern "C" __global__ void __launch_bounds__(1024) begin(const Sampling p, int slot) {
  embed(p, slot, p.prompts[slot * p.most]);
  if (threadIdx.x == 0) p.lengths[slot] = 1;
}

// ---- The same as epilogues do, for rows of y in memory ----

extern "C" __global__ void rotate(const __nv_bfloat16* qkv, __nv_bfloat16* q, int m, const Cache c) {
  const int heads = c.heads + 2 * c.kv_heads, half = c.head / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * heads * half) return;
  const int row = i / (heads * half), head = i / half % heads, pair = i % half;
  const __nv_bfloat16* const from = qkv + (static_cast<std::size_t>(row) * heads + head) * c.head + pair;
  place(c, q, row, head, pair, __bfloat162float(from[0]), __bfloat162float(from[half]));
}

extern "C" __global__ void gate(const __nv_bfloat16* both, __nv_bfloat16* y, int m, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * width) return;
  const __nv_bfloat16* const from = both + static_cast<std::size_t>(i / width) * 2 * width + i % width;
  y[i] = __float2bfloat16_rn(swiglu(__bfloat162float(from[0]), __bfloat162float(from[width])));
}

// ---- Weights ----

// Random normals.
extern "C" __global__ void fill_weights(__nv_bfloat16* weights, std::size_t count, unsigned seed, float factor) {
  const std::size_t threads = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
    const unsigned bits = verify::hash(static_cast<unsigned>(i) ^ verify::hash(seed + static_cast<unsigned>(i >> 32)));
    weights[i] = __float2bfloat16_rn(factor * verify::normal(bits));
  }
}

// Rows in the order of the tiles.
extern "C" __global__ void arrange(const __nv_bfloat16* from, __nv_bfloat16* to, int columns, int segment) {
  const int row = blockIdx.x, source = source_row(row / kTileRows, row % kTileRows, segment);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    to[static_cast<std::size_t>(row) * columns + i] = from[static_cast<std::size_t>(source) * columns + i];
  }
}

// Arranged weights in bfloat16, in the order in which the lanes of InBfloat16 need them: for each 32 columns, lane t of
// four has eight neighbors of two rows, and each vector of 16 bytes is an operand of one mma. A block for each tile.
extern "C" __global__ void pack(const __nv_bfloat16* from, uint4* to, int columns) {
  const int vectors = columns / 16 * 32;  // of a tile
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    const int lane = i % 32, column = i / 64 * 32 + lane % 4 * 8 + i / 32 % 2 * 4;
    const auto* const upper = reinterpret_cast<const unsigned*>(
        from + (static_cast<std::size_t>(blockIdx.x) * kTileRows + lane / 4) * columns + column);
    const unsigned* const lower = upper + static_cast<std::size_t>(4) * columns;
    to[static_cast<std::size_t>(blockIdx.x) * vectors + i] = {upper[0], lower[0], upper[1], lower[1]};
  }
}

}  // namespace engine
