// Softmax and RMSNorm of rows, and their gradients. The first kernels load a row several times; the others keep it in
// registers.
#include "exact.hpp"
#include "rms_norm.hpp"

// ---- Softmax: what the threads of a row know ----

// The largest of some elements, times log2 e, and the sum of their exponentials, relative to the largest one.
using Peak = float2;
constexpr __device__ Peak kNothing = {-INFINITY, 0};

// The exponential of x relative to `largest`, which is already times log2 e. In one multiply-add, only the result is
// rounded; the product, which may be much larger, is not.
__device__ inline float exponential(float x, float largest) { return exp2_approximately(fmaf(x, kLog2E, -largest)); }

// Two results for different elements become the result for all of them.
__device__ inline Peak merged(Peak a, Peak b) {
  const float largest = fmaxf(a.x, b.x), from = largest == -INFINITY ? 0 : largest;  // -inf - (-inf) would be NaN
  return {largest, a.y * exp2_approximately(a.x - from) + b.y * exp2_approximately(b.x - from)};
}

// The same for one more element.
__device__ inline Peak with(Peak peak, float x) {
  const float scaled = x * kLog2E;
  if (scaled > peak.x) peak = {scaled, peak.y * exp2_approximately(peak.x - scaled)};
  peak.y += x == -INFINITY ? 0 : exponential(x, peak.x);
  return peak;
}

__device__ inline float largest_of(float a, float b) { return fmaxf(a, b); }

constexpr Shape kPasses = {"passes", kThreads, 0, 1, false, false, false};

// ---- Rung 1: the largest element, the sum of the exponentials, and the results, in one pass each ----
template <class T>
__device__ void softmax_three_passes(const Rows& p) {
  Team<kPasses> team;
  const T* const x = static_cast<const T*>(p.x) + std::size_t(p.columns) * team.row;
  T* const y = static_cast<T*>(p.y) + std::size_t(p.columns) * team.row;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < p.columns; i += kThreads) largest = fmaxf(largest, float_of(x[i]));
  largest = team.combined(largest, largest_of) * kLog2E;
  float sum = 0;
  for (int i = threadIdx.x; i < p.columns; i += kThreads) sum += exponential(float_of(x[i]), largest);
  const float factor = 1 / team.combined(sum, sum_of);
  for (int i = threadIdx.x; i < p.columns; i += kThreads) {
    y[i] = rounded<T>(exponential(float_of(x[i]), largest) * factor);
  }
}

// ---- Rung 2: the first two passes become one ----
template <class T>
__device__ void softmax_online(const Rows& p) {
  Team<kPasses> team;
  const T* const x = static_cast<const T*>(p.x) + std::size_t(p.columns) * team.row;
  T* const y = static_cast<T*>(p.y) + std::size_t(p.columns) * team.row;
  Peak peak = kNothing;
  for (int i = threadIdx.x; i < p.columns; i += kThreads) peak = with(peak, float_of(x[i]));
  peak = team.combined(peak, merged);
  const float factor = 1 / peak.y;
  for (int i = threadIdx.x; i < p.columns; i += kThreads) {
    y[i] = rounded<T>(exponential(float_of(x[i]), peak.x) * factor);
  }
}

// ---- Rung 3: a thread loads 16 bytes at a time, four times before it uses them ----
template <class T>
__device__ void softmax_wide(const Rows& p) {
  constexpr int kSize = Vector<T>::kSize, kAhead = 4;
  Team<kPasses> team;
  const auto* const x =
      reinterpret_cast<const Vector<T>*>(static_cast<const T*>(p.x) + std::size_t(p.columns) * team.row);
  auto* const y = reinterpret_cast<Vector<T>*>(static_cast<T*>(p.y) + std::size_t(p.columns) * team.row);
  const int count = p.columns / kSize;
  const auto for_all = [&](auto function) {  // function(vector, its index)
    for (int first = threadIdx.x; first < count; first += kAhead * kThreads) {
      Vector<T> vectors[kAhead];
#pragma unroll
      for (int v = 0; v < kAhead; ++v) {
        if (first + v * kThreads < count) vectors[v] = x[first + v * kThreads];
      }
#pragma unroll
      for (int v = 0; v < kAhead; ++v) {
        if (first + v * kThreads < count) function(vectors[v], first + v * kThreads);
      }
    }
  };
  Peak peak = kNothing;
  for_all([&](const Vector<T>& vector, int) {
    float largest = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < vector.kSize; ++i) largest = fmaxf(largest, vector[i] * kLog2E);
    const float from = largest == -INFINITY ? 0 : largest;
#pragma unroll
    for (int i = 0; i < vector.kSize; ++i) sum += exponential(vector[i], from);
    peak = merged(peak, {largest, sum});
  });
  peak = team.combined(peak, merged);
  const float factor = 1 / peak.y;
  for_all([&](Vector<T> vector, int at) {
    vector.assign([&](int i) { return exponential(vector[i], peak.x) * factor; });
    y[at] = vector;
  });
}

