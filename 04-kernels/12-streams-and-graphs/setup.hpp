// The kernels, device memory and stream that the program uses, and a class that owns a graph.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

// The kernels and the integers they work on, in one context.
struct Setup {
  cu::Primary context;
  cu::Module module{cu::image("kernels.ptx")};
  CUfunction add = module.function("add"), multiply = module.function("multiply"), sum = module.function("sum");
  cu::Memory a{sizeof(int)}, b{sizeof(int)}, result{sizeof(int)};
  CUstream stream;

  Setup() { CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); }
  ~Setup() { CU_REPORT(cuStreamDestroy(stream)); }

  static void launch(CUfunction kernel, CUstream stream, void** arguments) {
    CU_CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  }
  static void set(const cu::Memory& memory, int value) {
    CU_CHECK(cuMemcpyHtoD(memory.address, &value, sizeof value));
    CU_CHECK(cuStreamSynchronize(nullptr));  // the copy may still be running, and `stream` does not wait for it
  }
  static int get(const cu::Memory& memory) {
    int value;
    CU_CHECK(cuMemcpyDtoH(&value, memory.address, sizeof value));
    return value;
  }
};

// A graph and its executable.
struct Graph {
  CUgraph graph;
  CUgraphExec executable;

  explicit Graph(CUgraph made) : graph(made) { CU_CHECK(cuGraphInstantiate(&executable, graph, 0)); }
  ~Graph() {
    CU_REPORT(cuGraphExecDestroy(executable));
    CU_REPORT(cuGraphDestroy(graph));
  }
  void launch(CUstream stream) const { CU_CHECK(cuGraphLaunch(executable, stream)); }
};
