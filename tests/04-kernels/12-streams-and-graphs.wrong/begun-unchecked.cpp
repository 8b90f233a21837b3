// Rejected with: "if the capture cannot begin, this is reported, and the work does not run"
// Without a capture, the work is not recorded but executed.
#include "common/cu.hpp"

#include <functional>

CUgraphExec record(CUstream stream, const std::function<void(CUstream)>& work) {
  struct Graph {
    CUgraph handle = nullptr;
    ~Graph() {
      if (handle != nullptr) CU_REPORT(cuGraphDestroy(handle));
    }
  };
  Graph graph;
  cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  try {
    work(stream);
  } catch (...) {
    cuStreamEndCapture(stream, &graph.handle);  // even if it fails, the stream has left capture mode
    throw;
  }
  CU_THROW(cuStreamEndCapture(stream, &graph.handle));
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph.handle, 0));
  return executable;
}