// ---- Rungs 4 and 5: the row stays in the registers of a block, or of several; the next one arrives meanwhile ----
template <class T, const Shape& kShape>
__device__ void softmax(const Rows& p) {
  Team<kShape> team;
  Inputs<T, kShape, kSoftmaxInputs> inputs(team, p, -INFINITY, {p.x});
  for (int row = team.row; row < p.rows; row += team.teams) {
    inputs.wait();
    Part<T, kShape> part = inputs.part(0, row);
    inputs.release(row);
    Peak peak = {largest_in(part) * kLog2E, 0};
    const float from = peak.x == -INFINITY ? 0 : peak.x;
    peak.y = sum_over(part, [&](int v, int i) { return exponential(part(v, i), from); });
    part.forget_conversions();
    peak = team.combined(peak, merged);
    const float factor = 1 / peak.y;
    part.assign([&](int v, int i) { return exponential(part(v, i), peak.x) * factor; });
    part.store(team, static_cast<T*>(p.y) + std::size_t(p.columns) * row, p.columns);
  }
}

// ---- The gradient of softmax: dx = y · (dy - the sum of y · dy) ----
template <class T, const Shape& kShape>
__device__ void softmax_backward(const Rows& p) {
  Team<kShape> team;
  Inputs<T, kShape, kSoftmaxBackwardInputs> inputs(team, p, 0, {p.y, p.dy});
  for (int row = team.row; row < p.rows; row += team.teams) {
    inputs.wait();
    Part<T, kShape> y = inputs.part(0, row), dy = inputs.part(1, row);
    inputs.release(row);
    float sum = sum_over(y, [&](int v, int i) { return y(v, i) * dy(v, i); });
    y.forget_conversions(), dy.forget_conversions();
    sum = team.combined(sum, sum_of);
    dy.assign([&](int v, int i) { return y(v, i) * (dy(v, i) - sum); });
    dy.store(team, static_cast<T*>(p.dx) + std::size_t(p.columns) * row, p.columns);
  }
}

// ---- RMSNorm of x + residual ----
template <class T, const Shape& kShape>
__device__ void rms_norm(const Rows& p) {
  rms_norm<T, kShape>(p, [&](Team<kShape>& team, const Part<T, kShape>& y, int row) {
    y.store(team, static_cast<T*>(p.y) + std::size_t(p.columns) * row, p.columns);
  });
}

// ---- The gradients of RMSNorm ----
//
// With r = 1 / sqrt(mean of h² + epsilon) and g = weight · dy, dx = dh + r · g - h · r³ · mean of g · h. The gradient
// of the weight is the sum of dy · h · r over all rows. A team computes several rows, and adds its part in registers.
template <class T, const Shape& kShape>
__device__ void rms_norm_backward(const Rows& p) {
  using P = Part<T, kShape>;
  Team<kShape> team;
  Inputs<T, kShape, kRmsNormBackwardInputs> inputs(team, p, 0, {p.h, p.dy, p.dh});
  const T* const weights = static_cast<const T*>(p.weight);
  float of_weight[kShape.vectors][P::kSize] = {};
  for (int row = team.row; row < p.rows; row += team.teams) {
    inputs.wait();
    P h = inputs.part(0, row), dy = inputs.part(1, row);
    float2 sums = {0, 0};  // of h², and of g · h
#pragma unroll
    for (int v = 0; v < P::kVectors; ++v) {
      const Vector<T> weight = P::loaded(team, weights, p.columns, v, 0);
#pragma unroll
      for (int i = 0; i < P::kSize; ++i) sums.x += h(v, i) * h(v, i), sums.y += weight[i] * dy(v, i) * h(v, i);
    }
    h.forget_conversions(), dy.forget_conversions();
    sums = team.combined(sums, [](float2 a, float2 b) { return float2{a.x + b.x, a.y + b.y}; });
    const float count = static_cast<float>(p.columns), r = rsqrtf(sums.x / count + p.epsilon);
    const float of_h = r * r * sums.y / count;
#pragma unroll
    for (int v = 0; v < P::kVectors; ++v) {  // the weight and dh are loaded late, since they need registers
      const Vector<T> weight = P::loaded(team, weights, p.columns, v, 0), dh = inputs.vector(2, row, v);
      dy.vectors[v].assign([&](int i) {
        const float normal = h(v, i) * r;
        of_weight[v][i] += dy(v, i) * normal;
        return dh[i] + r * (weight[i] * dy(v, i)) - normal * of_h;
      });
    }
    inputs.release(row);
    dy.store(team, static_cast<T*>(p.dx) + std::size_t(p.columns) * row, p.columns);
  }
#pragma unroll
  for (int v = 0; v < kShape.vectors; ++v) {
#pragma unroll
    for (int i = 0; i < P::kSize; ++i) {
      const int at = P::column(team, v, i);
      if (at < p.columns) p.parts[std::size_t(p.columns) * team.row + at] = of_weight[v][i];
    }
  }
}

