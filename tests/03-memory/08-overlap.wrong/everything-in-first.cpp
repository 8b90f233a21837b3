// Rejected with: "the first piece is copied back while the copies of the others are held up"
// All buffers are filled before the first kernel may begin.
#include "common/cu.hpp"

#include <algorithm>
#include <vector>

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, int pieces, int n, const std::vector<CUdeviceptr>& buffers,
             const Streams& streams) {
  const cu::Event copied(CU_EVENT_DISABLE_TIMING), computed(CU_EVENT_DISABLE_TIMING);
  std::vector<cu::Event> free;
  for (std::size_t k = 0; k < buffers.size(); ++k) free.emplace_back(CU_EVENT_DISABLE_TIMING);
  const std::size_t bytes = n * sizeof(float), count = buffers.size();
  for (std::size_t first = 0; first < static_cast<std::size_t>(pieces); first += count) {
    const std::size_t last = std::min(first + count, static_cast<std::size_t>(pieces));
    for (std::size_t i = first; i < last; ++i) {
      if (first > 0) CU_THROW(cuStreamWaitEvent(streams.in, free[i - first].handle, 0));
      CU_THROW(cuMemcpyHtoDAsync(buffers[i - first], host + i * n, bytes, streams.in));
    }
    CU_THROW(cuEventRecord(copied.handle, streams.in));
    CU_THROW(cuStreamWaitEvent(streams.work, copied.handle, 0));
    for (std::size_t i = first; i < last; ++i) {
      CUdeviceptr buffer = buffers[i - first];
      int rounds = 1;
      void* arguments[] = {&buffer, &n, &rounds};
      CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
      CU_THROW(cuEventRecord(computed.handle, streams.work));
      CU_THROW(cuStreamWaitEvent(streams.out, computed.handle, 0));
      CU_THROW(cuMemcpyDtoHAsync(host + i * n, buffer, bytes, streams.out));
      CU_THROW(cuEventRecord(free[i - first].handle, streams.out));
    }
  }
}
