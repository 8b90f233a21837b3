// A row in the registers of the threads that share it, and what these threads compute together.
#pragma once
#include "04-kernels/exp2.hpp"
#include "04-kernels/hopper.hpp"
#include "shape.hpp"

#include <cuda_bf16.h>

#include <cmath>
#include <cstddef>

// ---- Vectors of 16 bytes ----

__device__ inline float float_of(float x) { return x; }
__device__ inline float float_of(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T>
__device__ T rounded(float x) {
  if constexpr (sizeof(T) == 2)
    return __float2bfloat16_rn(x);
  else
    return x;
}

template <class T>
struct alignas(16) Vector {
  static constexpr int kSize = 16 / sizeof(T);
  unsigned words[4];  // each has one element or, of bfloat16, two

  __device__ float operator[](int i) const {
    if constexpr (sizeof(T) == 4) return __uint_as_float(words[i]);
    return __uint_as_float(i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xffff0000u);
  }
  // Sets element i to function(i).
  template <class Function>
  __device__ void assign(Function function) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (sizeof(T) == 4) {
        words[i] = __float_as_uint(function(i));
      } else {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(function(2 * i), function(2 * i + 1));
        words[i] = *reinterpret_cast<const unsigned*>(&pair);
      }
    }
  }
};

// ---- The threads that share a row ----

// kShape.threads threads of a block, and the same of all blocks of a cluster if the shape has one.
template <const Shape& kShape>
struct Team {
  static constexpr int kWarps = kShape.threads / 32;
  int thread = kShape.rows == 1 ? threadIdx.x : threadIdx.x % kShape.threads;
  int blocks = kShape.clustered ? hopper::cluster_size() : 1;
  int block = kShape.clustered ? hopper::cluster_rank() : 0;
  // The first row, and the distance to the next one if there are fewer teams than rows.
  int row = kShape.rows == 1 ? blockIdx.x / blocks : blockIdx.x * kShape.rows + threadIdx.x / kShape.threads;
  int teams = gridDim.x / blocks * kShape.rows;

  __device__ Team() {
    if (blocks == 1) return;
    if (threadIdx.x < 2) hopper::mbarrier_init(arrived(threadIdx.x), 1);
    hopper::fence_mbarrier_init();
    hopper::cluster_sync();  // no block sends anything to a block that has not started
  }

  // Combines a value of each thread with the function, which is associative and commutative. All threads get the
  // result. Successive calls alternate between two slots, so that no thread writes what another one still reads.
  template <class Value, class Function>
  __device__ Value combined(Value value, Function function) {
    __shared__ Value of_warps[2][kWarps];
    const int slot = calls_ % 2, parity = calls_ / 2 % 2;
    ++calls_;
    value = of_warp(value, function, 32);
    if constexpr (kWarps > 1) {
      if (threadIdx.x % 32 == 0) of_warps[slot][threadIdx.x / 32] = value;
      __syncthreads();
      value = of_warp(of_warps[slot][threadIdx.x % kWarps], function, kWarps);
    }
    if constexpr (kShape.clustered) {
      if (blocks > 1) {
        __shared__ float2 of_blocks[2][kMostBlocks];
        if (threadIdx.x == 0) hopper::mbarrier_arrive_expect_tx(arrived(slot), blocks * sizeof(float2));
        if (threadIdx.x < blocks) {
          hopper::store_to_block(&of_blocks[slot][block], float2_of(value), arrived(slot), threadIdx.x);
        }
        hopper::mbarrier_wait_cluster(arrived(slot), parity);
        value = of_warp(value_of(of_blocks[slot][threadIdx.x % blocks], value), function, blocks);
      }
    }
    return value;
  }

 private:
  template <class Value, class Function>
  __device__ static Value of_warp(Value value, Function function, int lanes) {
    for (int distance = 1; distance < lanes; distance *= 2) value = function(value, shuffled(value, distance));
    return value;
  }
  __device__ static float shuffled(float value, int distance) { return __shfl_xor_sync(0xffffffff, value, distance); }
  __device__ static float2 shuffled(float2 value, int distance) {
    return {shuffled(value.x, distance), shuffled(value.y, distance)};
  }
  __device__ static float2 float2_of(float value) { return {value, 0}; }
  __device__ static float2 float2_of(float2 value) { return value; }
  __device__ static float value_of(float2 pair, float) { return pair.x; }
  __device__ static float2 value_of(float2 pair, float2) { return pair; }

