// Process a long input with a few device buffers, and keep copies and kernels running at the same time.
#include "common/cu.hpp"

#include <vector>

struct Streams {
  CUstream in, work, out;
};

// Processes `pieces` pieces of `n` floats each. They follow each other in `host`, which is pinned. Each piece is copied
// to the device, the kernel runs on it, and the result is copied back to where the piece came from. Copies in go into
// streams.in, kernels into streams.work, copies out into streams.out.
//
// There may be many more pieces than buffers: piece i uses buffers[i % buffers.size()], so its copy in must wait until
// the buffer's previous piece has been copied out. Apart from that, a stage of a piece waits only for the stage before
// it. Returns without waiting for the device, and destroys every event that it creates, even if an exception is thrown.
// The kernel's parameters are a CUdeviceptr, an int (how many floats) and an int, 1. Throws cu::Error if a driver call
// fails (CU_THROW).
void process(CUfunction kernel, float* host, int pieces, int n, const std::vector<CUdeviceptr>& buffers,
             const Streams& streams) {
  // Your code here.
  (void)kernel, (void)host, (void)pieces, (void)n, (void)buffers, (void)streams;
}
