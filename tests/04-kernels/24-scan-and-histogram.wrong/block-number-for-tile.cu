// Rejected with: "a block takes the number of its tile from the counter"
// If a block with a high number starts first, it may wait for a block that never becomes resident on the device.
#include "04-kernels/24-scan-and-histogram/published.hpp"
#include "04-kernels/24-scan-and-histogram/tile.hpp"

#include <cuda/atomic>

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void scan(const unsigned* in, unsigned* out, unsigned* next_tile, Published* published) {
  __shared__ unsigned tiles_before;
  const unsigned number = blockIdx.x;
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
