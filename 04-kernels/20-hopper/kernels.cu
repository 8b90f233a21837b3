// Ways to feed the tensor cores of compute capability 9.0: c = a × b, square matrices of bfloat16, n a multiple of 256,
// rows side by side in memory; sums are floats. Each builds on the one before.
#include "hopper.hpp"
#include "product.hpp"

#include <cuda_bf16.h>

#define EACH _Pragma("unroll")  // the loops whose counts the compiler knows: their variables stay in registers

constexpr int kGroup = 128;  // threads: four warps make a warpgroup

using Box = unsigned char[kBoxBytes];

// How a box lies in shared memory: the eight pieces of sixteen bytes of a row change places, by the row's number. So
// the eight rows of a column of pieces lie in different banks.
__device__ int swizzled(int row, int piece) { return row * 128 + (piece ^ row % 8) * 16; }

// Multiplies 64 rows of one box by four boxes: 64 numbers deep, in four instructions.
__device__ void multiply(float (&sums)[128], const Box* a, const Box* b, bool add) {
  const std::uint64_t matrix_a = hopper::matrix(a), matrix_b = hopper::matrix(b);
  EACH for (int k = 0; k < 4; ++k) {
    // Sixteen deep: 32 bytes further in a's rows, sixteen rows of 128 bytes further in b. The address counts sixteens.
    hopper::multiply(sums, matrix_a + 2 * k, matrix_b + 128 * k, add || k > 0);
  }
}

// A thread's sums go to its places in c: in two rows, two neighbours out of every eight columns.
__device__ void write(const float (&sums)[128], __nv_bfloat16* c, int n, int top, int left) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  __nv_bfloat16* at = c + static_cast<std::size_t>(top + warp * 16 + lane / 4) * n + left + lane % 4 * 2;
  EACH for (int i = 0; i < 128; i += 4) {
    *reinterpret_cast<__nv_bfloat162*>(at + i * 2) = __floats2bfloat162_rn(sums[i], sums[i + 1]);
    *reinterpret_cast<__nv_bfloat162*>(at + i * 2 + 8 * n) = __floats2bfloat162_rn(sums[i + 2], sums[i + 3]);
  }
}

// Tile number `tile` of c, in the order in which the blocks take them: down a band of up to 16 tiles, then to the
// right, so that what runs at the same time needs few different boxes and finds them in the L2 cache.
struct Tile {
  int top, left;
};
template <int rows>
__device__ Tile place(int tile, int n) {
  const int across = n / kColumns, down = n / rows, first = tile / (kBand * across) * kBand,
            high = min(kBand, down - first), inside = tile - first * across;
  return {(first + inside % high) * rows, inside / high * kColumns};
}

// `warpgroup`: the instruction. A block of one warpgroup has a tile of 64 × 256. Its threads fetch boxes of a and b,
// sixteen bytes at a time, all on their way before the first is put into shared memory, and the tensor cores take them
// from there.
extern "C" __global__ void __launch_bounds__(kGroup) warpgroup(const __grid_constant__ Product p) {
  extern __shared__ __align__(1024) Box memory[];
  constexpr int kEach = kBoxBytes / 16 / kGroup;  // pieces of a box that a thread fetches
  const Tile at = place<kBox>(blockIdx.x, p.n);
  uint4 pieces[1 + kBoxesOfB][kEach];
  auto piece = [&](const void* from, int row, int column, int i) {
    const int number = threadIdx.x + i * kGroup;  // in the box: eight in a row
    return static_cast<const uint4*>(
        from)[(static_cast<std::size_t>(row + number / 8) * p.n + column) / 8 + number % 8];
  };
  float sums[128];
  for (int k = 0; k < p.n; k += kBox) {
    EACH for (int i = 0; i < kEach; ++i) {
      pieces[0][i] = piece(p.a, at.top, k, i);
      EACH for (int j = 0; j < kBoxesOfB; ++j) pieces[1 + j][i] = piece(p.b, k, at.left + j * kBox, i);
    }
    EACH for (int box = 0; box <= kBoxesOfB; ++box) {
      EACH for (int i = 0; i < kEach; ++i) {
        const int number = threadIdx.x + i * kGroup;
        *reinterpret_cast<uint4*>(memory[box] + swizzled(number / 8, number % 8)) = pieces[box][i];
      }
    }
    hopper::publish();
    __syncthreads();
    hopper::begin();
    multiply(sums, memory, memory + 1, k > 0);
    hopper::commit();
    hopper::finish<0>();
    __syncthreads();
  }
  write(sums, static_cast<__nv_bfloat16*>(p.c), p.n, at.top, at.left);
}

