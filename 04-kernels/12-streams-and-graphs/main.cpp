// Runs the same chain of short kernels as separate launches, as a captured graph, and as a graph built by hand.
#include "common/cu.hpp"
#include "setup.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

constexpr int kChain = 64;  // kernels, each of which depends on the one before
constexpr int kRuns = 21;

// Adds 1 to a number, kChain times.
void launch_chain(Setup& setup) {
  int by = 1;
  void* arguments[] = {&setup.a.address, &by};
  for (int i = 0; i < kChain; ++i) Setup::launch(setup.add, setup.stream, arguments);
}

CUgraph capture_chain(Setup& setup) {
  CUgraph graph;
  CU_CHECK(cuStreamBeginCapture(setup.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch_chain(setup);  // nothing runs: the launches are recorded
  CU_CHECK(cuStreamEndCapture(setup.stream, &graph));
  return graph;
}

// Also returns the first node, so that the caller can change it.
CUgraph build_chain(Setup& setup, CUgraphNode* first) {
  int by = 1;
  void* arguments[] = {&setup.a.address, &by};
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = setup.add;
  node.gridDimX = node.gridDimY = node.gridDimZ = node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = arguments;  // copied by cuGraphAddKernelNode
  CUgraph graph;
  CUgraphNode last = nullptr;
  CU_CHECK(cuGraphCreate(&graph, 0));
  for (int i = 0; i < kChain; ++i) {
    const CUgraphNode before = last;
    CU_CHECK(cuGraphAddKernelNode(&last, graph, i == 0 ? nullptr : &before, i == 0 ? 0 : 1, &node));
    if (i == 0) *first = last;
  }
  return graph;
}

// Prints a row: microseconds per kernel, for the host's calls alone and until the last kernel has finished (medians).
// Returns whether every run computed the expected sum.
bool measure(Setup& setup, const char* how, const std::function<void()>& start, int expected) {
  using Clock = std::chrono::steady_clock;
  using Microseconds = std::chrono::duration<double, std::micro>;
  std::vector<double> calls(kRuns), all(kRuns);
  bool right = true;
  for (int run = -1; run < kRuns; ++run) {  // the first run is a warm-up
    Setup::set(setup.a, 0);
    const auto begin = Clock::now();
    start();
    const auto called = Clock::now();
    CU_CHECK(cuStreamSynchronize(setup.stream));
    calls[std::max(run, 0)] = Microseconds(called - begin).count() / kChain;
    all[std::max(run, 0)] = Microseconds(Clock::now() - begin).count() / kChain;
    right = right && Setup::get(setup.a) == expected;
  }
  std::sort(calls.begin(), calls.end());
  std::sort(all.begin(), all.end());
  std::printf("%-22s | %5.2f | %5.2f | %s\n", how, calls[kRuns / 2], all[kRuns / 2], right ? "right" : "WRONG");
  return right;
}

// Captures (1 + 2) and (10 * 10) in two streams that fork from one stream and join it again. Returns the sum.
int fork_and_join(Setup& setup) {
  CUstream other;
  CUevent forked, joined;
  CU_CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
  CU_CHECK(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
  int two = 2, ten = 10;
  void* add_two[] = {&setup.a.address, &two};
  void* times_ten[] = {&setup.b.address, &ten};
  void* a_and_b[] = {&setup.result.address, &setup.a.address, &setup.b.address};
  Setup::set(setup.a, 1);
  Setup::set(setup.b, 10);

  CUgraph graph;
  CU_CHECK(cuStreamBeginCapture(setup.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_CHECK(cuEventRecord(forked, setup.stream));
  CU_CHECK(cuStreamWaitEvent(other, forked, 0));  // from here on, `other` is captured as well
  Setup::launch(setup.add, setup.stream, add_two);
  Setup::launch(setup.multiply, other, times_ten);
  CU_CHECK(cuEventRecord(joined, other));
  CU_CHECK(cuStreamWaitEvent(setup.stream, joined, 0));  // joins `other`; without it, the capture is invalid
  Setup::launch(setup.sum, setup.stream, a_and_b);
  CU_CHECK(cuStreamEndCapture(setup.stream, &graph));

  std::size_t nodes, roots;
  CU_CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
  CU_CHECK(cuGraphGetRootNodes(graph, nullptr, &roots));
  Graph(graph).launch(setup.stream);
  CU_CHECK(cuStreamSynchronize(setup.stream));
  const int result = Setup::get(setup.result);
  std::printf("two streams, captured: %zu nodes, %zu without dependencies; (1 + 2) + (10 * 10) = %d\n", nodes, roots,
              result);
  CU_CHECK(cuEventDestroy(forked));
  CU_CHECK(cuEventDestroy(joined));
  CU_CHECK(cuStreamDestroy(other));
  return result;
}

int main() try {
  Setup setup;
  CUgraphNode first;
  const Graph captured(capture_chain(setup)), built(build_chain(setup, &first));

  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, setup.context.device));
  std::printf("%s, a chain of %d kernels, microseconds per kernel\n", name, kChain);
  std::printf("%-22s | calls | total | result\n", "");
  bool right = measure(setup, "64 launches", [&] { launch_chain(setup); }, kChain);
  right &= measure(setup, "captured graph", [&] { captured.launch(setup.stream); }, kChain);
  right &= measure(setup, "graph built by hand", [&] { built.launch(setup.stream); }, kChain);

  CUDA_KERNEL_NODE_PARAMS node{};
  int by = 1000;
  void* arguments[] = {&setup.a.address, &by};
  CU_CHECK(cuGraphKernelNodeGetParams(first, &node));
  node.kernelParams = arguments;
  CU_CHECK(cuGraphExecKernelNodeSetParams(built.executable, first, &node));  // changes only the executable graph
  right &= measure(setup, "first node adds 1000", [&] { built.launch(setup.stream); }, kChain - 1 + 1000);
  std::printf("\n");
  right &= fork_and_join(setup) == 103;
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
