// Process a long input with a few device buffers, and keep copies and kernels running at the same time.
#include "common/cu.hpp"

#include <vector>

struct Streams {
  CUstream in, work, out;
};

// Processes `pieces` pieces of `n` floats each. They follow each other in `host`, which is pinned. Each piece is copied
// to the device, the kernel runs on it, and the result is copied back to where the piece came from. Copies in go into
// streams.in, kernels into streams.work, copies out into streams.out.
//
// There may be many more pieces than buffers: piece i uses buffers[i % buffers.size()], so its copy in must wait until
// the buffer's previous piece has been copied out. Apart from that, a stage of a piece waits only for the stage before
// it. Returns without waiting for the device, and destroys every event that it creates, even if an exception is thrown.
// The kernel's parameters are a CUdeviceptr, an int (how many floats) and an int, 1. Throws cu::Error if a driver call
// fails (CU_THROW).
void process(CUfunction kernel, float* host, int pieces, int n, const std::vector<CUdeviceptr>& buffers,
             const Streams& streams) {
  // cuStreamWaitEvent waits for the most recent record of an event, so two events are enough for all pieces. Each
  // buffer needs another event of its own: when the buffer is reused, later pieces have recorded theirs. Events may be
  // destroyed while streams wait.
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
  }
}