// The gradient of the weight: the sum of the parts, always in the same order. A block computes kSumColumns columns.
template <class T>
__device__ void add_parts(const float* parts, int count, int columns, T* sum) {
  __shared__ float sums[kSumRows][kSumColumns];
  const int x = threadIdx.x % kSumColumns, y = threadIdx.x / kSumColumns, column = blockIdx.x * kSumColumns + x;
  float all = 0;
  if (column < columns) {
#pragma unroll 8
    for (int i = y; i < count; i += kSumRows) all += parts[std::size_t(columns) * i + column];
  }
  sums[y][x] = all;
  __syncthreads();
  if (y > 0 || column >= columns) return;
  for (int i = 1; i < kSumRows; ++i) all += sums[i][x];
  sum[column] = rounded<T>(all);
}

// ---- The kernels' names ----

// A thread may use about so many of the 65536 registers of a multiprocessor.
#define BOUNDED(threads, registers) \
  extern "C" __global__ void __launch_bounds__(threads, 65536 / (registers) / (threads))
#define SHAPED(name, type, T, shape, registers, ...)                                                   \
  BOUNDED((__VA_ARGS__).threads*(__VA_ARGS__).rows, registers) name##_##type##_##shape(const Rows p) { \
    name<T, __VA_ARGS__>(p);                                                                           \
  }
// The shapes with up to four vectors in a thread, and those with eight.
#define SHAPES(name, type, T, few, many)              \
  SHAPED(name, type, T, warp, few, kWarp)             \
  SHAPED(name, type, T, two_warps, few, kTwoWarps)    \
  SHAPED(name, type, T, small, few, kSmall)           \
  SHAPED(name, type, T, medium, few, kMedium)         \
  SHAPED(name, type, T, large, few, kLarge)           \
  SHAPED(name, type, T, whole, many, kWhole)          \
  SHAPED(name, type, T, ahead, few, kAhead)           \
  SHAPED(name, type, T, ahead_long, many, kAheadLong) \
  SHAPED(name, type, T, anywhere, 128, kAnywhere)
#define TYPE(type, T)                                                                                              \
  BOUNDED(kThreads, 128) softmax_three_passes_##type(const Rows p) { softmax_three_passes<T>(p); }                 \
  BOUNDED(kThreads, 128) softmax_online_##type(const Rows p) { softmax_online<T>(p); }                             \
  BOUNDED(kThreads, 128) softmax_wide_##type(const Rows p) { softmax_wide<T>(p); }                                 \
  SHAPES(softmax, type, T, 64, 64)                                                                                 \
  SHAPED(softmax, type, T, cluster, 64, kCluster)                                                                  \
  SHAPES(softmax_backward, type, T, 80, 128)                                                                       \
  SHAPES(rms_norm, type, T, 64, 128)                                                                               \
  SHAPED(rms_norm_backward, type, T, tiny, 48, kSumTiny)                                                           \
  SHAPED(rms_norm_backward, type, T, small, 48, kSumSmall)                                                         \
  SHAPED(rms_norm_backward, type, T, medium, 64, kSumMedium)                                                       \
  SHAPED(rms_norm_backward, type, T, large, 64, kSumLarge)                                                         \
  SHAPED(rms_norm_backward, type, T, ahead, 128, kSumAhead)                                                        \
  SHAPED(rms_norm_backward, type, T, anywhere, 128, kSumAnywhere<sizeof(T)>)                                       \
  BOUNDED(kSumColumns* kSumRows, 64) add_parts_##type(const float* parts, int count, int columns, T* sum) {        \
    add_parts(parts, count, columns, sum);                                                                         \
  }                                                                                                                \
  BOUNDED(kThreads, 128) fill_##type(T* matrix, std::size_t count, unsigned seed, float factor, unsigned masked) { \
    fill(matrix, count, seed, factor, masked);                                                                     \
  }                                                                                                                \
  BOUNDED(kThreads, 128) compare_softmax_##type(const Rows p, unsigned* wrong, double*) {                          \
    compare_softmax<T>(p, wrong);                                                                                  \
  }                                                                                                                \
  BOUNDED(kThreads, 128) compare_softmax_backward_##type(const Rows p, unsigned* wrong, double*) {                 \
    compare_softmax_backward<T>(p, wrong);                                                                         \
  }                                                                                                                \
  BOUNDED(kThreads, 128) compare_rms_norm_##type(const Rows p, unsigned* wrong, double*) {                         \
    compare_rms_norm<T>(p, wrong);                                                                                 \
  }                                                                                                                \
  BOUNDED(kThreads, 128) compare_rms_norm_backward_##type(const Rows p, unsigned* wrong, double* sums) {           \
    compare_rms_norm_backward<T>(p, wrong, sums);                                                                  \
  }                                                                                                                \
  BOUNDED(kThreads, 128) compare_sums_##type(const T* found, const double* sums, int columns, unsigned* wrong) {   \
    compare_sums(found, sums, columns, wrong);                                                                     \
  }
TYPE(float, float)
TYPE(bfloat16, __nv_bfloat16)
SHAPED(rms_norm_backward, float, float, ahead_long, 128, kSumAheadLong)
