// Rejected with: "the captured graph does not leak"
// The executable is returned, but the graph it was made from leaks.
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
  CU_THROW(cuGraphInstantiate(&executable, graph, 0));
  return executable;
}
