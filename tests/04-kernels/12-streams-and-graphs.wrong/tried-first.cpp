// Rejected with: "nothing runs during the capture"
// The work runs once before it is captured.
#include "common/cu.hpp"

#include <functional>

CUgraphExec record(CUstream stream, const std::function<void(CUstream)>& work) {
  work(stream);
  CUgraph graph = nullptr;
  CU_THROW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  try {
    work(stream);
  } catch (...) {
    cuStreamEndCapture(stream, &graph);
    throw;
  }
  CU_THROW(cuStreamEndCapture(stream, &graph));
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph, 0));
  CU_THROW(cuGraphDestroy(graph));
  return executable;
}
