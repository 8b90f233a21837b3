// Rejected with: "any type of exception reaches the caller unchanged, and the stream is usable"
// An exception that is not a std::exception is not caught, and the stream keeps recording.
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
  CU_THROW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  try {
    work(stream);
  } catch (const std::exception&) {
    cuStreamEndCapture(stream, &graph.handle);  // even if it fails, the stream has left capture mode
    throw;
  }
  CU_THROW(cuStreamEndCapture(stream, &graph.handle));
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph.handle, 0));
  return executable;
}