  // The barrier of a slot: all blocks' values have arrived.
  __device__ static std::uint64_t& arrived(int slot) {
    __shared__ std::uint64_t barriers[2];
    return barriers[slot];
  }
  int calls_ = 0;
};

// ---- A row ----

// The part of a row that a thread keeps in its registers. Neighboring threads have neighboring vectors or, if rows are
// not aligned, neighboring elements.
template <class T, const Shape& kShape>
struct Part {
  static constexpr bool kAligned = kShape.aligned;
  static constexpr int kVectors = kShape.vectors, kSize = Vector<T>::kSize, kAll = kVectors * kSize;

  Vector<T> vectors[kShape.vectors];

  // The place of element i of vector v among the elements of the block, and its column.
  __device__ static int place(const Team<kShape>& team, int v, int i) {
    return kAligned ? (v * kShape.threads + team.thread) * kSize + i : (v * kSize + i) * kShape.threads + team.thread;
  }
  __device__ static int column(const Team<kShape>& team, int v, int i) {
    return team.block * kShape.threads * kAll + place(team, v, i);
  }

  // Vector v of the row. Elements past the row's end are `outside`.
  __device__ static Vector<T> loaded(const Team<kShape>& team, const T* row, int columns, int v, float outside) {
    Vector<T> vector;
    if (kAligned && column(team, v, 0) < columns) {
      vector = *reinterpret_cast<const Vector<T>*>(row + column(team, v, 0));
    } else {
      vector.assign([&](int i) {
        const int at = column(team, v, i);
        return !kAligned && at < columns ? float_of(row[at]) : outside;
      });
    }
    return vector;
  }
  __device__ void load(const Team<kShape>& team, const T* row, int columns, float outside) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) vectors[v] = loaded(team, row, columns, v, outside);
  }

  __device__ void store(const Team<kShape>& team, T* row, int columns) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kAligned) {
        const int at = column(team, v, 0);
        if (at < columns) *reinterpret_cast<Vector<T>*>(row + at) = vectors[v];
      } else {
#pragma unroll
        for (int i = 0; i < kSize; ++i) {
          const int at = column(team, v, i);
          if (at < columns) row[at] = rounded<T>(vectors[v][i]);
        }
      }
    }
  }

  // Makes the compiler convert the elements to FP32 again when they are used next. Otherwise it keeps both, and a row
  // of bfloat16 occupies three times as many registers.
  __device__ void forget_conversions() {
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (Vector<T>& vector : vectors) {
#pragma unroll
        for (unsigned& word : vector.words) asm volatile("" : "+r"(word));
      }
    }
  }

  __device__ float operator()(int v, int i) const { return vectors[v][i]; }
  // Sets element i of vector v to function(v, i).
  template <class Function>
  __device__ void assign(Function function) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) vectors[v].assign([&](int i) { return function(v, i); });
  }
};

// Calls function(v, i) for each element of a part of type P.
template <class P, class Function>
__device__ void for_each(Function function) {
#pragma unroll
  for (int v = 0; v < P::kVectors; ++v) {
#pragma unroll
    for (int i = 0; i < P::kSize; ++i) function(v, i);
  }
}

