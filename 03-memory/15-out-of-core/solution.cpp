// Stream a data set through a few buffers: read, copy and compute at the same time.
#include "common/cu.hpp"

#include <functional>
#include <vector>

// Buffers for one piece each. There may be more of one kind than of the other.
struct Buffers {
  std::vector<void*> host;  // pinned
  std::vector<CUdeviceptr> device;
};

struct Streams {
  CUstream copies, kernels;
};

// Adds up the numbers of a data set of `pieces` pieces, `n` numbers (unsigned) each. read(i, to) reads piece i into a
// host buffer on this thread, and returns when it has done so. Copies go into streams.copies, kernels into
// streams.kernels.
//
// Piece i uses the buffers host[i % host.size()] and device[i % device.size()]. A host buffer is free again as soon as
// it has been copied, a device buffer as soon as its kernel has finished, and nothing waits for a buffer that is free.
// The host waits only until a host buffer is free. Returns without waiting for the last copies and kernels, and
// destroys every event that it creates, even if an exception is thrown: cu::Error if a driver call fails (CU_THROW), or
// an exception of read(). The kernel's parameters are a CUdeviceptr, an int (how many numbers), an int, 1, and the
// CUdeviceptr sum.
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

    CU_THROW(cuEventSynchronize(copied[h].handle));  // returns at once if the event has never been recorded
    read(i, buffers.host[h]);

    CU_THROW(cuStreamWaitEvent(streams.copies, processed[d].handle, 0));
    CU_THROW(cuMemcpyHtoDAsync(numbers, buffers.host[h], n * sizeof(unsigned), streams.copies));
    CU_THROW(cuEventRecord(copied[h].handle, streams.copies));

    CU_THROW(cuStreamWaitEvent(streams.kernels, copied[h].handle, 0));
    CU_THROW(cuLaunchKernel(add_up, 64, 1, 1, 256, 1, 1, 0, streams.kernels, arguments, nullptr));
    CU_THROW(cuEventRecord(processed[d].handle, streams.kernels));
  }
}
