// Five ways to load a matrix of floats, box by box. Each kernel adds up the columns of the matrix, and is launched with
// one block per multiprocessor. A block adds up a series of boxes: first down the rows, then in the next 256 columns.
#include "04-kernels/hopper.hpp"
#include "shape.hpp"

#include <cstdint>

using Box = float[kBoxRows][kBoxColumns];

// The boxes of a matrix, numbered down the rows of the first 256 columns, then down the next ones.
struct Matrix {
  const float* elements;
  int rows, columns;
};

// The boxes of this block: [next, last).
struct Boxes {
  int next, last, down;  // `down`: boxes in a column of boxes

  __device__ explicit Boxes(const Matrix& m) : down(m.rows / kBoxRows) {
    const long long all = static_cast<long long>(m.columns / kBoxColumns) * down;
    next = static_cast<int>(all * blockIdx.x / gridDim.x), last = static_cast<int>(all * (blockIdx.x + 1) / gridDim.x);
  }
  __device__ int column(int box) const { return box / down * kBoxColumns; }
  __device__ int row(int box) const { return box % down * kBoxRows; }
};

// A thread's part of the sums of two columns. They are added to those of other blocks after the last box with these
// columns.
class Sums {
 public:
  __device__ Sums(const Boxes& boxes, float* sums) : boxes_(boxes), sums_(sums) {}

  __device__ void add(float2 pair) { sum_.x += pair.x, sum_.y += pair.y; }
  __device__ void add(const Box& box) {
#pragma unroll
    for (int row = 0; row < kBoxRows; ++row) add(reinterpret_cast<const float2*>(box[row])[threadIdx.x % kThreads]);
  }
  __device__ void finish(int box) {
    if (box + 1 < boxes_.last && boxes_.row(box + 1) > 0) return;
    float* const to = sums_ + boxes_.column(box) + 2 * (threadIdx.x % kThreads);
    atomicAdd(to, sum_.x), atomicAdd(to + 1, sum_.y);
    sum_ = {};
  }

 private:
  const Boxes& boxes_;
  float* const sums_;
  float2 sum_{};
};

// `threads`: every thread loads its elements of a box into registers and adds them.
extern "C" __global__ void __launch_bounds__(kThreads) threads(Matrix m, float* sums) {
  const Boxes boxes(m);
  Sums mine(boxes, sums);
  for (int box = boxes.next; box < boxes.last; ++box) {
    const float* const first = m.elements + static_cast<std::size_t>(boxes.row(box)) * m.columns + boxes.column(box);
    float2 pairs[kBoxRows];
#pragma unroll
    for (int row = 0; row < kBoxRows; ++row) {
      pairs[row] = reinterpret_cast<const float2*>(first + static_cast<std::size_t>(row) * m.columns)[threadIdx.x];
    }
#pragma unroll
    for (const float2 pair : pairs) mine.add(pair);
    mine.finish(box);
  }
}