// The sum, or the largest, of function(v, i) for all elements of a part: four chains, so that no addition has to wait
// for the one before it.
template <class P, class Function>
__device__ float sum_over(const P&, Function function) {
  float sums[4] = {};
  for_each<P>([&](int v, int i) { sums[i % 4] += function(v, i); });
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
template <const Shape& kShape>
__device__ float largest_in(const Part<float, kShape>& part) {
  float largest[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for_each<Part<float, kShape>>([&](int v, int i) { largest[i] = fmaxf(largest[i], part(v, i)); });
  return fmaxf(fmaxf(largest[0], largest[1]), fmaxf(largest[2], largest[3]));
}
// One instruction compares two elements of bfloat16, and does not need to convert them.
template <const Shape& kShape>
__device__ float largest_in(const Part<__nv_bfloat16, kShape>& part) {
  __nv_bfloat162 largest[4];
#pragma unroll
  for (int v = 0; v < kShape.vectors; ++v) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const auto pair = *reinterpret_cast<const __nv_bfloat162*>(&part.vectors[v].words[i]);
      largest[i] = v == 0 ? pair : __hmax2(largest[i], pair);
    }
  }
  const __nv_bfloat162 all = __hmax2(__hmax2(largest[0], largest[1]), __hmax2(largest[2], largest[3]));
  return fmaxf(float_of(all.x), float_of(all.y));
}

// ---- The rows that a team loads ----

// The rows of kCount matrices, for a team that loops over its rows. With kShape.ahead, the next row is copied to shared
// memory while the team computes.
template <class T, const Shape& kShape, int kCount>
class Inputs {
  using P = Part<T, kShape>;
  static constexpr int kBytes = kShape.bytes();  // of a matrix's row in shared memory

 public:
  // Elements past a row's end are `outside`.
  __device__ Inputs(const Team<kShape>& team, const Rows& p, float outside, const void* const (&matrices)[kCount])
      : team_(team), rows_(p.rows), columns_(p.columns), outside_(outside) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) matrices_[i] = static_cast<const T*>(matrices[i]);
    if constexpr (kShape.ahead) {
      if (threadIdx.x == 0) {
        hopper::mbarrier_init(full(), 1);
        hopper::fence_mbarrier_init();
        hopper::fence_proxy_async();
        copy(team.row);
      }
      __syncthreads();
    }
  }

  // Waits until the team's next row has arrived.
  __device__ void wait() {
    if constexpr (kShape.ahead) hopper::mbarrier_wait(full(), parity_), parity_ ^= 1;
  }
  __device__ Vector<T> vector(int matrix, int row, int v) const {
    if constexpr (kShape.ahead) {
      const void* const at = copied(matrix) + P::place(team_, v, 0) * sizeof(T);
      if (P::column(team_, v, 0) < columns_) return *static_cast<const Vector<T>*>(at);
      Vector<T> empty;
      empty.assign([&](int) { return outside_; });
      return empty;
    } else {
      return P::loaded(team_, matrices_[matrix] + std::size_t(columns_) * row, columns_, v, outside_);
    }
  }
  __device__ P part(int matrix, int row) const {
    P part;
#pragma unroll
    for (int v = 0; v < kShape.vectors; ++v) part.vectors[v] = vector(matrix, row, v);
    return part;
  }
  // The row is in registers: the next one may overwrite it in shared memory.
  __device__ void release(int row) const {
    if constexpr (kShape.ahead) {
      hopper::fence_proxy_async();  // all ordinary loads come before the copy, which uses another proxy
      __syncthreads();
      if (threadIdx.x == 0) copy(row + team_.teams);
    }
  }

 private:
  __device__ static std::uint64_t& full() {
    __shared__ std::uint64_t barrier;
    return barrier;
  }
  __device__ static unsigned char* copied(int matrix) {
    extern __shared__ __align__(128) unsigned char bytes[];
    return bytes + matrix * kBytes;
  }
  __device__ void copy(int row) const {
    if (row >= rows_) return;
    const int first = team_.block * (kBytes / int{sizeof(T)});  // column of the block
    const int bytes = max(min(kBytes, int{sizeof(T)} * (columns_ - first)), 0);
    hopper::mbarrier_arrive_expect_tx(full(), kCount * bytes);
    if (bytes == 0) return;
    for (int i = 0; i < kCount; ++i) {
      hopper::bulk_load(copied(i), matrices_[i] + std::size_t(columns_) * row + first, bytes, full());
    }
  }

  const Team<kShape>& team_;
  const int rows_, columns_;
  const float outside_;
  const T* matrices_[kCount];
  int parity_ = 0;
};
