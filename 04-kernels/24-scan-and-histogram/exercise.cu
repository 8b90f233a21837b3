// Scan in one pass, with a decoupled look-back.
#include "04-kernels/24-scan-and-histogram/published.hpp"
#include "04-kernels/24-scan-and-histogram/tile.hpp"

#include <cuda/atomic>

// Sets out[i] to in[0] + … + in[i]. Launched with one block of kThreads threads for each tile of kLargeTile elements.
// Blocks may start in any order; *next_tile is the number of the first tile that no block has taken. For each tile,
// `published` has an entry that tells the blocks of later tiles what is known about it. Loads every element once and
// stores every sum once. tile.hpp contains the scan of a single tile.
extern "C" __global__ void scan(const unsigned* in, unsigned* out, unsigned* next_tile, Published* published) {
  // Your code here.
}
