// The next token of each request.
#pragma once
#include "04-kernels/random.hpp"
#include "shape.hpp"

#include <cuda_bf16.h>

#include <cmath>
#include <cstddef>

namespace engine {

constexpr int kBins = 256;

// An unsigned integer with the same order as the floats.
__device__ inline unsigned ordered(float x) {
  const unsigned bits = __float_as_uint(x);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Calls function(logit, token) for all logits, whose count is a multiple of 4. A thread loads four vectors at a time.
template <class Function>
__device__ void for_logits(const float* logits, int count, Function function) {
  constexpr int kVectors = 4;
  for (int first = threadIdx.x; first < count / 4; first += kVectors * blockDim.x) {
    float4 four[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int i = first + v * blockDim.x;
      if (i < count / 4) four[v] = reinterpret_cast<const float4*>(logits)[i];
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int i = first + v * blockDim.x;
      if (i >= count / 4) break;
      function(four[v].x, 4 * i), function(four[v].y, 4 * i + 1);
      function(four[v].z, 4 * i + 2), function(four[v].w, 4 * i + 3);
    }
  }
}

// The k-th largest logit, as ordered() has it. Each round finds eight of its bits: it counts the logits that begin with
// the bits found so far, by their next eight bits.
__device__ inline unsigned threshold(const float* logits, int count, int k) {
  __shared__ int bins[kBins];
  __shared__ unsigned found;
  __shared__ int left;
  if (threadIdx.x == 0) found = 0, left = k;
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < kBins; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    const unsigned prefix = found;
    for_logits(logits, count, [&](float logit, int) {
      const unsigned value = ordered(logit);
      if (shift == 24 || value >> (shift + 8) == prefix >> (shift + 8)) atomicAdd(&bins[value >> shift & 255], 1);
    });
    __syncthreads();
    if (threadIdx.x == 0) {
      int bin = kBins - 1;
      while (bin > 0 && bins[bin] < left) left -= bins[bin--];
      found = prefix | static_cast<unsigned>(bin) << shift;
    }
    __syncthreads();
  }
  return found;
}

// A random number of a request, a position and a token. For uniform random numbers u, the token with the largest
// logit / temperature - log(-log(u)) is token i with the probability that softmax gives it.
__device__ inline float gumbel(unsigned seed, int position, int token) {
  const unsigned bits = verify::hash(verify::hash(seed + 0x9e3779b9u * static_cast<unsigned>(position)) + token);
  return -logf(-logf((static_cast<float>(bits >> 8) + 0.5f) * 0x1p-24f));
}

// The larger value, and for equal values the smaller token.
struct Best {
  float value;
  int token;
  __device__ void meet(float other, int of) {
    if (other > value || (other == value && of < token)) value = other, token = of;
  }
};

// Called by all threads of a block, which all get the token.
__device__ inline int chosen(const float* logits, int count, const Request& r, int position) {
  __shared__ Best of_warps[32];
  const bool random = r.temperature > 0;
  const unsigned least = random && r.top_k > 0 && r.top_k < count ? threshold(logits, count, r.top_k) : 0;
  Best best = {-INFINITY, 0};
  for_logits(logits, count, [&](float logit, int token) {
    if (!random) {
      best.meet(logit, token);
    } else if (ordered(logit) >= least) {
      best.meet(logit / r.temperature + gumbel(r.seed, position, token), token);
    }
  });
  for (int d = 1; d < 32; d *= 2) {
    best.meet(__shfl_xor_sync(0xffffffff, best.value, d), __shfl_xor_sync(0xffffffff, best.token, d));
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = best;
  __syncthreads();
  for (int w = 0; w < static_cast<int>(blockDim.x / 32); ++w) best.meet(of_warps[w].value, of_warps[w].token);
  return best.token;
}

// x = the token's row of the embeddings, and the sums of its squares. Half a warp has kTileRows elements.
__device__ inline void embed(const Sampling& p, int slot, int token) {
  const auto* const from = static_cast<const __nv_bfloat16*>(p.embeddings) + static_cast<std::size_t>(token) * p.width;
  auto* const to = static_cast<__nv_bfloat16*>(p.x) + static_cast<std::size_t>(slot) * p.width;
  for (int i = threadIdx.x; i < p.width; i += blockDim.x) {
    to[i] = from[i];
    float square = __bfloat162float(from[i]) * __bfloat162float(from[i]);
    for (int d = 1; d < kTileRows; d *= 2) square += __shfl_xor_sync(0xffffffff, square, d);
    if (i % kTileRows == 0) p.squares[(slot * p.width + i) / kTileRows] = square;
  }
}

// A block for each slot. The token becomes the input of the next step: that of the prompt, or the one that follows.
__device__ inline void sample(const Sampling& p) {
  const int slot = blockIdx.x, length = p.lengths[slot];
  if (length == 0) return;
  const Request r = p.requests[slot];
  const bool replies = length >= r.prompt;
  const int token = replies ? chosen(p.logits + static_cast<std::size_t>(slot) * p.vocabulary, p.vocabulary, r, length)
                            : p.prompts[slot * p.most + length];
  const bool ends = replies && (length + 1 >= r.limit || token == r.end);
  if (!ends) embed(p, slot, token);
  __syncthreads();  // all threads have read the length
  if (threadIdx.x != 0) return;
  p.lengths[slot] = ends ? 0 : length + 1;
  if (!replies) return;
  const int count = length - r.prompt + 1;
  p.replies[slot * p.most + count - 1] = token;
  __threadfence_system();  // the host reads the token only after it has read the count
  *static_cast<volatile int*>(p.counts + slot) = count + (ends ? kEnded : 0);
}

}  // namespace engine
