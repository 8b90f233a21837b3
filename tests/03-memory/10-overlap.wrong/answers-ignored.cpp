// Rejected with: "what the driver refuses is thrown"
// Nobody asks how the calls went: what comes back is what was sent.
#include "common/cu.hpp"

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, CUdeviceptr device, int pieces, int n, const Streams& streams) {
  // A wait is for the event as it was recorded last when the wait was asked for: two events are enough for all pieces,
  // and they may end before what they mark.
  cu::Event copied(CU_EVENT_DISABLE_TIMING), computed(CU_EVENT_DISABLE_TIMING);
  for (int i = 0; i < pieces; ++i) {
    const std::size_t bytes = n * sizeof(float);
    CUdeviceptr piece = device + i * bytes;
    int rounds = 1;
    void* arguments[] = {&piece, &n, &rounds};
    cuMemcpyHtoDAsync(piece, host + i * n, bytes, streams.in);
    cuEventRecord(copied.handle, streams.in);
    cuStreamWaitEvent(streams.work, copied.handle, 0);
    cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr);
    cuEventRecord(computed.handle, streams.work);
    cuStreamWaitEvent(streams.out, computed.handle, 0);
    cuMemcpyDtoHAsync(host + i * n, piece, bytes, streams.out);
  }
}
