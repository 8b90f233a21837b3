// Stream a data set through a few buffers: read, copy and compute at the same time.
#include "common/cu.hpp"

#include <functional>
#include <vector>

// Buffers for one piece each. There may be more of one kind than of the other.
struct Buffers {
  std::vector<void*> host;  // pinned
  std::vector<CUdeviceptr> device;
};

struct Streams {
  CUstream copies, kernels;
};

// Adds up the numbers of a data set of `pieces` pieces, `n` numbers (unsigned) each. read(i, to) reads piece i into a
// host buffer on this thread, and returns when it has done so. Copies go into streams.copies, kernels into
// streams.kernels.
//
// Piece i uses the buffers host[i % host.size()] and device[i % device.size()]. A host buffer is free again as soon as
// it has been copied, a device buffer as soon as its kernel has finished, and nothing waits for a buffer that is free.
// The host waits only until a host buffer is free. Returns without waiting for the last copies and kernels, and
// destroys every event that it creates, even if an exception is thrown: cu::Error if a driver call fails (CU_THROW), or
// an exception of read(). The kernel's parameters are a CUdeviceptr, an int (how many numbers), an int, 1, and the
// CUdeviceptr sum.
void process(CUfunction add_up, CUdeviceptr sum, int pieces, int n, const std::function<void(int, void*)>& read,
             const Buffers& buffers, const Streams& streams) {
  // Your code here.
  (void)add_up, (void)sum, (void)pieces, (void)n, (void)read, (void)buffers, (void)streams;
}
