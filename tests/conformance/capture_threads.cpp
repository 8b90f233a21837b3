// Threads that begin captures of a stream, put work into it and end the captures, all at the same time.
#include "tests/conformance/scenario.hpp"

#include <atomic>
#include <thread>

namespace {

const char kText[] = R"(.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry inc()
{
  .reg .u32 %r<2>;
  atom.global.add.u32 %r1, [counter], 1;
  ret;
}
)";

unsigned kernels_in(CUgraph graph) {
  std::size_t count = 0;
  if (cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS) return 0;
  std::vector<CUgraphNode> nodes(count);
  cuGraphGetNodes(graph, nodes.data(), &count);
  unsigned kernels = 0;
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    cuGraphNodeGetType(node, &type);
    kernels += type == CU_GRAPH_NODE_TYPE_KERNEL;
  }
  return kernels;
}

// One stream that all threads share, and what they have counted.
struct Shared {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUfunction inc = nullptr;
  CUdeviceptr memory = 0;
  std::atomic<unsigned> launched{0}, captured{0}, wrong{0};
  std::atomic<bool> over{false};

  void note(CUresult result) { wrong += result != CUDA_SUCCESS; }
};

// A relaxed capture may be ended by any thread, so another one may have been faster.
void begin_and_end(Shared& shared, int rounds) {
  shared.note(cuCtxSetCurrent(shared.context));
  for (int round = 0; round < rounds; ++round) {
    const CUresult begun = cuStreamBeginCapture(shared.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    shared.wrong += begun != CUDA_SUCCESS && begun != CUDA_ERROR_ILLEGAL_STATE;
    std::this_thread::sleep_for(std::chrono::microseconds(round % 50));
    CUgraph graph = nullptr;
    const CUresult ended = cuStreamEndCapture(shared.stream, &graph);
    shared.wrong += ended != CUDA_SUCCESS && ended != CUDA_ERROR_ILLEGAL_STATE;
    if (ended != CUDA_SUCCESS || graph == nullptr) continue;
    shared.captured += kernels_in(graph);
    shared.note(cuGraphDestroy(graph));
  }
}

// Each of these is done, or is a node; no capture refuses it.
void put_in_work(Shared& shared) {
  shared.note(cuCtxSetCurrent(shared.context));
  CUevent event = nullptr;
  shared.note(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  while (!shared.over) {
    const CUresult launched = cuLaunchKernel(shared.inc, 1, 1, 1, 1, 1, 1, 0, shared.stream, nullptr, nullptr);
    shared.launched += launched == CUDA_SUCCESS;
    shared.note(launched);
    shared.note(cuMemsetD32Async(shared.memory, 7, 4, shared.stream));
    shared.note(cuMemcpyDtoDAsync(shared.memory + 64, shared.memory, 16, shared.stream));
    shared.note(cuStreamWriteValue32(shared.stream, shared.memory + 128, 1, 0));
    shared.note(cuLaunchHostFunc(shared.stream, [](void*) {}, nullptr));
    shared.note(cuEventRecord(event, shared.stream));
  }
}

}  // namespace

// A GPU's driver crashes, so only a simulated device is asked.
FRESH_CASE("Work that races with a capture's beginning and end is done once, or is in one graph", "[threads]") {
  Shared shared;
  shared.context = conformance::context().ctx;
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver (580) crashes here");
  CUmodule module = nullptr;
  CUdeviceptr counter = 0;
  CU_CHECK(cuModuleLoadData(&module, kText));
  CU_CHECK(cuModuleGetFunction(&shared.inc, module, "inc"));
  CU_CHECK(cuModuleGetGlobal(&counter, nullptr, module, "counter"));
  CU_CHECK(cuStreamCreate(&shared.stream, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemAlloc(&shared.memory, 4096));
  std::vector<std::thread> workers, capturers;
  for (int i = 0; i < 3; ++i) workers.emplace_back([&] { put_in_work(shared); });
  for (int i = 0; i < 2; ++i) capturers.emplace_back([&] { begin_and_end(shared, 1000); });
  for (std::thread& thread : capturers) thread.join();
  shared.over = true;
  for (std::thread& thread : workers) thread.join();
  ANSWERS(cuStreamSynchronize(shared.stream), CUDA_SUCCESS);
  unsigned done = 0;
  CU_CHECK(cuMemcpyDtoH(&done, counter, sizeof done));
  CHECK(shared.wrong == 0);
  CHECK(done + shared.captured == shared.launched);
}
