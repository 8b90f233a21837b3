// What the 32 lanes of a warp can do together, and what becomes of it when they part.

constexpr unsigned kAll = 0xffffffff;  // all lanes take part

// Lane n begins with n + 1. In each step a lane adds the number of the lane `distance` further up; lane 0 ends with the
// sum. Writes down all lanes' numbers: before the first step, and after each of the five.
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

// Votes about "7 * lane, modulo 32, is less than 8"; and which lanes have the same remainder modulo 5 as lane 3.
extern "C" __global__ void vote(unsigned* answers) {
  const int lane = threadIdx.x;
  const bool yes = lane * 7 % 32 < 8;
  const unsigned who = __ballot_sync(kAll, yes);
  const unsigned any = __any_sync(kAll, yes), all = __all_sync(kAll, yes);
  const unsigned alike = __match_any_sync(kAll, lane % 5);
  if (lane == 3) {
    answers[0] = who;
    answers[1] = any;
    answers[2] = all;
    answers[3] = alike;
  }
}

// Who is there, inside of each branch and after it.
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

// The lower half of the warp writes, late; the upper half reads. Counts what the readers find.
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
    if (Wait) __syncwarp();  // the same barrier: lanes may come to it from anywhere
    seen = slots[lane - 16];
  }
  __syncwarp();
  *found = __popc(__ballot_sync(kAll, seen));
}

extern "C" __global__ void hand_over_at_once(int* found) { hand_over<false>(found); }
extern "C" __global__ void hand_over_with_barrier(int* found) { hand_over<true>(found); }
