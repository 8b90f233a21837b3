// Write work down once, to run it many times.
#include "common/cu.hpp"

#include <functional>

// Calls work(stream), which puts kernels and copies into the stream, and returns them as an executable graph; nothing
// of it runs yet. The caller destroys what is returned, and nothing else is left. If work throws, the exception passes
// on; if the driver refuses anything, cu::Error is thrown (CU_THROW); the stream can be used as before in both cases.
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
    cuStreamEndCapture(stream, &graph.handle);  // whatever it answers: the stream is free again
    throw;
  }
  CU_THROW(cuStreamEndCapture(stream, &graph.handle));
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph.handle, 0));
  return executable;
}
