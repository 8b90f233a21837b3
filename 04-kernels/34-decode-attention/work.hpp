// Which keys a block uses, and in which order. Every head of every request has at least one step, because its result
// must be stored even if it has no key.
#pragma once
#include "shape.hpp"

// A position in the work of a block. `left`: how many steps the block still has from here on.
struct Position {
  int request, head, step, left;
};

// Consecutive steps of a block with the same head, and the blocks that share this head.
struct Part {
  int request, head, steps, first_block, last_block;
  __device__ bool is_whole() const { return first_block == last_block; }
};

template <class S>
class Work {
 public:
  struct Memory {  // shared memory
    int keys[kMostRequests];
    int starts[kMostRequests + 1];  // the first step of each request, if all steps of all requests are numbered
  };

  // Called by all threads.
  __device__ Work(const Decode& p, Memory& memory)
      : memory_(memory), heads_(S::kGrouped ? p.kv_heads : p.kv_heads * p.group) {
    for (int r = threadIdx.x; r < p.requests; r += kThreads) memory.keys[r] = p.lengths[r];
    __syncthreads();
    if constexpr (S::kSchedule == Schedule::kEven) {
      if (threadIdx.x < 32) number_steps(p.requests);
      __syncthreads();
      all_ = memory.starts[p.requests], blocks_ = min(static_cast<int>(gridDim.x), all_);
      const int begin = begin_of(blockIdx.x);
      const int request = request_with(begin, p.requests), steps = steps_of(request);
      const int at = begin - memory.starts[request];
      first_ = {request, at / steps, at % steps, begin_of(blockIdx.x + 1) - begin};
    } else {
      splits_ = S::kSchedule == Schedule::kSplit ? p.splits : 1;
      const int pair = blockIdx.x / splits_, part = blockIdx.x % splits_, steps = steps_of(pair / heads_);
      const int used = min(splits_, steps), begin = part * steps / used;
      first_ = {pair / heads_, pair % heads_, begin, part < used ? (part + 1) * steps / used - begin : 0};
    }
  }

  __device__ int keys_of(int request) const { return memory_.keys[request]; }
  __device__ int heads() const { return heads_; }
  __device__ Position first() const { return first_; }

  __device__ void advance(Position& at) const {
    --at.left;
    if (++at.step < steps_of(at.request)) return;
    at.step = 0;
    if (++at.head < heads_) return;
    at.head = 0, ++at.request;
  }

  __device__ Part part(const Position& at) const {
    const int steps = steps_of(at.request), count = min(at.left, steps - at.step);
    if constexpr (S::kSchedule == Schedule::kEven) {
      const int start = memory_.starts[at.request] + at.head * steps;
      return {at.request, at.head, count, block_with(start), block_with(start + steps - 1)};
    }
    const int first = blockIdx.x / splits_ * splits_;
    return {at.request, at.head, count, first, first + min(splits_, steps) - 1};
  }

 private:
  __device__ int steps_of(int request) const {
    return max(1, (memory_.keys[request] + kStepKeys<S> - 1) / kStepKeys<S>);
  }

  // A warp adds up the steps of 32 requests at a time.
  __device__ void number_steps(int requests) const {
    int before = 0;
    for (int first = 0; first < requests; first += 32) {
      const int r = first + threadIdx.x;
      int sum = r < requests ? steps_of(r) * heads_ : 0;
      for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(0xffffffff, sum, distance);
        if (threadIdx.x >= distance) sum += other;
      }
      if (r < requests) memory_.starts[r + 1] = before + sum;
      before += __shfl_sync(0xffffffff, sum, 31);
    }
    if (threadIdx.x == 0) memory_.starts[0] = 0;
  }
  __device__ int request_with(int step, int requests) const {
    int low = 0, high = requests - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      (memory_.starts[middle + 1] <= step) ? low = middle + 1 : high = middle;
    }
    return low;
  }

  // If there are more blocks than steps, the last blocks have none.
  __device__ int begin_of(int block) const {
    return static_cast<int>(static_cast<long long>(all_) * min(block, blocks_) / blocks_);
  }
  __device__ int block_with(int step) const { return static_cast<int>(((step + 1LL) * blocks_ - 1) / all_); }

  Memory& memory_;
  int heads_, splits_ = 1, all_ = 0, blocks_ = 0;
  Position first_{};
};
