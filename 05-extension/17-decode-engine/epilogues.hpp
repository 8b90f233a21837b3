// What becomes of the sums of a tile.
#pragma once
#include "product.hpp"

namespace engine {

// y as it is, in the usual order of the rows.
struct Plain {
  Product p;
  __device__ void operator()(const Tile& tile) const {
    for (int i = threadIdx.x; i < kTileRows * p.m; i += blockDim.x) {
      const int m = i / kTileRows, row = i % kTileRows;
      const std::size_t at = static_cast<std::size_t>(m) * p.rows + source_row(tile.number, row, p.segment);
      static_cast<__nv_bfloat16*>(p.y)[at] = __float2bfloat16_rn(tile.at(row, m));
    }
  }
};

struct Logits {
  Product p;
  __device__ void operator()(const Tile& tile) const {
    for (int i = threadIdx.x; i < kTileRows * p.m; i += blockDim.x) {
      const int m = i / kTileRows, row = i % kTileRows;
      static_cast<float*>(p.y)[static_cast<std::size_t>(m) * p.rows + tile.number * kTileRows + row] = tile.at(row, m);
    }
  }
};

// Adds to y, and stores the sums of its squares. Half a warp has the elements of a row of y.
struct Add {
  Product p;
  __device__ void operator()(const Tile& tile) const {
    for (int first = 0; first < kTileRows * p.m; first += blockDim.x) {
      const int i = first + threadIdx.x, m = i / kTileRows, row = i % kTileRows;
      float square = 0;
      if (m < p.m) {
        auto& y =
            static_cast<__nv_bfloat16*>(p.y)[static_cast<std::size_t>(m) * p.rows + tile.number * kTileRows + row];
        y = __float2bfloat16_rn(__bfloat162float(y) + tile.at(row, m));
        square = __bfloat162float(y) * __bfloat162float(y);
      }
      for (int d = 1; d < kTileRows; d *= 2) square += __shfl_xor_sync(0xffffffff, square, d);
      if (m < p.m && row == 0) p.squares_of_y[m * (p.rows / kTileRows) + tile.number] = square;
    }
  }
};

__device__ inline float swiglu(float gate, float up) { return gate / (1 + __expf(-gate)) * up; }

struct Swiglu {
  Product p;
  __device__ void operator()(const Tile& tile) const {
    for (int i = threadIdx.x; i < 8 * p.m; i += blockDim.x) {
      const int m = i / 8, row = i % 8;
      static_cast<__nv_bfloat16*>(p.y)[static_cast<std::size_t>(m) * (p.rows / 2) + tile.number * 8 + row] =
          __float2bfloat16_rn(swiglu(tile.at(row, m), tile.at(row + 8, m)));
    }
  }
};

// Stores a pair of elements of a head of q, k or v, `head` / 2 elements apart. Those of q and k are rotated by an angle
// that depends on the position. A key and a value go to the page that the table names.
__device__ inline void place(const Cache& c, __nv_bfloat16* q, int m, int head, int pair, float a, float b) {
  const int half = c.head / 2, length = c.lengths[m], position = length - 1;
  if (length == 0) return;  // the slot is free, and its pages may belong to another one
  if (head < c.heads + c.kv_heads) {
    const float cosine = c.turns[(position * half + pair) * 2], sine = c.turns[(position * half + pair) * 2 + 1];
    const float turned = a * cosine - b * sine;
    b = a * sine + b * cosine, a = turned;
  }
  __nv_bfloat16* to = q + (static_cast<std::size_t>(m) * c.heads + head) * c.head;
  if (head >= c.heads) {
    const std::size_t page = c.table[m * c.pitch + position / kPageTokens];
    const int of_kind = (head - c.heads) % c.kv_heads;
    to = static_cast<__nv_bfloat16*>(head < c.heads + c.kv_heads ? c.k : c.v) +
         ((page * c.kv_heads + of_kind) * kPageTokens + position % kPageTokens) * c.head;
  }
  to[pair] = __float2bfloat16_rn(a), to[pair + half] = __float2bfloat16_rn(b);
}

struct ToCache {
  Product p;
  Cache cache;
  __device__ void operator()(const Tile& tile) const {
    const int tiles = cache.head / kTileRows;  // of a head
    for (int i = threadIdx.x; i < 8 * p.m; i += blockDim.x) {
      const int m = i / 8, row = i % 8;
      place(cache, static_cast<__nv_bfloat16*>(p.y), m, tile.number / tiles, tile.number % tiles * 8 + row,
            tile.at(row, m), tile.at(row + 8, m));
    }
  }
};

}  // namespace engine
