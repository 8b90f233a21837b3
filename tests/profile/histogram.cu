// The kernels of lesson 04-24 as they were when an H200 counted them: histograms of byte values, and scans of n
// numbers, n a multiple of 16384, with blocks of 256 threads.

using u64 = unsigned long long;
constexpr int kThreads = 256, kWarps = kThreads / 32;

// ---- histogram

// 1: every byte is counted in global memory. All the threads of the device want the same 256 places.
extern "C" __global__ void global_bins(const unsigned char* in, unsigned* bins, u64 n) {
  const u64 threads = static_cast<u64>(gridDim.x) * kThreads;
  for (u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += threads) atomicAdd(&bins[in[i]], 1);
}

// 2: every block has bins of its own, in shared memory, and adds them to the common ones in the end.
extern "C" __global__ void private_bins(const unsigned char* in, unsigned* bins, u64 n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  const u64 threads = static_cast<u64>(gridDim.x) * kThreads;
  for (u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += threads) atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// 3: every warp has, and sixteen bytes come with each request. n is a multiple of 16.
extern "C" __global__ void warp_bins(const uint4* in, unsigned* bins, u64 n) {
  __shared__ unsigned own[kWarps][256];
  for (int i = threadIdx.x; i < kWarps * 256; i += kThreads) own[0][i] = 0;
  __syncthreads();
  unsigned* mine = own[threadIdx.x / 32];
  const u64 threads = static_cast<u64>(gridDim.x) * kThreads;
  for (u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; i < n / 16; i += threads) {
    const uint4 sixteen = in[i];
    const unsigned fours[] = {sixteen.x, sixteen.y, sixteen.z, sixteen.w};
    for (const unsigned four : fours) {
      for (int byte = 0; byte < 32; byte += 8) atomicAdd(&mine[four >> byte & 255], 1);
    }
  }
  __syncthreads();
  unsigned count = 0;
  for (int warp = 0; warp < kWarps; ++warp) count += own[warp][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], count);
}

// ---- scan

constexpr int kFours = 16, kTile = kThreads * kFours * 4;  // a thread has sixteen times four numbers, a block 16384

// The sum of the warp's numbers up to this lane's.
__device__ unsigned scan_warp(unsigned number) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(0xffffffff, number, distance);
    if (lane >= distance) number += before;
  }
  return number;
}

// A block's 16384 numbers: a warp has 2048 contiguous ones, and loads them 128 at a time, four for each lane. No thread
// needs them again soon, which __ldcs and __stcs express.
struct Tile {
  uint4 fours[kFours];
  unsigned before[kFours];  // the sum of the tile's numbers before each four
  unsigned sum;             // of the whole tile

  static __device__ u64 place(u64 tile, int k) {
    return (tile * kTile + threadIdx.x / 32 * (kTile / kWarps)) / 4 + k * 32 + threadIdx.x % 32;
  }

  __device__ void load(const unsigned* in, u64 tile) {
#pragma unroll
    for (int k = 0; k < kFours; ++k) fours[k] = __ldcs(&reinterpret_cast<const uint4*>(in)[place(tile, k)]);
  }

  __device__ void scan() {
    __shared__ unsigned of_warp[kWarps];
    unsigned running = 0;
#pragma unroll
    for (int k = 0; k < kFours; ++k) {
      const unsigned four = fours[k].x + fours[k].y + fours[k].z + fours[k].w, up_to = scan_warp(four);
      before[k] = running + up_to - four;
      running += __shfl_sync(0xffffffff, up_to, 31);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = running;
    __syncthreads();
    unsigned warps_before = 0;
    sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      if (warp < threadIdx.x / 32) warps_before += of_warp[warp];
      sum += of_warp[warp];
    }
#pragma unroll
    for (int k = 0; k < kFours; ++k) before[k] += warps_before;
    __syncthreads();  // of_warp may be written again
  }

  __device__ void store(unsigned* out, u64 tile, unsigned offset) const {
#pragma unroll
    for (int k = 0; k < kFours; ++k) {
      uint4 sums;
      sums.x = offset + before[k] + fours[k].x;
      sums.y = sums.x + fours[k].y;
      sums.z = sums.y + fours[k].z;
      sums.w = sums.z + fours[k].w;
      __stcs(&reinterpret_cast<uint4*>(out)[place(tile, k)], sums);
    }
  }
};

