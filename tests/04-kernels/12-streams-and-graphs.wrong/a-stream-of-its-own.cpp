// Rejected with: "the work receives the caller's stream"
// Uses a stream of its own. The caller's events and other streams are not ordered with it.
#include "common/cu.hpp"

#include <functional>

CUgraphExec record(CUstream, const std::function<void(CUstream)>& work) {
  cu::Stream own;
  CUgraph graph = nullptr;
  CU_THROW(cuStreamBeginCapture(own.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  try {
    work(own.handle);
  } catch (...) {
    if (cuStreamEndCapture(own.handle, &graph) == CUDA_SUCCESS) cuGraphDestroy(graph);
    throw;
  }
  CU_THROW(cuStreamEndCapture(own.handle, &graph));
  CUgraphExec executable;
  const CUresult result = cuGraphInstantiate(&executable, graph, 0);
  cuGraphDestroy(graph);
  CU_THROW(result);
  return executable;
}
