// Rejected with: "while the kernels are held up, all buffers of both kinds are filled"
// The host waits for a kernel before it reads, although a host buffer is free as soon as it has been copied.
#include "common/cu.hpp"

#include <functional>
#include <vector>

struct Buffers {
  std::vector<void*> host;  // pinned
  std::vector<CUdeviceptr> device;
};

struct Streams {
  CUstream copies, kernels;
};

void process(CUfunction add_up, CUdeviceptr sum, int pieces, int n, const std::function<void(int, void*)>& read,
             const Buffers& buffers, const Streams& streams) {
  std::vector<cu::Event> copied, processed;
  for (std::size_t i = 0; i < buffers.host.size(); ++i) copied.emplace_back(CU_EVENT_DISABLE_TIMING);
  for (std::size_t i = 0; i < buffers.device.size(); ++i) processed.emplace_back(CU_EVENT_DISABLE_TIMING);
  for (int i = 0; i < pieces; ++i) {
    const std::size_t h = i % copied.size(), d = i % processed.size();
    CUdeviceptr numbers = buffers.device[d];
    int rounds = 1;
    void* arguments[] = {&numbers, &n, &rounds, &sum};

    CU_THROW(cuEventSynchronize(copied[h].handle));
    CU_THROW(cuEventSynchronize(processed[d].handle));
    read(i, buffers.host[h]);

    CU_THROW(cuStreamWaitEvent(streams.copies, processed[d].handle, 0));
    CU_THROW(cuMemcpyHtoDAsync(numbers, buffers.host[h], n * sizeof(unsigned), streams.copies));
    CU_THROW(cuEventRecord(copied[h].handle, streams.copies));

    CU_THROW(cuStreamWaitEvent(streams.kernels, copied[h].handle, 0));
    CU_THROW(cuLaunchKernel(add_up, 64, 1, 1, 256, 1, 1, 0, streams.kernels, arguments, nullptr));
    CU_THROW(cuEventRecord(processed[d].handle, streams.kernels));
  }
}
