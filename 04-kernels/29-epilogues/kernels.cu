// Matrix products with an epilogue, for compute capability 8.0 and later: c = f(a × b) in bfloat16 with FP32 sums.
#include "04-kernels/clock.hpp"
#include "04-kernels/verify.hpp"
#include "check.hpp"
#include "shares.hpp"

template <class S, class Epilogue>
__device__ void compute(const Linear& p) {
  load_ahead_and_multiply<S>(p, WholeTiles<S>(p), [&](const Sums<S>& sums, const Part& tile) {
    finish<Epilogue>(sums, p, tile.row, tile.column);
  });
}

// For products of a few rows: blocks share tiles.
template <class S, class Epilogue>
__device__ void compute_share(const Linear& p) {
  const Shares<S> shares(p);
  load_ahead_and_multiply<S>(p, shares, [&](Sums<S>& sums, const Part& part) {
    if (part.steps == shares.steps() || combine(sums, p, shares, part))
      finish<Epilogue>(sums, p, part.row, part.column);
  });
}

#define KERNEL(name, compute, shape, epilogue)                                                         \
  extern "C" __global__ void __launch_bounds__(kThreads<shape>, shape::kBlocks) name(const Linear p) { \
    compute<shape, epilogue>(p);                                                                       \
  }
#define FULL(name, epilogue)                   \
  KERNEL(name##_4, compute, Full<4>, epilogue) \
  KERNEL(name##_2, compute, Full<2>, epilogue)

FULL(plain, None)
FULL(bias_gelu, BiasGelu)
FULL(residual, Residual)
FULL(swiglu, SwiGlu)
KERNEL(small, compute, Few, None)  // for the check of the exercise

KERNEL(thin_16, compute_share, Thin16, None)
KERNEL(thin_64, compute_share, Thin64, None)
KERNEL(thin_16_bias_gelu, compute_share, Thin16, BiasGelu)
KERNEL(thin_64_bias_gelu, compute_share, Thin64, BiasGelu)

// ---- The same as kernels of their own, which load the product from memory ------------------------------------------

template <class Function>
__device__ void for_each_vector(const Linear& p, Function function) {
  const std::size_t count = std::size_t(p.rows) * p.columns / kVector, threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const uint4 vector = static_cast<const uint4*>(p.a)[i];
    const unsigned pairs[4] = {vector.x, vector.y, vector.z, vector.w};
    function(i, pairs);
  }
}

// c = GELU(a + bias)
extern "C" __global__ void add_bias_gelu(const Linear p) {
  for_each_vector(p, [&](std::size_t i, const unsigned (&pairs)[4]) {
    unsigned results[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const float2 value = unpacked(pairs[t]), bias = unpacked(pair_at(p.bias, i * kVector % p.columns + 2 * t));
      results[t] = ampere::packed(gelu(value.x + bias.x), gelu(value.y + bias.y));
    }
    static_cast<uint4*>(p.c)[i] = {results[0], results[1], results[2], results[3]};
  });
}

// c = a + residual
extern "C" __global__ void add_residual(const Linear p) {
  for_each_vector(p, [&](std::size_t i, const unsigned (&pairs)[4]) {
    const uint4 vector = static_cast<const uint4*>(p.residual)[i];
    const unsigned others[4] = {vector.x, vector.y, vector.z, vector.w};
    unsigned results[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const float2 value = unpacked(pairs[t]), other = unpacked(others[t]);
      results[t] = ampere::packed(value.x + other.x, value.y + other.y);
    }
    static_cast<uint4*>(p.c)[i] = {results[0], results[1], results[2], results[3]};
  });
}

// c = SiLU(gate) × up, for each pair of a
extern "C" __global__ void apply_swiglu(const Linear p) {
  for_each_vector(p, [&](std::size_t i, const unsigned (&pairs)[4]) {
    float results[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const float2 value = unpacked(pairs[t]);
      results[t] = silu(value.x) * value.y;
    }
    static_cast<uint2*>(p.c)[i] = {ampere::packed(results[0], results[1]), ampere::packed(results[2], results[3])};
  });
}
