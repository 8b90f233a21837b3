// Rejected with: "no event leaks"
// The events are never destroyed.
#include "common/cu.hpp"

#include <vector>

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, int pieces, int n, const std::vector<CUdeviceptr>& buffers,
             const Streams& streams) {
  CUevent copied, computed;
  CU_THROW(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
  CU_THROW(cuEventCreate(&computed, CU_EVENT_DISABLE_TIMING));
  std::vector<CUevent> free(buffers.size());
  for (CUevent& event : free) CU_THROW(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const std::size_t bytes = n * sizeof(float);
  for (std::size_t i = 0; i < static_cast<std::size_t>(pieces); ++i) {
    const std::size_t k = i % buffers.size();
    float* piece = host + i * n;
    CUdeviceptr buffer = buffers[k];
    int rounds = 1;
    void* arguments[] = {&buffer, &n, &rounds};
    if (i >= buffers.size()) CU_THROW(cuStreamWaitEvent(streams.in, free[k], 0));
    CU_THROW(cuMemcpyHtoDAsync(buffer, piece, bytes, streams.in));
    CU_THROW(cuEventRecord(copied, streams.in));
    CU_THROW(cuStreamWaitEvent(streams.work, copied, 0));
    CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
    CU_THROW(cuEventRecord(computed, streams.work));
    CU_THROW(cuStreamWaitEvent(streams.out, computed, 0));
    CU_THROW(cuMemcpyDtoHAsync(piece, buffer, bytes, streams.out));
    CU_THROW(cuEventRecord(free[k], streams.out));
  }
}
