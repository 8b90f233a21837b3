// A graph that executes the same work several times, so that the host's calls do not limit the speed of short work.
#pragma once
#include "common/cu.hpp"

#include <utility>

class Repeated {
 public:
  // `work` enqueues itself in the stream that it gets.
  template <class Work>
  Repeated(int times, Work work) {
    const cu::Stream stream;
    CU_CHECK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < times; ++i) work(stream.handle);
    CU_CHECK(cuStreamEndCapture(stream.handle, &graph_));
    CU_CHECK(cuGraphInstantiate(&executable_, graph_, 0));
  }
  ~Repeated() {
    cuGraphExecDestroy(executable_);
    cuGraphDestroy(graph_);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  void launch() const { CU_CHECK(cuGraphLaunch(executable_, nullptr)); }

 private:
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};
