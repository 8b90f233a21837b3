// Fuse SwiGLU into the epilogue of a product.
#include "04-kernels/25-tensor-cores/pipeline.hpp"
#include "04-kernels/29-epilogues/shape.hpp"

using S = Few;  // a block of four warps computes 64 × 64 elements of a × b, each warp 32 × 32

// c[r][f] = SiLU(gate) × factor, rounded once, with SiLU(x) = x / (1 + e^-x). The columns of b are interleaved in
// groups of eight: of the columns 16j to 16j + 15 of the product a × b, the first eight are the gates of the features
// 8j to 8j + 7, and the last eight are their factors. So c has p.columns / 2 elements in each row. p.rows and p.columns
// are multiples of 64, and p.inner of 64. Nothing but c is stored. A warp's stores touch as few sectors as possible.
extern "C" __global__ void __launch_bounds__(kThreads<S>) swiglu(const Product p) {
  load_ahead_and_multiply<S>(p, WholeTiles<S>(p), [&](const Sums<S>& sums, const Part& tile) {
    // sums.at[i][j][half] are the lane's sums of a part with 16 rows, from 16i on, and 8 columns, from 16j + 8 half on,
    // of the warp's 32 × 32 elements. Two of the four belong to neighboring columns of row lane / 4, and two to the
    // same columns eight rows below: see ampere.hpp. Place<S> says where the warp's elements begin within the tile.
    // Your code here.
    (void)sums, (void)tile;
  });
}