// `tma`: one thread issues the load of a box, and all threads wait for it, add it up, and wait for each other.
extern "C" __global__ void __launch_bounds__(kThreads)
    tma(const __grid_constant__ CUtensorMap map, Matrix m, float* sums) {
  extern __shared__ __align__(128) Box loaded[];
  __shared__ std::uint64_t full;
  const Boxes boxes(m);
  Sums mine(boxes, sums);
  if (threadIdx.x == 0) {
    hopper::mbarrier_init(full, 1);
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  for (int box = boxes.next, round = 0; box < boxes.last; ++box, ++round) {
    if (threadIdx.x == 0) {
      hopper::mbarrier_arrive_expect_tx(full, kBoxBytes);
      hopper::tma_load(*loaded, map, boxes.column(box), boxes.row(box), full);
    }
    hopper::mbarrier_wait(full, round % 2);
    mine.add(*loaded);
    mine.finish(box);
    __syncthreads();  // all threads have read the box, so the next load may overwrite it
  }
}

// `two_stages` and `multistage`: while the threads add up a box, the next kStages - 1 boxes are being loaded.
template <int kStages>
__device__ void load_ahead(const CUtensorMap& map, const Matrix& m, float* sums) {
  extern __shared__ __align__(128) Box stages[];
  __shared__ std::uint64_t full[kStages];
  const Boxes boxes(m);
  Sums mine(boxes, sums);
  const auto load = [&](int box) {
    const int s = (box - boxes.next) % kStages;
    hopper::mbarrier_arrive_expect_tx(full[s], kBoxBytes);
    hopper::tma_load(stages[s], map, boxes.column(box), boxes.row(box), full[s]);
  };
  if (threadIdx.x == 0) {
    for (std::uint64_t& barrier : full) hopper::mbarrier_init(barrier, 1);
    hopper::fence_mbarrier_init();
    for (int box = boxes.next; box < min(boxes.next + kStages, boxes.last); ++box) load(box);
  }
  __syncthreads();
  for (int box = boxes.next, round = 0; box < boxes.last; ++box, ++round) {
    const int s = round % kStages;
    hopper::mbarrier_wait(full[s], round / kStages % 2);
    mine.add(stages[s]);
    mine.finish(box);
    __syncthreads();
    if (threadIdx.x == 0 && box + kStages < boxes.last) load(box + kStages);  // into the stage that was just read
  }
}

// `specialized`: one thread of an additional warp, the producer, loads boxes as soon as their stage is free. It does
// not add, and the other warps, the consumers, do not wait for each other.
template <int kStages>
__device__ void produce_and_consume(const CUtensorMap& map, const Matrix& m, float* sums) {
  extern __shared__ __align__(128) Box stages[];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  const Boxes boxes(m);
  if (threadIdx.x == 0) {
    for (std::uint64_t& barrier : full) hopper::mbarrier_init(barrier, 1);
    for (std::uint64_t& barrier : empty) hopper::mbarrier_init(barrier, kThreads / 32);  // each consumer warp arrives
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x >= kThreads) {
    if (threadIdx.x > kThreads) return;
    for (int box = boxes.next, round = 0; box < boxes.last; ++box, ++round) {
      const int s = round % kStages;
      hopper::mbarrier_wait(empty[s], (round / kStages + 1) % 2);  // at first, every stage is empty
      hopper::mbarrier_arrive_expect_tx(full[s], kBoxBytes);
      hopper::tma_load(stages[s], map, boxes.column(box), boxes.row(box), full[s]);
    }
    return;
  }
  Sums mine(boxes, sums);
  for (int box = boxes.next, round = 0; box < boxes.last; ++box, ++round) {
    const int s = round % kStages;
    hopper::mbarrier_wait(full[s], round / kStages % 2);
    mine.add(stages[s]);
    __syncwarp();  // all lanes have read the box
    if (threadIdx.x % 32 == 0) hopper::mbarrier_arrive(empty[s]);
    mine.finish(box);
  }
}

#define AHEAD(name, stages)                                                  \
  extern "C" __global__ void __launch_bounds__(kThreads)                     \
      name(const __grid_constant__ CUtensorMap map, Matrix m, float* sums) { \
    load_ahead<stages>(map, m, sums);                                        \
  }
#define SPECIALIZED(name, stages)                                            \
  extern "C" __global__ void __launch_bounds__(kThreads + kProducerThreads)  \
      name(const __grid_constant__ CUtensorMap map, Matrix m, float* sums) { \
    produce_and_consume<stages>(map, m, sums);                               \
  }
AHEAD(two_stages, 2)
AHEAD(multistage, 8)
SPECIALIZED(specialized, 8)
// The same with other numbers of stages:
SPECIALIZED(stages_1, 1)
SPECIALIZED(stages_2, 2)
SPECIALIZED(stages_4, 4)
SPECIALIZED(stages_16, 16)
