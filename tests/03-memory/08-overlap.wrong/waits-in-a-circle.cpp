// Rejected with: "kernels continue while the copies out are held up, as long as a buffer is filled"
// Each kernel also waits for the copy out of the piece before it, so kernels and copies out never overlap.
#include "common/cu.hpp"

#include <vector>

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, int pieces, int n, const std::vector<CUdeviceptr>& buffers,
             const Streams& streams) {
  const cu::Event copied(CU_EVENT_DISABLE_TIMING), computed(CU_EVENT_DISABLE_TIMING);
  std::vector<cu::Event> free;
  for (std::size_t k = 0; k < buffers.size(); ++k) free.emplace_back(CU_EVENT_DISABLE_TIMING);
  const std::size_t bytes = n * sizeof(float);
  for (std::size_t i = 0; i < static_cast<std::size_t>(pieces); ++i) {
    const std::size_t k = i % buffers.size();
    float* piece = host + i * n;
    CUdeviceptr buffer = buffers[k];
    int rounds = 1;
    void* arguments[] = {&buffer, &n, &rounds};
    if (i >= buffers.size()) CU_THROW(cuStreamWaitEvent(streams.in, free[k].handle, 0));
    CU_THROW(cuMemcpyHtoDAsync(buffer, piece, bytes, streams.in));
    CU_THROW(cuEventRecord(copied.handle, streams.in));
    CU_THROW(cuStreamWaitEvent(streams.work, copied.handle, 0));
    CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
    CU_THROW(cuEventRecord(computed.handle, streams.work));
    CU_THROW(cuStreamWaitEvent(streams.out, computed.handle, 0));
    CU_THROW(cuMemcpyDtoHAsync(piece, buffer, bytes, streams.out));
    CU_THROW(cuEventRecord(free[k].handle, streams.out));
    CU_THROW(cuStreamWaitEvent(streams.work, free[k].handle, 0));
  }
}
