// Rejected with: "each call is checked: what the driver refuses is thrown, and no event stays behind"
// The events are destroyed at the end, where a throw does not come.
#include "common/cu.hpp"

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, CUdeviceptr device, int pieces, int n, const Streams& streams) {
  CUevent copied, computed;
  CU_THROW(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
  CU_THROW(cuEventCreate(&computed, CU_EVENT_DISABLE_TIMING));
  for (int i = 0; i < pieces; ++i) {
    const std::size_t bytes = n * sizeof(float);
    CUdeviceptr piece = device + i * bytes;
    int rounds = 1;
    void* arguments[] = {&piece, &n, &rounds};
    CU_THROW(cuMemcpyHtoDAsync(piece, host + i * n, bytes, streams.in));
    CU_THROW(cuEventRecord(copied, streams.in));
    CU_THROW(cuStreamWaitEvent(streams.work, copied, 0));
    CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
    CU_THROW(cuEventRecord(computed, streams.work));
    CU_THROW(cuStreamWaitEvent(streams.out, computed, 0));
    CU_THROW(cuMemcpyDtoHAsync(host + i * n, piece, bytes, streams.out));
  }
  CU_THROW(cuEventDestroy(copied));
  CU_THROW(cuEventDestroy(computed));
}
