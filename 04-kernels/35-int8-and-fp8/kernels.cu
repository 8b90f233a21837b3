// What runs on compute capability 9.0: products of elements of 8 bits on wgmma, and the quantization to e4m3. The
// schedule is that of the rung `cluster` of 04-28.
#include "04-kernels/28-hopper-schedule/pipeline.hpp"
#include "quantize.hpp"
#include "shape.hpp"

#include <type_traits>

extern "C" __global__ void quantize_e4m3(const uint4* matrix, const Quantized q, const float* magnitudes,
                                         bool power_of_two, ushort4* to, float* scales) {
  quantize<Format::kE4m3>(matrix, q, magnitudes, power_of_two, to, scales);
}

// Multiplies 64 rows of x by the rows of w, kBlock products for each sum, without waiting for the result. A row of a
// box has kBlock elements of 8 bits.
template <class Number, int kSums>
__device__ void multiply_step(Number (&sums)[kSums], const Box* x, const Box* w, bool add) {
  const std::uint64_t matrix_x = hopper::matrix_descriptor(x), matrix_w = hopper::matrix_descriptor(w);
  hopper::wgmma_fence();
#pragma unroll
  for (int k = 0; k < 4; ++k) hopper::wgmma_bytes(sums, matrix_x + 2 * k, matrix_w + 2 * k, add || k > 0);
  hopper::wgmma_commit();
}

// The compiler must not read the sums before this.
__device__ inline void is_complete(float& sum) { asm volatile("" : "+f"(sum)::"memory"); }
__device__ inline void is_complete(int& sum) { asm volatile("" : "+r"(sum)::"memory"); }
template <class Number, int kSums>
__device__ void are_complete(Number (&sums)[kSums]) {
#pragma unroll
  for (Number& sum : sums) is_complete(sum);
}

// The sums of a tile: those of a step are added to the tensor cores' own sums.
template <class Shape, class Number, int kSums>
__device__ void add_on_tensor_cores(Number (&sums)[kSums], const Pipeline<Shape>& pipeline, int consumer, int steps,
                                    int& round) {
  for (int step = 0; step < steps; ++step, ++round) {
    const int s = round % Shape::kStages;
    hopper::mbarrier_wait(pipeline.full[s], round / Shape::kStages % 2);
    multiply_step(sums, pipeline.a(s) + consumer, pipeline.b(s), step > 0);
    hopper::wgmma_wait<1>();
    if (step > 0) release(pipeline, (round - 1) % Shape::kStages);
  }
  hopper::wgmma_wait<0>();
  release(pipeline, (round - 1) % Shape::kStages);
  are_complete(sums);
}

// The scales of a step: of a thread's two rows of x, and of the rows of w.
struct Factors {
  float upper, lower, of_w;
};
template <class Shape>
__device__ Factors factors(const Scaled& p, int row, int column, int step) {
  const int steps = p.inner / kBox;
  if (Shape::kScales != Scales::kBlocks || step >= steps) return {1, 1, 1};
  const float* const of_x = p.x_scales + std::size_t(step) * p.rows + row;
  return {of_x[0], of_x[8], p.w_scales[column / kBlock * steps + step]};
}

// Starts to multiply the boxes of the stage for step number `round`, as soon as they have arrived.
template <class Shape, int kSums>
__device__ void start(float (&partial)[kSums], const Pipeline<Shape>& pipeline, int consumer, int round) {
  const int s = round % Shape::kStages;
  hopper::mbarrier_wait(pipeline.full[s], round / Shape::kStages % 2);
  multiply_step(partial, pipeline.a(s) + consumer, pipeline.b(s), false);
}

// sums += partial × its scales
template <int kSums>
__device__ void add(float (&sums)[kSums], float (&partial)[kSums], const Factors& factor) {
  are_complete(partial);
  const float upper = factor.upper * factor.of_w, lower = factor.lower * factor.of_w;
#pragma unroll
  for (int i = 0; i < kSums; ++i) sums[i] += partial[i] * (i % 4 < 2 ? upper : lower);
}

// The same, but each step's sums begin at zero and are then added to others in FP32. Two steps are in progress at once:
// while the first one's sums are being added, the tensor cores multiply for the second one.
template <class Shape, int kSums>
__device__ void add_in_registers(float (&sums)[kSums], const Scaled& p, const Pipeline<Shape>& pipeline, int consumer,
                                 int row, int column, int& round) {
  const int steps = p.inner / kBox;
#pragma unroll
  for (float& sum : sums) sum = 0;
  Factors of_first = factors<Shape>(p, row, column, 0), of_second = factors<Shape>(p, row, column, 1);
  for (int step = 0; step < steps; step += 2, round += 2) {
    float first[kSums], second[kSums];
    start(first, pipeline, consumer, round);
    start(second, pipeline, consumer, round + 1);
    Factors next = of_first, after = of_second;
    if (Shape::kLoadsScales) {
      next = factors<Shape>(p, row, column, step + 2), after = factors<Shape>(p, row, column, step + 3);
    }
    hopper::wgmma_wait<1>();
    add(sums, first, of_first);
    release(pipeline, round % Shape::kStages);
    hopper::wgmma_wait<0>();
    release(pipeline, (round + 1) % Shape::kStages);
    add(sums, second, of_second);
    of_first = next, of_second = after;
  }
}

