// A CUDA graph of launches that follow one another, and its time. The host takes no part in it.
#pragma once
#include "common/cu.hpp"
#include "common/measure.hpp"

class Repeated {
 public:
  // `launch(i, stream)` is captured for each i below `count`.
  template <class Launch>
  Repeated(int count, const Launch& launch) : count_(count) {
    CUgraph graph;
    CU_CHECK(cuCtxSynchronize());  // the stream does not wait for the default stream
    CU_CHECK(cuStreamBeginCapture(stream_.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < count; ++i) launch(i, stream_.handle);
    CU_CHECK(cuStreamEndCapture(stream_.handle, &graph));
    CU_CHECK(cuGraphInstantiate(&graph_, graph, 0));
    CU_CHECK(cuGraphDestroy(graph));
  }
  ~Repeated() { CU_REPORT(cuGraphExecDestroy(graph_)); }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  void run() const {
    CU_CHECK(cuGraphLaunch(graph_, stream_.handle));
    CU_CHECK(cuStreamSynchronize(stream_.handle));
  }
  // The median time of one launch.
  double seconds(int runs) const {
    const cu::Event start, end;
    const auto once = [&] {
      float milliseconds;
      CU_CHECK(cuEventRecord(start.handle, stream_.handle));
      CU_CHECK(cuGraphLaunch(graph_, stream_.handle));
      CU_CHECK(cuEventRecord(end.handle, stream_.handle));
      CU_CHECK(cuEventSynchronize(end.handle));
      CU_CHECK(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
      return milliseconds * 1e-3 / count_;
    };
    return cu::median(once, runs);
  }

 private:
  const cu::Stream stream_;
  CUgraphExec graph_ = nullptr;
  int count_;
};