// 1a: every block scans its tile, and leaves the tile's sum behind.
extern "C" __global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* sums) {
  Tile tile;
  tile.load(in, blockIdx.x);
  tile.scan();
  tile.store(out, blockIdx.x, 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = tile.sum;
}

// 1b, 2b: one block makes of the tiles' sums the sum before each tile.
extern "C" __global__ void scan_sums(unsigned* sums, int count) {
  __shared__ unsigned of_warp[kWarps];
  unsigned offset = 0;
  for (int first = 0; first < count; first += kThreads) {
    const int i = first + threadIdx.x;
    const unsigned number = i < count ? sums[i] : 0, up_to = scan_warp(number);
    if (threadIdx.x % 32 == 31) of_warp[threadIdx.x / 32] = up_to;
    __syncthreads();
    unsigned warps_before = 0, all = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      if (warp < threadIdx.x / 32) warps_before += of_warp[warp];
      all += of_warp[warp];
    }
    if (i < count) sums[i] = offset + warps_before + up_to - number;
    offset += all;
    __syncthreads();
  }
}

// 1c: every number gets what was before its tile. Read and written a second time.
extern "C" __global__ void add_sums(unsigned* out, const unsigned* sums) {
  const unsigned offset = sums[blockIdx.x];
  for (int k = 0; k < kFours; ++k) {
    uint4& four = reinterpret_cast<uint4*>(out)[Tile::place(blockIdx.x, k)];
    four = make_uint4(four.x + offset, four.y + offset, four.z + offset, four.w + offset);
  }
}

// 2a: only the sums of the tiles; nothing is written.
extern "C" __global__ void sum_tiles(const unsigned* in, unsigned* sums) {
  Tile tile;
  tile.load(in, blockIdx.x);
  tile.scan();
  if (threadIdx.x == 0) sums[blockIdx.x] = tile.sum;
}

// 2c: the tiles are read again, scanned, and written once.
extern "C" __global__ void scan_with_sums(const unsigned* in, unsigned* out, const unsigned* sums) {
  Tile tile;
  tile.load(in, blockIdx.x);
  tile.scan();
  tile.store(out, blockIdx.x, sums[blockIdx.x]);
}

// 3: one pass with a decoupled look-back. Each tile publishes its own sum as soon as it knows it, and the sum of all
// numbers up to its end a little later. Kind (1: own sum, 2: all) and sum are one 64-bit word, so no thread reads half
// of it. states[0] is the number of the next tile. Blocks take numbers in the order in which they begin, so all blocks
// that a block waits for have begun. All words are 0 before.
extern "C" __global__ void one_pass(const unsigned* in, unsigned* out, volatile u64* states) {
  __shared__ unsigned number_of_tile, sum_before;
  if (threadIdx.x == 0) number_of_tile = static_cast<unsigned>(atomicAdd(const_cast<u64*>(states), 1));
  __syncthreads();
  const unsigned me = number_of_tile;
  volatile u64* state = states + 1;

  Tile tile;
  tile.load(in, me);
  tile.scan();
  if (threadIdx.x == 0) state[me] = (me == 0 ? 2ull : 1ull) << 32 | tile.sum;

  if (threadIdx.x < 32) {  // the first warp looks at 32 tiles at a time, the nearest in lane 0
    unsigned before = 0;
    for (int nearest = static_cast<int>(me) - 1; nearest >= 0; nearest -= 32) {
      const int other = nearest - static_cast<int>(threadIdx.x);
      u64 said = 2ull << 32;  // before the first tile there is nothing
      if (other >= 0) {
        do said = state[other];
        while (said >> 32 == 0);
      }
      const unsigned everything = __ballot_sync(0xffffffff, said >> 32 == 2);
      const int last = everything == 0 ? 31 : __ffs(everything) - 1;  // it includes what precedes it
      unsigned part = static_cast<int>(threadIdx.x) <= last ? static_cast<unsigned>(said) : 0;
      for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
      before += __shfl_sync(0xffffffff, part, 0);
      if (everything != 0) break;
    }
    if (threadIdx.x == 0) {
      if (me > 0) state[me] = 2ull << 32 | (before + tile.sum);
      sum_before = before;
    }
  }
  __syncthreads();
  tile.store(out, me, sum_before);
}
