// Attention of lesson 04-34, and the kernel with which it measures how fast memory is read.
#include "04-kernels/34-decode-attention/decode.hpp"
#include "04-kernels/34-decode-attention/read.hpp"
#include "overlap.hpp"

// The lengths are those of the whole step, so they can be loaded while the kernel before is running.
#define ATTENTION(d)                                                                                                \
  extern "C" __global__ void __launch_bounds__(kThreads, kBlocks) attention_##d(const __grid_constant__ Decode p) { \
    engine::let_next_start();                                                                                       \
    decode<Even<d>>(p, [] { engine::wait_for_last(); });                                                            \
  }
ATTENTION(64)
ATTENTION(128)
