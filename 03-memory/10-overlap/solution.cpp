// Keep both directions of the link and the kernels busy at the same time.
#include "common/cu.hpp"

struct Streams {
  CUstream in, work, out;
};

// Copies `pieces` pieces of `n` floats each from `host` (pinned) to `device`, runs the kernel on each, and copies it
// back to where it came from. Copies in go into streams.in, kernels into streams.work, copies out into streams.out; no
// part of a piece begins before the part before it is done, and nothing else waits. Returns without waiting for the
// device, and leaves no event behind. The kernel's arguments are a CUdeviceptr, an int (how many floats) and an int, 1.
// Throws cu::Error if the driver refuses (CU_THROW).
void process(CUfunction kernel, float* host, CUdeviceptr device, int pieces, int n, const Streams& streams) {
  // A wait is for the event as it was recorded last when the wait was asked for: two events are enough for all pieces,
  // and they may end before what they mark.
  cu::Event copied(CU_EVENT_DISABLE_TIMING), computed(CU_EVENT_DISABLE_TIMING);
  for (int i = 0; i < pieces; ++i) {
    const std::size_t bytes = n * sizeof(float);
    CUdeviceptr piece = device + i * bytes;
    int rounds = 1;
    void* arguments[] = {&piece, &n, &rounds};
    CU_THROW(cuMemcpyHtoDAsync(piece, host + i * n, bytes, streams.in));
    CU_THROW(cuEventRecord(copied.handle, streams.in));
    CU_THROW(cuStreamWaitEvent(streams.work, copied.handle, 0));
    CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
    CU_THROW(cuEventRecord(computed.handle, streams.work));
    CU_THROW(cuStreamWaitEvent(streams.out, computed.handle, 0));
    CU_THROW(cuMemcpyDtoHAsync(host + i * n, piece, bytes, streams.out));
  }
}