// Multiplies the sums of a thread by their scales. It has two rows, `row` and the one 8 below, and two neighboring
// columns out of every eight.
template <class Shape, class Number, int kSums>
__device__ void scale(float (&to)[kSums], const Number (&sums)[kSums], const Scaled& p, int row, int column) {
  constexpr bool kRows = Shape::kScales == Scales::kRows;
  const float upper = p.x_scales[kRows ? row : 0], lower = p.x_scales[kRows ? row + 8 : 0];
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    const auto of_w =
        kRows ? *reinterpret_cast<const float2*>(p.w_scales + column + i * 2) : float2{p.w_scales[0], p.w_scales[0]};
    to[i] = static_cast<float>(sums[i]) * upper * of_w.x, to[i + 1] = static_cast<float>(sums[i + 1]) * upper * of_w.y;
    to[i + 2] = static_cast<float>(sums[i + 2]) * lower * of_w.x;
    to[i + 3] = static_cast<float>(sums[i + 3]) * lower * of_w.y;
  }
}

// A consumer, one warpgroup: computes 64 rows of every tile.
template <class Shape>
__device__ void consume(const Scaled& p, const Pipeline<Shape>& pipeline, int rank, int consumer) {
  using Number = std::conditional_t<Shape::kFormat == Format::kS8, int, float>;
  constexpr int kSums = Shape::kColumns / 2;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  int round = 0;
  for (int tile = blockIdx.x / Shape::kCluster; tile < tiles<Shape>(p); tile += gridDim.x / Shape::kCluster) {
    const Corner at = corner<Shape>(p, tile, rank);
    const int first_row = at.row + consumer * kBox, row = first_row + warp * 16 + lane / 4;
    const int column = at.column + lane % 4 * 2;
    Number sums[kSums];
    if constexpr (Shape::kPromoted) {
      add_in_registers(sums, p, pipeline, consumer, row, at.column, round);
    } else {
      add_on_tensor_cores(sums, pipeline, consumer, p.inner / kBox, round);
    }
    float scaled[kSums];
    if constexpr (Shape::kScales == Scales::kBlocks) {
      for (int i = 0; i < kSums; ++i) scaled[i] = sums[i];
    } else {
      scale<Shape>(scaled, sums, p, row, column);
    }
    store_by_tma(scaled, p, first_row, at.column, pipeline.a(Shape::kStages) + 2 * consumer, 1 + consumer);
  }
  if (threadIdx.x % kGroup == 0) hopper::tma_store_wait_read<0>();  // shared memory must outlive the stores
}

#define KERNEL(name, ...)                                                                                           \
  extern "C" __global__ void __launch_bounds__(kThreads<__VA_ARGS__>, 1) name(const __grid_constant__ Scaled p) {   \
    using Shape = __VA_ARGS__;                                                                                      \
    specialize<Shape>(                                                                                              \
        p, [&](const Pipeline<Shape>& pipeline, int rank, int consumer) { consume(p, pipeline, rank, consumer); }); \
  }
KERNEL(int8_wgmma, Fast<Format::kS8, Scales::kRows>)
KERNEL(fp8_one, Fast<Format::kE4m3, Scales::kOne>)
KERNEL(fp8_rows, Fast<Format::kE4m3, Scales::kRows>)
KERNEL(promoted, Promoted<Scales::kRows>)
KERNEL(blocks, Promoted<Scales::kBlocks>)
KERNEL(no_scales, NoScales)

// ---- What the tensor cores' sums of e4m3 lose ----

// Block b computes one sum of products, start[b] + a[b][0] · w[b][0] + …, with the instructions of the kernels above:
// all rows of the matrices are equal. `products` is a multiple of kBlock. `promoted`: as the kernel of this name.
extern "C" __global__ void __launch_bounds__(kGroup)
    add_products(const uint4* a, const uint4* b, const float* start, float* sums, int products, bool promoted) {
  __shared__ __align__(1024) Box box_a;
  __shared__ __align__(1024) Box box_b;
  constexpr int kVectors = kBlock / 16, kColumns = 16;
  const uint4* const from_a = a + std::size_t{blockIdx.x} * products / 16;
  const uint4* const from_b = b + std::size_t{blockIdx.x} * products / 16;
  float sum = start[blockIdx.x], partial[kColumns / 2];
  for (float& each : partial) each = promoted ? 0 : sum;
  for (int first = 0; first < products / 16; first += kVectors) {
    for (int i = threadIdx.x; i < kBox * kVectors; i += kGroup) {
      const int row = i / kVectors, vector = i % kVectors;
      *reinterpret_cast<uint4*>(box_a + swizzled(row, vector)) = from_a[first + vector];
      *reinterpret_cast<uint4*>(box_b + swizzled(row, vector)) = from_b[first + vector];
    }
    hopper::fence_proxy_async();
    __syncthreads();
    multiply_step(partial, &box_a, &box_b, !promoted);
    hopper::wgmma_wait<0>();
    are_complete(partial);
    if (promoted) sum += partial[0];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = promoted ? sum : partial[0];
}
