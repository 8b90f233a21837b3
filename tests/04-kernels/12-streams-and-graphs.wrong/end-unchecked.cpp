// Rejected with: "work that cannot be captured is reported, and the stream is usable"
// Ending an invalidated capture returns an error and no graph. The result is not checked.
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
  cuStreamEndCapture(stream, &graph);
  if (graph == nullptr) return nullptr;
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph, 0));
  CU_THROW(cuGraphDestroy(graph));
  return executable;
}
