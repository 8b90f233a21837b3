// Warp-level operations, and what a divergent branch does to a warp. Every kernel is launched with one warp.

constexpr unsigned kAll = 0xffffffff;  // all lanes take part

// Lane n starts with n + 1. In each step, a lane adds the number of the lane that is `distance` higher; lane 0 ends
// with the sum. Records the numbers of all lanes before the first step and after each of the five.
extern "C" __global__ void add_up(int* steps) {
  const int lane = threadIdx.x;
  int number = lane + 1;
  steps[lane] = number;
  for (int distance = 16; distance > 0; distance /= 2) {
    number += __shfl_down_sync(kAll, number, distance);
    steps += 32;
    steps[lane] = number;
  }
}

// Votes on "7 * lane modulo 32 is less than 8", and finds the lanes with the same remainder modulo 5 as lane 3.
extern "C" __global__ void vote(unsigned* results) {
  const int lane = threadIdx.x;
  const bool yes = lane * 7 % 32 < 8;
  const unsigned ballot = __ballot_sync(kAll, yes);
  const unsigned any = __any_sync(kAll, yes), all = __all_sync(kAll, yes);
  const unsigned alike = __match_any_sync(kAll, lane % 5);
  if (lane == 3) {
    results[0] = ballot;
    results[1] = any;
    results[2] = all;
    results[3] = alike;
  }
}

// Records the active lanes on each side of a branch and after it.
extern "C" __global__ void part(unsigned* masks) {
  const int lane = threadIdx.x;
  if (lane < 8) {
    masks[0] = __activemask();
  } else {
    masks[1] = __activemask();
  }
  __syncwarp();
  masks[2] = __activemask();
}

// The lower half of the warp writes after a delay, and the upper half reads. Counts how many readers find the new
// value.
template <bool Wait>
__device__ void hand_over(int* found) {
  __shared__ volatile int slots[16];
  const int lane = threadIdx.x;
  if (lane < 16) slots[lane] = 0;
  __syncwarp();
  int seen = 0;
  if (lane < 16) {
    for (const long long start = clock64(); clock64() - start < 2000;) continue;
    slots[lane] = 1;
    if (Wait) __syncwarp();
  } else {
    if (Wait) __syncwarp();  // the same barrier: lanes may reach it from different calls
    seen = slots[lane - 16];
  }
  __syncwarp();
  *found = __popc(__ballot_sync(kAll, seen));
}

extern "C" __global__ void hand_over_at_once(int* found) { hand_over<false>(found); }
extern "C" __global__ void hand_over_with_barrier(int* found) { hand_over<true>(found); }

// The threads below `split` execute one loop, the others another, equally long one. Stores the clock cycles of both.
extern "C" __global__ void two_loops(int split, long long* cycles) {
  const int thread = threadIdx.x;
  float v = thread;
  int u = thread;
  __syncwarp();
  const long long start = clock64();
  if (thread < split) {
    for (int i = 0; i < 4096; ++i) v = fmaf(v, 1.01f, 2.f);
  } else {
    for (int i = 0; i < 4096; ++i) u = u * 3 + thread;
  }
  __syncwarp();
  const long long end = clock64();
  if (thread == 0) *cycles = end - start;
  if (v == -1 || u == -1) *cycles = -1;  // keeps the results alive
}
