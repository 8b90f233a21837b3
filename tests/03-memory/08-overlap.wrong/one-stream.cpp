// Rejected with: "copies in continue while the kernels are held up, as long as a buffer is free"
// With a single stream the result is correct, but no two stages ever overlap.
#include "common/cu.hpp"

#include <vector>

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, int pieces, int n, const std::vector<CUdeviceptr>& buffers,
             const Streams& streams) {
  const std::size_t bytes = n * sizeof(float);
  for (std::size_t i = 0; i < static_cast<std::size_t>(pieces); ++i) {
    const std::size_t k = i % buffers.size();
    float* piece = host + i * n;
    CUdeviceptr buffer = buffers[k];
    int rounds = 1;
    void* arguments[] = {&buffer, &n, &rounds};
    CU_THROW(cuMemcpyHtoDAsync(buffer, piece, bytes, streams.work));
    CU_THROW(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, streams.work, arguments, nullptr));
    CU_THROW(cuMemcpyDtoHAsync(piece, buffer, bytes, streams.work));
  }
}
