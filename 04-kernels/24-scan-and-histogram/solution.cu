// Scan in one pass, with a decoupled look-back.
#include "04-kernels/24-scan-and-histogram/published.hpp"
#include "04-kernels/24-scan-and-histogram/tile.hpp"

#include <cuda/atomic>

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// Sets out[i] to in[0] + … + in[i]. Launched with one block of kThreads threads for each tile of kLargeTile elements.
// Blocks may start in any order; *next_tile is the number of the first tile that no block has taken. For each tile,
// `published` has an entry that tells the blocks of later tiles what is known about it. Loads every element once and
// stores every sum once. tile.hpp contains the scan of a single tile.
extern "C" __global__ void scan(const unsigned* in, unsigned* out, unsigned* next_tile, Published* published) {
  __shared__ unsigned number, tiles_before;
  if (threadIdx.x == 0) number = Word(*next_tile).fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  Tile<kLargeVectors> tile;
  tile.load(in, number);
  tile.scan();
  if (threadIdx.x == 0) {
    Published& mine = published[number];
    mine.own = tile.sum;
    Word(mine.flag).store(kOwn, cuda::memory_order_release);
    unsigned before = 0;
    for (int i = static_cast<int>(number) - 1; i >= 0; --i) {
      unsigned flag;
      do flag = Word(published[i].flag).load(cuda::memory_order_acquire);
      while (flag == 0);
      if (flag == kUpTo) {
        before += published[i].up_to;
        break;
      }
      before += published[i].own;
    }
    mine.up_to = before + tile.sum;
    Word(mine.flag).store(kUpTo, cuda::memory_order_release);
    tiles_before = before;
  }
  __syncthreads();
  tile.store(out, number, tiles_before);
}
