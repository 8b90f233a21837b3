// Rejected with: "if the work throws halfway, no graph leaks"
// Ending the capture releases the stream and returns a graph of the work captured so far.
#include "common/cu.hpp"

#include <functional>

CUgraphExec record(CUstream stream, const std::function<void(CUstream)>& work) {
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
  const CUresult result = cuGraphInstantiate(&executable, graph, 0);
  cuGraphDestroy(graph);
  CU_THROW(result);
  return executable;
}
