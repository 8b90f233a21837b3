// Record work once to run it many times.
#include "common/cu.hpp"

#include <functional>

// Calls work(stream), which enqueues kernels and copies in the stream, and returns them as an executable graph. None of
// them runs yet. The caller destroys the executable; nothing else is left behind. If `work` throws, the exception
// reaches the caller unchanged. If a driver call fails, cu::Error is thrown (CU_THROW). In both cases, the stream is
// usable afterwards.
CUgraphExec record(CUstream stream, const std::function<void(CUstream)>& work) {
  struct Graph {
    CUgraph handle = nullptr;
    ~Graph() {
      if (handle != nullptr) CU_REPORT(cuGraphDestroy(handle));
    }
  };
  Graph graph;
  CU_THROW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  try {
    work(stream);
  } catch (...) {
    cuStreamEndCapture(stream, &graph.handle);  // even if this fails, the stream has left capture mode
    throw;
  }
  CU_THROW(cuStreamEndCapture(stream, &graph.handle));
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph.handle, 0));
  return executable;
}
