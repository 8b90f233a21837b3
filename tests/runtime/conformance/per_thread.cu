// Compiled with --default-stream per-thread: the null stream is the thread's own.
#include "common.cuh"
#include "scenario.hpp"

#include <thread>

SCENARIO(per_thread_default_stream) {
  int *p = on_device<int>(1), h = 0;
  store<<<1, 1>>>(p, 4);
  SAY(cudaGetLastError());
  SAY(cudaMemcpyAsync(&h, p, sizeof h, cudaMemcpyDeviceToHost, nullptr));
  SAY(cudaStreamSynchronize(nullptr));
  SHOW(h);
  unsigned flags = 9;
  SAY(cudaStreamGetFlags(nullptr, &flags));
  SHOW(flags);
  unsigned long long mine = 0, own = 0, legacy = 0, others = 0;
  SAY(cudaStreamGetId(nullptr, &mine));
  SAY(cudaStreamGetId(cudaStreamPerThread, &own));
  SAY(cudaStreamGetId(cudaStreamLegacy, &legacy));
  SHOW(mine == own);
  SHOW(mine == legacy);
  std::thread([&] { NEED(cudaStreamGetId(nullptr, &others)); }).join();
  SHOW(mine == others);
  cudaGraph_t graph = nullptr;
  SAY(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal));
  add_one<<<1, 1>>>(p);
  SAY(cudaStreamEndCapture(nullptr, &graph));
  std::size_t count = 0;
  SAY(cudaGraphGetNodes(graph, nullptr, &count));
  SHOW(count);
  SAY(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  SHOW(h);
  SAY(cudaMemset(p, 0, 4));
  SHOW(first(p));
}
