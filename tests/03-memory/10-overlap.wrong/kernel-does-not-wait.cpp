// Rejected with: "no kernel begins before its copy has come in"
// Streams know nothing of each other: without an event the kernel computes with what lay there before.
#include "common/cu.hpp"

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, CUdeviceptr device, int pieces, int n, const Streams& streams) {
  cu::Event copied(CU_EVENT_DISABLE_TIMING), computed(CU_EVENT_DISABLE_TIMING);
  for (int i = 0; i < pieces; ++i) {
    const std::size_t bytes = n * sizeof(float);
    CUdeviceptr piece = device + i * bytes;
    int rounds = 1;
    void* arguments[] = {&piece, &n, &rounds};
    CU_THROW(cuMemcpyHtoDAsync(piece, host + i * n, bytes, streams.in));
    CU_THROW(cuEventRecord(copied.handle, streams.in));
    CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
    CU_THROW(cuEventRecord(computed.handle, streams.work));
    CU_THROW(cuStreamWaitEvent(streams.out, computed.handle, 0));
    CU_THROW(cuMemcpyDtoHAsync(host + i * n, piece, bytes, streams.out));
  }
}
