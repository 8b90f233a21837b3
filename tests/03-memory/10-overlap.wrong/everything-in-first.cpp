// Rejected with: "the first piece comes back while the copies of the others are held up"
// One copy for all pieces is simpler, and no kernel begins before the last byte is there.
#include "common/cu.hpp"

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, CUdeviceptr device, int pieces, int n, const Streams& streams) {
  cu::Event copied(CU_EVENT_DISABLE_TIMING), computed(CU_EVENT_DISABLE_TIMING);
  const std::size_t all = static_cast<std::size_t>(pieces) * n * sizeof(float);
  CU_THROW(cuMemcpyHtoDAsync(device, host, all, streams.in));
  CU_THROW(cuEventRecord(copied.handle, streams.in));
  CU_THROW(cuStreamWaitEvent(streams.work, copied.handle, 0));
  for (int i = 0; i < pieces; ++i) {
    const std::size_t bytes = n * sizeof(float);
    CUdeviceptr piece = device + i * bytes;
    int rounds = 1;
    void* arguments[] = {&piece, &n, &rounds};
    CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
    CU_THROW(cuEventRecord(computed.handle, streams.work));
    CU_THROW(cuStreamWaitEvent(streams.out, computed.handle, 0));
    CU_THROW(cuMemcpyDtoHAsync(host + i * n, piece, bytes, streams.out));
  }
}
