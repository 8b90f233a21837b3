// A step as a graph, and a loop of steps as a graph.
#pragma once
#include "engine.hpp"

#include <cstdint>

namespace engine {

class Graph {
 public:
  ~Graph() { CU_REPORT(cuGraphExecDestroy(executable_)); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(CUstream stream) const { CU_THROW(cuGraphLaunch(executable_, stream)); }

 protected:
  Graph() = default;
  void instantiate(CUgraph graph) {
    CU_THROW(cuGraphInstantiate(&executable_, graph, 0));
    CU_THROW(cuGraphDestroy(graph));
  }

  const cu::Stream stream_;  // of the capture
  CUgraphExec executable_ = nullptr;
};

class StepGraph : public Graph {
 public:
  StepGraph(const Engine& engine, Kind kind, bool overlap) {
    CUgraph graph;
    CU_THROW(cuStreamBeginCapture(stream_.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    engine.step(kind, overlap, stream_.handle);
    CU_THROW(cuStreamEndCapture(stream_.handle, &graph));
    instantiate(graph);
    CU_THROW(cuGraphUpload(executable_, nullptr));
  }
};

#if CUDA_VERSION >= 12030
// One launch computes all steps: a conditional node repeats them as long as a slot has a request.
class LoopGraph : public Graph {
 public:
  LoopGraph(const Kernels& kernels, const Engine& engine, bool overlap) {
    CUgraph graph;
    CUcontext context;
    CUgraphConditionalHandle handle;
    CU_THROW(cuCtxGetCurrent(&context));
    CU_THROW(cuGraphCreate(&graph, 0));
    CU_THROW(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams loop{};
    loop.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    loop.conditional.handle = handle, loop.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    loop.conditional.size = 1, loop.conditional.ctx = context;
    CUgraphNode node;
#if CUDA_VERSION >= 13000
    CU_THROW(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
#else
    CU_THROW(cuGraphAddNode(&node, graph, nullptr, 0, &loop));
#endif
    CU_THROW(cuStreamBeginCaptureToGraph(stream_.handle, loop.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                         CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    engine.step(Kind::kFused, overlap, stream_.handle);
    CUdeviceptr lengths = engine.lengths.address;
    int slots = engine.room().slots;
    void* arguments[] = {&handle, &lengths, &slots};
    CU_THROW(cuLaunchKernel(kernels.loop.function("go_on"), 1, 1, 1, 1, 1, 1, 0, stream_.handle, arguments, nullptr));
    CUgraph body;
    CU_THROW(cuStreamEndCapture(stream_.handle, &body));
    instantiate(graph);
  }
};
#endif

}  // namespace engine