// `copies`: one thread asks for the boxes, the copy engine brings them, swizzled; a barrier in shared memory counts the
// bytes.
extern "C" __global__ void __launch_bounds__(kGroup) copies(const __grid_constant__ Product p) {
  extern __shared__ __align__(1024) Box memory[];
  __shared__ std::uint64_t full;
  Box *const box_a = memory, *const boxes_b = memory + 1;
  const Tile at = place<kBox>(blockIdx.x, p.n);
  if (threadIdx.x == 0) {
    hopper::init(full, 1);
    hopper::publish_barriers();
  }
  __syncthreads();
  float sums[128];
  for (int k = 0, phase = 0; k < p.n; k += kBox, phase ^= 1) {
    if (threadIdx.x == 0) {
      hopper::expect(full, (1 + kBoxesOfB) * kBoxBytes);
      hopper::fetch(box_a, p.map_a, k, at.top, full);
      for (int j = 0; j < kBoxesOfB; ++j) hopper::fetch(boxes_b[j], p.map_b, at.left + j * kBox, k, full);
    }
    hopper::wait(full, phase);
    hopper::begin();
    multiply(sums, box_a, boxes_b, k > 0);
    hopper::commit();
    hopper::finish<0>();
    __syncthreads();
  }
  write(sums, static_cast<__nv_bfloat16*>(p.c), p.n, at.top, at.left);
}

