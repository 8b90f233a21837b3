// Rejected with: "after an exception from the work, the stream is usable"
// The exception skips the end of the capture, and everything enqueued in the stream from now on is recorded.
#include "common/cu.hpp"

#include <functional>

CUgraphExec record(CUstream stream, const std::function<void(CUstream)>& work) {
  CUgraph graph = nullptr;
  CU_THROW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  work(stream);
  CU_THROW(cuStreamEndCapture(stream, &graph));
  CUgraphExec executable;
  CU_THROW(cuGraphInstantiate(&executable, graph, 0));
  CU_THROW(cuGraphDestroy(graph));
  return executable;
}
