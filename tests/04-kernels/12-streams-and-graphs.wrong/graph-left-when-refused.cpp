// Rejected with: "if the graph cannot be instantiated, this is reported, and no graph leaks"
// The graph is destroyed at the end, which an exception in between skips.
#include "common/cu.hpp"

#include <functional>

CUgraphExec record(CUstream stream, const std::function<void(CUstream)>& work) {
  struct Graph {
    CUgraph handle = nullptr;
  };
  Graph graph;
  CU_THROW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  try {
    work(stream);
  } catch (...) {
    cuStreamEndCapture(stream, &graph.handle);  // even if it fails, the stream has left capture mode
    if (graph.handle != nullptr) CU_REPORT(cuGraphDestroy(graph.handle));
    throw;
  }
  CU_THROW(cuStreamEndCapture(stream, &graph.handle));
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph.handle, 0));
  CU_THROW(cuGraphDestroy(graph.handle));
  return executable;
}
