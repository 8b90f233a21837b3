// The right results in double precision, and the comparison of whole results with them. A block compares a row.
#pragma once
#include "04-kernels/random.hpp"
#include "row.hpp"

// Fills a matrix with random normals times `factor`. About one element in `masked` is -inf; with 0, none is.
template <class T>
__device__ void fill(T* matrix, std::size_t count, unsigned seed, float factor, unsigned masked) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const unsigned bits = verify::hash(static_cast<unsigned>(i) ^ seed);
    matrix[i] = rounded<T>(masked > 0 && bits % masked == 0 ? -INFINITY : factor * verify::normal(bits));
  }
}

__device__ inline double block_sum(double value) {
  __shared__ double sum;
  __syncthreads();
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, value);
  __syncthreads();
  return sum;
}

__device__ inline double block_largest(double value) {
  __shared__ double values[kThreads];
  values[threadIdx.x] = value;
  __syncthreads();
  for (const double other : values) value = fmax(value, other);
  return value;
}

// Counts an element that is wrong: its error exceeds `bound`, or twice what rounding to T adds.
template <class T>
__device__ void judge(double found, double right, double bound, unsigned* wrong) {
  const double unit = sizeof(T) == 2 ? 0x1p-8 : 0x1p-23;
  const bool same = isnan(right) ? isnan(found) : fabs(found - right) <= bound + unit * fabs(right);  // false for NaN
  if (!same) atomicAdd(wrong, 1);
}

// An argument of ex2 may be rounded, so the error of an exponential grows with it. Results below 2^-126 become 0.
template <class T>
__device__ void compare_softmax(const Rows& p, unsigned* wrong) {
  const std::size_t first = std::size_t(p.columns) * blockIdx.x;
  const T *const x = static_cast<const T*>(p.x) + first, *const y = static_cast<const T*>(p.y) + first;
  double largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) largest = fmax(largest, double{float_of(x[i])});
  largest = block_largest(largest);
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) sum += exp(float_of(x[i]) - largest);
  sum = block_sum(sum);
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) {
    const double exponent = float_of(x[i]) - largest, right = exp(exponent) / sum;
    const double relative = 0x1p-20 + (isinf(exponent) ? 0 : fabs(exponent) * 0x1p-22);
    judge<T>(float_of(y[i]), right, relative * right + 0x1p-125, wrong);
  }
}

template <class T>
__device__ void compare_softmax_backward(const Rows& p, unsigned* wrong) {
  const std::size_t first = std::size_t(p.columns) * blockIdx.x;
  const T *const y = static_cast<const T*>(p.y) + first, *const dy = static_cast<const T*>(p.dy) + first,
                 *const dx = static_cast<const T*>(p.dx) + first;
  double sum = 0, magnitude = 0;
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) {
    const double product = double{float_of(y[i])} * float_of(dy[i]);
    sum += product, magnitude += fabs(product);
  }
  sum = block_sum(sum), magnitude = block_sum(magnitude);
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) {
    const double a = float_of(y[i]), b = float_of(dy[i]);
    judge<T>(float_of(dx[i]), a * (b - sum), 0x1p-20 * a * (magnitude + fabs(b)) + 0x1p-125, wrong);
  }
}

// h must be exact: it is one addition.
template <class T>
__device__ void compare_rms_norm(const Rows& p, unsigned* wrong) {
  const std::size_t first = std::size_t(p.columns) * blockIdx.x;
  const T *const x = static_cast<const T*>(p.x) + first, *const residual = static_cast<const T*>(p.residual) + first;
  const T *const y = static_cast<const T*>(p.y) + first, *const h = static_cast<const T*>(p.h) + first;
  double squares = 0;
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) {
    const double right = float_of(rounded<T>(float_of(x[i]) + float_of(residual[i])));
    if (float_of(h[i]) != right) atomicAdd(wrong, 1);
    squares += right * right;
  }
  const double r = 1 / sqrt(block_sum(squares) / p.columns + p.epsilon);
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) {
    const double right = float_of(h[i]) * r * float_of(static_cast<const T*>(p.weight)[i]);
    judge<T>(float_of(y[i]), right, 0x1p-20 * fabs(right) + 0x1p-125, wrong);
  }
}

// Adds the row's part of the weight's gradient, and of the sum of its magnitudes, to `sums`.
template <class T>
__device__ void compare_rms_norm_backward(const Rows& p, unsigned* wrong, double* sums) {
  const std::size_t first = std::size_t(p.columns) * blockIdx.x;
  const T *const h = static_cast<const T*>(p.h) + first, *const dy = static_cast<const T*>(p.dy) + first;
  const T *const dh = static_cast<const T*>(p.dh) + first, *const dx = static_cast<const T*>(p.dx) + first;
  const auto g = [&](int i) { return double{float_of(static_cast<const T*>(p.weight)[i])} * float_of(dy[i]); };
  double squares = 0, sum = 0, magnitude = 0;
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) {
    const double of_h = float_of(h[i]);
    squares += of_h * of_h, sum += g(i) * of_h, magnitude += fabs(g(i) * of_h);
  }
  const double r = 1 / sqrt(block_sum(squares) / p.columns + p.epsilon), factor = r * r * r / p.columns;
  sum = block_sum(sum), magnitude = block_sum(magnitude);
  for (int i = threadIdx.x; i < p.columns; i += blockDim.x) {
    const double of_h = float_of(h[i]), of_dh = float_of(dh[i]), part = float_of(dy[i]) * of_h * r;
    const double all = fabs(of_dh) + fabs(r * g(i)) + fabs(of_h) * factor * magnitude;
    judge<T>(float_of(dx[i]), of_dh + r * g(i) - of_h * factor * sum, 0x1p-20 * all, wrong);
    atomicAdd(&sums[i], part), atomicAdd(&sums[p.columns + i], fabs(part));
  }
}

template <class T>
__device__ void compare_sums(const T* found, const double* sums, int columns, unsigned* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) judge<T>(float_of(found[i]), sums[i], 0x1p-18 * sums[columns + i], wrong);
}