// From `ring` to `cluster`: the first warpgroup brings boxes, each of the others multiplies 64 rows. The boxes lie in a
// ring of stages: full[s] says that stage s is there, empty[s] that all have done with it. A block goes on to another
// tile when it has one, and the ring is filled for it meanwhile. With kStore, the result goes out by way of shared
// memory and the copy engine. Clusters of kCluster blocks have tiles below each other: each block brings a part of the
// same boxes of b, for all.
template <int kGroups, bool kStore, int kCluster>
__device__ void product(const Product& p) {
  constexpr int kBoxes = kGroups + kBoxesOfB, kBoxesMine = kBoxesOfB / kCluster;
  extern __shared__ __align__(1024) Box stages[];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  const int group = __shfl_sync(0xffffffff, threadIdx.x / kGroup, 0);  // one for the whole warp, as the compiler sees
  const int tiles = p.n / kColumns * (p.n / (kGroups * kBox));
  const int rank = kCluster == 1 ? 0 : hopper::block_of_cluster();
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      hopper::init(full[s], 1);                        // who asks for the boxes
      hopper::init(empty[s], 4 * kGroups * kCluster);  // every warp that reads them, or reads a part of ours
    }
    hopper::publish_barriers();
  }
  if (kCluster == 1) {
    __syncthreads();
  } else {
    hopper::meet_cluster();
  }

  int round = 0;  // of the ring, in steps: stage round % kStages
  if (group == 0) {
    if (threadIdx.x == 0) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const Tile at = place<kGroups * kBox>(tile, p.n);
        for (int k = 0; k < p.n; k += kBox, ++round) {
          const int s = round % kStages;
          Box *const boxes_a = stages + s * kBoxes, *const boxes_b = boxes_a + kGroups;
          hopper::wait(empty[s], (round / kStages + 1) % 2);  // the first time round: nobody has to give it back
          hopper::expect(full[s], kBoxes * kBoxBytes);
          EACH for (int i = 0; i < kGroups; ++i) hopper::fetch(boxes_a[i], p.map_a, k, at.top + i * kBox, full[s]);
          EACH for (int i = 0; i < kBoxesMine; ++i) {
            const int j = rank * kBoxesMine + i;
            if (kCluster == 1) {
              hopper::fetch(boxes_b[j], p.map_b, at.left + j * kBox, k, full[s]);
            } else {
              hopper::fetch_for_all(boxes_b[j], p.map_b, at.left + j * kBox, k, full[s], (1 << kCluster) - 1);
            }
          }
        }
      }
    }
  } else {
    const int lane = threadIdx.x % 32;
    auto release = [&](int s) {
      if (lane < kCluster) hopper::arrive(empty[s], lane);
    };
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      float sums[128];
      for (int k = 0; k < p.n; k += kBox, ++round) {
        const int s = round % kStages;
        const Box *const boxes_a = stages + s * kBoxes, *const boxes_b = boxes_a + kGroups;
        hopper::wait(full[s], round / kStages % 2);
        hopper::begin();
        multiply(sums, boxes_a + group - 1, boxes_b, k > 0);
        hopper::commit();
        hopper::finish<1>();  // the step before; this one goes on while the next is waited for
        if (k > 0) release((round - 1) % kStages);
      }
      hopper::finish<0>();
      release((round - 1) % kStages);

      const Tile at = place<kGroups * kBox>(tile, p.n);
      const int top = at.top + (group - 1) * kBox;
      if (!kStore) {
        write(sums, static_cast<__nv_bfloat16*>(p.c), p.n, top, at.left);
        continue;
      }
      Box* const out = stages + kStages * kBoxes + (group - 1) * 2;  // two, in turn
      const int warp = threadIdx.x / 32 % 4, row = warp * 16 + lane % 16;
      EACH for (int j = 0; j < kBoxesOfB; ++j) {
        if (threadIdx.x % kGroup == 0) hopper::wait_until_read<1>();
        hopper::meet(group);
        EACH for (int i = 0; i < 4; ++i) {  // sixteen columns each
          const float* const from = sums + j * 32 + i * 8;
          unsigned pairs[4];
          EACH for (int k = 0; k < 4; ++k) {
            const __nv_bfloat162 pair = __floats2bfloat162_rn(from[2 * k], from[2 * k + 1]);
            pairs[k] = *reinterpret_cast<const unsigned*>(&pair);
          }
          hopper::put(out[j % 2] + swizzled(row, 2 * i + lane / 16), pairs[0], pairs[1], pairs[2], pairs[3]);
        }
        hopper::publish();
        hopper::meet(group);
        if (threadIdx.x % kGroup == 0) hopper::store(p.map_c, at.left + j * kBox, top, out[j % 2]);
      }
    }
    if (kStore && threadIdx.x % kGroup == 0) hopper::wait_until_stored();
  }
  if (kCluster > 1) hopper::meet_cluster();  // nobody goes whose barriers and boxes the others still use
}

// `ring`: boxes for four steps are there or on their way while one is multiplied.
extern "C" __global__ void __launch_bounds__(2 * kGroup, 1) ring(const __grid_constant__ Product p) {
  product<1, false, 1>(p);
}

// `pair`: two warpgroups multiply, and the boxes of b serve both: a tile of 128 × 256. Launched with fewer blocks than
// there are tiles, it is the lesson's `persistent`.
extern "C" __global__ void __launch_bounds__(3 * kGroup, 1) pair(const __grid_constant__ Product p) {
  product<2, false, 1>(p);
}

// `stored`: the result is put in order in shared memory and stored by the copy engine.
extern "C" __global__ void __launch_bounds__(3 * kGroup, 1) stored(const __grid_constant__ Product p) {
  product<2, true, 1>(p);
}

// `cluster`: two blocks bring each other's boxes of b.
extern "C" __global__ void __launch_bounds__(3 * kGroup, 1) cluster(const __grid_constant__ Product p) {
  product<2, true, 2>(p);
}
