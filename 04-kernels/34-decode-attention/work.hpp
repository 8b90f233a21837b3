// Which keys a block uses. The work consists of units of kUnit keys, request after request and head after head. Every
// block gets as many of them as the others, so it may begin or end within the keys of a head.
#pragma once
#include "shape.hpp"

// Some units of one head of one request.
struct Part {
  int request, head;
  int first, last;    // units, counted from the head's first key
  bool begins, ends;  // with the head's first or last unit
};

class Work {
 public:
  // Called by all threads. `starts` is shared memory.
  __device__ Work(const Decode& p, int (&starts)[kMostRequests + 1]) : p_(p), starts_(starts) {
    for (int r = threadIdx.x; r < p.requests; r += kThreads) starts[r + 1] = units_of(p.lengths[r]);
    __syncthreads();
    if (threadIdx.x < 32) {  // a warp adds up 32 requests at a time
      int before = 0;
      for (int first = 0; first < p.requests; first += 32) {
        const int r = first + threadIdx.x;
        int sum = r < p.requests ? starts[r + 1] * p.kv_heads : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
          const int other = __shfl_up_sync(0xffffffff, sum, distance);
          if (threadIdx.x >= distance) sum += other;
        }
        if (r < p.requests) starts[r + 1] = before + sum;
        before += __shfl_sync(0xffffffff, sum, 31);
      }
      if (threadIdx.x == 0) starts[0] = 0;
    }
    __syncthreads();
    all_ = starts[p.requests];
    blocks_ = min(static_cast<int>(gridDim.x), all_);  // the others have no work
    next_ = begin(blockIdx.x), end_ = begin(blockIdx.x + 1);
  }

  // A head without keys has one unit, too: its result must be stored.
  __device__ static int units_of(int keys) { return max(1, (keys + kUnit - 1) / kUnit); }

  __device__ bool empty() const { return next_ >= end_; }
  __device__ Part next() {
    Part part;
    while (starts_[request_ + 1] <= next_) ++request_;
    const int units = units_of(p_.lengths[request_]), at = next_ - starts_[request_];
    part.request = request_, part.head = at / units, part.first = at % units;
    part.last = min(units, part.first + end_ - next_);
    part.begins = part.first == 0, part.ends = part.last == units;
    next_ += part.last - part.first;
    return part;
  }

  // The blocks that share the keys of this part's head: from the first one to the last one.
  __device__ int first_block(const Part& part) const { return block_of(start_of(part)); }
  __device__ int last_block(const Part& part) const {
    return block_of(start_of(part) + units_of(p_.lengths[part.request]) - 1);
  }

 private:
  __device__ int begin(int block) const {
    return static_cast<int>(static_cast<long long>(all_) * min(block, blocks_) / blocks_);
  }
  __device__ int block_of(int unit) const {
    return static_cast<int>(((unit + 1LL) * blocks_ - 1) / all_);
  }
  __device__ int start_of(const Part& part) const {
    return starts_[part.request] + part.head * units_of(p_.lengths[part.request]);
  }

  const Decode& p_;
  const int* starts_;
  int all_, blocks_, next_, end_, request_ = 0;
};
