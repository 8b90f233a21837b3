// A graph that executes the same work several times, so that the host's calls do not limit the speed of short work.
#pragma once
#include "common/cu.hpp"

class Repeated {
 public:
  // `work` enqueues itself in the stream that it gets.
  template <class Work>
  Repeated(int times, Work work) {
    const cu::Stream stream;
    CU_CHECK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < times; ++i) work(stream.handle);
    CUgraph graph;
    CU_CHECK(cuStreamEndCapture(stream.handle, &graph));
    CU_CHECK(cuGraphInstantiate(&executable_, graph, 0));
    CU_CHECK(cuGraphDestroy(graph));
  }
  ~Repeated() { CU_REPORT(cuGraphExecDestroy(executable_)); }  // a launch that is in progress completes
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  // In the default stream.
  void launch() const { CU_CHECK(cuGraphLaunch(executable_, nullptr)); }

 private:
  CUgraphExec executable_ = nullptr;
};
