// Graphs: built by hand and by capture, launched as often as wanted.
#include "tests/conformance/scenario.hpp"

#include <fstream>
#include <functional>
#include <thread>

namespace {

// The kernel `inc` adds one to the module's `counter` for each thread.
struct Counter {
  CUdeviceptr address = 0;
  explicit Counter(const conformance::Module& F) {
    const int zero = 0;
    CU_CHECK(cuModuleGetGlobal(&address, nullptr, F.mod, "counter"));
    CU_CHECK(cuMemcpyHtoD(address, &zero, 4));
  }
  int value() const {
    int v = -1;
    CU_CHECK(cuMemcpyDtoH(&v, address, 4));
    return v;
  }
};

CUDA_KERNEL_NODE_PARAMS kernel(CUfunction f, unsigned blocks, unsigned threads) {
  CUDA_KERNEL_NODE_PARAMS kp{};
  kp.func = f;
  kp.gridDimX = blocks;
  kp.gridDimY = kp.gridDimZ = 1;
  kp.blockDimX = threads;
  kp.blockDimY = kp.blockDimZ = 1;
  return kp;
}

}  // namespace

FRESH_CASE("A graph in a circle is refused, an honest one runs as often as launched", "[graph]") {
  const auto F = conformance::module();
  const Counter counter(F);
  CUgraph g = nullptr, g2 = nullptr;
  CUgraphNode n = nullptr, m2 = nullptr;
  CUgraphExec e = nullptr;
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("inc"), 1, 64);
  ANSWERS(cuGraphCreate(&g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp), CUDA_SUCCESS);
  ANSWERS(cuGraphAddKernelNode(&m2, g, &n, 1, &kp), CUDA_SUCCESS);
#if CUDA_VERSION >= 13000
  ANSWERS(cuGraphAddDependencies(g, &m2, &n, nullptr, 1), CUDA_SUCCESS);
#else
  ANSWERS(cuGraphAddDependencies(g, &m2, &n, 1), CUDA_SUCCESS);
#endif
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphCreate(&g2, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphAddKernelNode(&n, g2, nullptr, 0, &kp), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&e, g2, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  SHOWS("counter 192", "counter " << counter.value());
}

FRESH_CASE("Synchronising a captured stream spoils the capture", "[graph]") {
  const auto F = conformance::module();
  CUstream s = nullptr;
  CUgraph g3 = reinterpret_cast<CUgraph>(1);
  CU_CHECK(cuStreamCreate(&s, 0));
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("inc"), 1, 1, 1, 1, 1, 1, 0, s, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ANSWERS(cuStreamEndCapture(s, &g3), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  SHOWS("g3 null 1", "g3 null " << (g3 == nullptr));
}

FRESH_CASE("What two streams do between fork and join becomes one graph", "[graph]") {
  const auto F = conformance::module();
  const Counter counter(F);
  CUstream s = nullptr, t = nullptr;
  CUevent fork = nullptr, join = nullptr;
  CUgraph g = nullptr;
  CUgraphExec e = nullptr;
  std::size_t nodes = 0;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  CU_CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32Async(counter.address, 100, 1, s), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(fork, s), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(t, fork, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("inc"), 1, 1, 1, 8, 1, 1, 0, s, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("inc"), 1, 1, 1, 4, 1, 1, 0, t, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(join, t), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(s, join, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("inc"), 1, 1, 1, 2, 1, 1, 0, s, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_SUCCESS);
  CHECK(counter.value() == 0);  // nothing has run
  ANSWERS(cuGraphGetNodes(g, nullptr, &nodes), CUDA_SUCCESS);
  CHECK(nodes == 4);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, t), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, t), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(t), CUDA_SUCCESS);
  CHECK(counter.value() == 114);
}

namespace {

// What a capture that goes wrong needs: a stream that is captured, another one, an event between them, a place for the
// graph.
struct TwoStreams {
  CUstream s = nullptr, t = nullptr;
  CUevent mark = nullptr;
  CUgraph g = nullptr;
};

TwoStreams two_streams() {
  TwoStreams made;
  CU_CHECK(cuStreamCreate(&made.s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&made.t, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&made.mark, CU_EVENT_DISABLE_TIMING));
  return made;
}

}  // namespace

FRESH_CASE("To ask after a captured event invalidates the capture", "[graph]") {
  conformance::context();
  auto [s, t, mark, g] = two_streams();
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(mark, s), CUDA_SUCCESS);
  ANSWERS(cuEventQuery(mark), CUDA_ERROR_CAPTURED_EVENT);
  ANSWERS(cuStreamWaitEvent(t, mark, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuStreamEndCapture(t, &g), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(g == nullptr);
}

FRESH_CASE("To end a capture in another of its streams invalidates it", "[graph]") {
  const auto F = conformance::module();
  auto [s, t, fork, g] = two_streams();
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(fork, s), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(t, fork, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("inc"), 1, 1, 1, 1, 1, 1, 0, t, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(g == nullptr);
}

FRESH_CASE("A capture that leaves a stream behind is no graph", "[graph]") {
  const auto F = conformance::module();
  auto [s, t, fork, g] = two_streams();
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuEventRecord(fork, s), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(t, fork, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("inc"), 1, 1, 1, 1, 1, 1, 0, t, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  CHECK(g == nullptr);
}

FRESH_CASE("Nodes are found again in a clone, and changed in what was instantiated", "[graph]") {
  const auto F = conformance::module();
  const Counter counter(F);
  CUgraph g = nullptr, clone = nullptr;
  CUgraphNode n = nullptr, twin = nullptr;
  CUgraphExec e = nullptr;
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("inc"), 1, 1), read{};
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp));
  ANSWERS(cuGraphClone(&clone, g), CUDA_SUCCESS);
  ANSWERS(cuGraphNodeFindInClone(&twin, n, clone), CUDA_SUCCESS);
  CHECK(twin != n);
  ANSWERS(cuGraphKernelNodeGetParams(twin, &read), CUDA_SUCCESS);
  CHECK(read.func == kp.func);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  kp.blockDimX = 10;
  ANSWERS(cuGraphExecKernelNodeSetParams(e, n, &kp), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  CHECK(counter.value() == 10);
  unsigned enabled = 9;
  ANSWERS(cuGraphNodeSetEnabled(e, n, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphNodeGetEnabled(e, n, &enabled), CUDA_SUCCESS);
  CHECK(enabled == 0);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  CHECK(counter.value() == 10);
  ANSWERS(cuGraphExecDestroy(e), CUDA_SUCCESS);
  ANSWERS(cuGraphDestroy(clone), CUDA_SUCCESS);
  ANSWERS(cuGraphDestroy(g), CUDA_SUCCESS);
}

FRESH_CASE("A child graph runs inside, copies and host functions in their places", "[graph]") {
  const auto F = conformance::module();
  const Counter counter(F);
  CUgraph g = nullptr, inner = nullptr;
  CUgraphNode fill = nullptr, child = nullptr, copy = nullptr, host = nullptr, a = nullptr, b = nullptr;
  CUgraphExec e = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphCreate(&inner, 0));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("inc"), 1, 3);
  CU_CHECK(cuGraphAddKernelNode(&a, inner, nullptr, 0, &kp));
  CU_CHECK(cuGraphAddKernelNode(&b, inner, &a, 1, &kp));
  CUDA_MEMSET_NODE_PARAMS zero{};
  zero.dst = counter.address;
  zero.elementSize = 4;
  zero.width = zero.height = 1;
  ANSWERS(cuGraphAddMemsetNode(&fill, g, nullptr, 0, &zero, F.ctx), CUDA_SUCCESS);
  ANSWERS(cuGraphAddChildGraphNode(&child, g, &fill, 1, inner), CUDA_SUCCESS);
  int out = -1;
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = counter.address;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = &out;
  back.WidthInBytes = 4;
  back.Height = back.Depth = 1;
  ANSWERS(cuGraphAddMemcpyNode(&copy, g, &child, 1, &back, F.ctx), CUDA_SUCCESS);
  struct Seen {
    int* out;
    int value;
  } seen{&out, 0};
  CUDA_HOST_NODE_PARAMS look{};
  look.fn = [](void* data) { static_cast<Seen*>(data)->value = *static_cast<Seen*>(data)->out; };
  look.userData = &seen;
  ANSWERS(cuGraphAddHostNode(&host, g, &copy, 1, &look), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(seen.value == 6);
}

FRESH_CASE("Memory that a graph allocates lives until the graph frees it", "[graph]") {
  const auto F = conformance::module();
  CUgraph g = nullptr;
  CUgraphNode allocate = nullptr, fill = nullptr, copy = nullptr, free = nullptr;
  CUgraphExec e = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS ap{};
  ap.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  ap.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  ap.poolProps.location.id = F.dev;
  ap.bytesize = 256;
  ANSWERS(cuGraphAddMemAllocNode(&allocate, g, nullptr, 0, &ap), CUDA_SUCCESS);
  CHECK(ap.dptr != 0);
  CUDA_MEMSET_NODE_PARAMS sevens{};
  sevens.dst = ap.dptr;
  sevens.elementSize = 4;
  sevens.width = 64;
  sevens.height = 1;
  sevens.value = 7;
  ANSWERS(cuGraphAddMemsetNode(&fill, g, &allocate, 1, &sevens, F.ctx), CUDA_SUCCESS);
  int out = -1;
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = ap.dptr + 128;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = &out;
  back.WidthInBytes = 4;
  back.Height = back.Depth = 1;
  ANSWERS(cuGraphAddMemcpyNode(&copy, g, &fill, 1, &back, F.ctx), CUDA_SUCCESS);
  ANSWERS(cuGraphAddMemFreeNode(&free, g, &copy, 1, ap.dptr), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(out == 7);
}

FRESH_CASE("A user object ends when neither the program nor a graph holds it", "[graph]") {
  conformance::context();
  int ended = 0;
  CUuserObject object = nullptr;
  CUgraph g = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  ANSWERS(cuUserObjectCreate(
              &object, &ended, [](void* data) { ++*static_cast<int*>(data); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
          CUDA_SUCCESS);
  ANSWERS(cuGraphRetainUserObject(g, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  // The handle is good for as long as anything holds the object.
  ANSWERS(cuGraphRetainUserObject(g, object, 1, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphReleaseUserObject(g, object, 1), CUDA_SUCCESS);
  CHECK(ended == 0);
  ANSWERS(cuGraphDestroy(g), CUDA_SUCCESS);
  for (int i = 0; i < 1000 && ended == 0; ++i) usleep(1000);
  CHECK(ended == 1);
}

FRESH_CASE("An allocation and a free that are captured come and go with each launch", "[graph]") {
  conformance::context();
  CUstream s = nullptr;
  CUgraph g = nullptr;
  CUgraphExec e = nullptr;
  unsigned* out = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemAllocHost(reinterpret_cast<void**>(&out), 4096));
  CU_CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUdeviceptr p = 0;
  ANSWERS(cuMemAllocAsync(&p, 4096, s), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32Async(p, 7, 1024, s), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoHAsync(out, p, 4096, s), CUDA_SUCCESS);
  ANSWERS(cuMemFreeAsync(p, s), CUDA_SUCCESS);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    out[1023] = 0;
    ANSWERS(cuGraphLaunch(e, s), CUDA_SUCCESS);
    ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
    CHECK(out[1023] == 7);
  }
}

namespace {

// What a call answers while `s` is captured in `mode`, made by this thread or by another one, whose own mode may be
// relaxed; and whether the capture is good for anything afterwards.
struct Answer {
  CUresult result = CUDA_ERROR_UNKNOWN;
  bool invalidated = false;
};

enum class By { this_thread, another, another_relaxed };

Answer while_captured(CUstream s, CUstreamCaptureMode mode, By by, const std::function<CUresult()>& call) {
  CUcontext ctx = nullptr;
  CU_CHECK(cuCtxGetCurrent(&ctx));
  CU_CHECK(cuStreamBeginCapture(s, mode));
  Answer answer;
  const auto make = [&] {
    CU_CHECK(cuCtxSetCurrent(ctx));
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (by == By::another_relaxed) CU_CHECK(cuThreadExchangeStreamCaptureMode(&relaxed));
    answer.result = call();
  };
  if (by == By::this_thread) {
    make();
  } else {
    std::thread(make).join();
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CU_CHECK(cuStreamIsCapturing(s, &status));
  answer.invalidated = status == CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  CUgraph g = nullptr;
  cuStreamEndCapture(s, &g);
  if (g != nullptr) CU_CHECK(cuGraphDestroy(g));
  return answer;
}

}  // namespace

FRESH_CASE("Calls that might wait for captured work are refused, as the modes of capture and thread say", "[graph]") {
  conformance::context();
  auto [s, other, mark, unused] = two_streams();
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 64));
  CU_CHECK(cuEventRecord(mark, other));
  CU_CHECK(cuStreamSynchronize(other));
  int word = 0;
  struct Call {
    const char* name;
    bool unsafe;
    std::function<CUresult()> call;
  };
  const Call calls[] = {
      {"cuMemAlloc", true,
       [] {
         CUdeviceptr q = 0;
         return cuMemAlloc(&q, 64);
       }},
      {"cuMemFree", true, [] { return cuMemFree(0); }},
      {"cuMemHostAlloc", true,
       [] {
         void* q = nullptr;
         return cuMemHostAlloc(&q, 64, 0);
       }},
      {"cuMemAllocManaged", true,
       [] {
         CUdeviceptr q = 0;
         return cuMemAllocManaged(&q, 64, CU_MEM_ATTACH_GLOBAL);
       }},
      {"cuMemAllocAsync", true,
       [other = other] {
         CUdeviceptr q = 0;
         return cuMemAllocAsync(&q, 64, other);
       }},
      {"cuStreamSynchronize", true, [other = other] { return cuStreamSynchronize(other); }},
      {"cuStreamSynchronize of the default stream", true, [] { return cuStreamSynchronize(nullptr); }},
      {"cuEventQuery", true, [mark = mark] { return cuEventQuery(mark); }},
      {"cuEventSynchronize", true, [mark = mark] { return cuEventSynchronize(mark); }},
      {"cuMemFreeHost", true, [] { return cuMemFreeHost(nullptr); }},
      {"cuCtxSetLimit", true, [] { return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048); }},
      {"cuMemcpyHtoD", false, [&] { return cuMemcpyHtoD(p, &word, 4); }},
      {"cuMemsetD8Async", false, [&, other = other] { return cuMemsetD8Async(p, 0, 4, other); }},
      {"cuStreamCreate", false,
       [] {
         CUstream t = nullptr;
         return cuStreamCreate(&t, 0);
       }},
      {"cuEventCreate", false,
       [] {
         CUevent e = nullptr;
         return cuEventCreate(&e, 0);
       }},
  };
  const struct {
    CUstreamCaptureMode mode;
    By by;
    bool minds;
  } columns[] = {{CU_STREAM_CAPTURE_MODE_GLOBAL, By::this_thread, true},
                 {CU_STREAM_CAPTURE_MODE_GLOBAL, By::another, true},
                 {CU_STREAM_CAPTURE_MODE_GLOBAL, By::another_relaxed, false},
                 {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, By::this_thread, true},
                 {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, By::another, false},
                 {CU_STREAM_CAPTURE_MODE_RELAXED, By::this_thread, false}};
  for (const Call& call : calls) {
    for (const auto& column : columns) {
      const Answer answer = while_captured(s, column.mode, column.by, call.call);
      const bool refused = call.unsafe && column.minds;
      CAPTURE(call.name, static_cast<int>(column.mode), static_cast<int>(column.by), cu::name(answer.result));
      CHECK(answer.result == (refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS));
      CHECK(answer.invalidated == refused);
    }
  }
}

FRESH_CASE("What a graph allocates and leaves must be freed before it is launched again", "[graph]") {
  const auto F = conformance::module();
  const auto in_use = [&](CUgraphMem_attribute attribute) {
    cuuint64_t bytes = 77;
    CU_CHECK(cuDeviceGetGraphMemAttribute(F.dev, attribute, &bytes));
    return bytes;
  };
  constexpr cuuint64_t unit = 32 << 20;
  CUgraph g = nullptr, clone = nullptr, outer = nullptr;
  CUgraphNode allocate = nullptr, free = nullptr, child = nullptr;
  CUgraphExec e = nullptr, second = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphCreate(&outer, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS ap{};
  ap.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  ap.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  ap.bytesize = 1 << 20;
  ANSWERS(cuGraphAddMemAllocNode(&allocate, g, nullptr, 0, &ap), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  CHECK(in_use(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  CHECK(in_use(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == unit);
  ANSWERS(cuGraphClone(&clone, g), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuGraphInstantiate(&second, g, 0), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, g), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFreeAsync(ap.dptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemFreeAsync(ap.dptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemFree(ap.dptr), CUDA_SUCCESS);
  CHECK(in_use(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == unit);
  ANSWERS(cuDeviceGraphMemTrim(F.dev), CUDA_SUCCESS);
  CHECK(in_use(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  CHECK(in_use(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == unit);
  cuuint64_t zero = 0, five = 5;
  ANSWERS(cuDeviceSetGraphMemAttribute(F.dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &five), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceSetGraphMemAttribute(F.dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceSetGraphMemAttribute(F.dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero), CUDA_SUCCESS);
  CHECK(in_use(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == 0);
  ANSWERS(cuDeviceGraphMemTrim(9), CUDA_ERROR_INVALID_DEVICE);
  ANSWERS(cuGraphDestroyNode(allocate), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuGraphAddMemFreeNode(&free, g, nullptr, 0, 0x1234), CUDA_ERROR_INVALID_VALUE);
  // Another instance may be made when the first is gone; this one frees what it finds.
  ANSWERS(cuGraphExecDestroy(e), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&e, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("With CUDA_LAUNCH_BLOCKING, launching a graph answers with its fault", "[graph]",
           {"CUDA_LAUNCH_BLOCKING", "1"}) {
  const auto F = conformance::module();
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CUgraphExec e = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("null_write"), 1, 1);
  CUdeviceptr nowhere = 0;
  void* a[] = {&nowhere};
  kp.kernelParams = a;
  CU_CHECK(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp));
  CU_CHECK(cuGraphInstantiate(&e, g, 0));
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("A kernel node has some of a launch's attributes, with their defaults", "[graph]") {
  const auto F = conformance::module();
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("inc"), 1, 1);
  CU_CHECK(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp));
  CUlaunchAttributeValue value{};
  for (const CUlaunchAttributeID attribute :
       {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        CU_LAUNCH_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN}) {
    CAPTURE(static_cast<int>(attribute));
    ANSWERS(cuGraphKernelNodeGetAttribute(n, attribute, &value), CUDA_SUCCESS);
    ANSWERS(cuGraphKernelNodeSetAttribute(n, attribute, &value), CUDA_SUCCESS);
  }
  ANSWERS(cuGraphKernelNodeGetAttribute(n, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value), CUDA_SUCCESS);
  SHOWS("0 1", int{value.memSyncDomainMap.default_} << ' ' << int{value.memSyncDomainMap.remote});
  ANSWERS(cuGraphKernelNodeGetAttribute(n, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value), CUDA_SUCCESS);
  SHOWS("0 0 0", value.clusterDim.x << ' ' << value.clusterDim.y << ' ' << value.clusterDim.z);
  ANSWERS(cuGraphKernelNodeGetAttribute(n, CU_LAUNCH_ATTRIBUTE_IGNORE, &value), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphKernelNodeGetAttribute(n, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
          CUDA_ERROR_INVALID_VALUE);
  kp.func = nullptr;
  ANSWERS(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp), CUDA_ERROR_INVALID_HANDLE);
}

FRESH_CASE("An ordinary edge has no ports, a programmatic one lies between kernels, one graph takes one capture",
           "[graph]") {
  const auto F = conformance::module();
  CUgraph g = nullptr, other = nullptr;
  CUgraphNode kernel = nullptr, host = nullptr;
  CUDA_KERNEL_NODE_PARAMS k{};
  k.func = F("inc");
  k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
  CUDA_HOST_NODE_PARAMS h{};
  h.fn = [](void*) {};
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphCreate(&other, 0));
  CU_CHECK(cuGraphAddKernelNode(&kernel, g, nullptr, 0, &k));
  CU_CHECK(cuGraphAddHostNode(&host, g, nullptr, 0, &h));
#if CUDA_VERSION >= 13000
  CUgraphEdgeData edge{};
  edge.from_port = 1;
  ANSWERS(cuGraphAddDependencies(g, &kernel, &host, &edge, 1), CUDA_ERROR_INVALID_VALUE);
  edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  ANSWERS(cuGraphAddDependencies(g, &kernel, &host, &edge, 1), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec e = nullptr;
  unsigned enabled = 9;
  CU_CHECK(cuGraphInstantiate(&e, g, 0));
  ANSWERS(cuGraphNodeGetEnabled(e, kernel, &enabled), CUDA_SUCCESS);
  ANSWERS(cuGraphNodeGetEnabled(e, host, &enabled), CUDA_ERROR_INVALID_VALUE);
  CUstream s = nullptr, t = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  ANSWERS(cuStreamBeginCaptureToGraph(s, other, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuStreamBeginCaptureToGraph(t, other, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL),
          CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_SUCCESS);
  CHECK(g == other);
#endif
}

#if CUDA_VERSION >= 13000
FRESH_CASE("A node's description has nothing where nothing belongs", "[graph]") {
  conformance::context();
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CU_CHECK(cuGraphCreate(&graph, 0));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
  ANSWERS(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  parameters.reserved0[1] = 5;
  ANSWERS(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), CUDA_ERROR_INVALID_VALUE);
  parameters.reserved0[1] = 0;
  parameters.reserved2 = 9;
  ANSWERS(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), CUDA_ERROR_INVALID_VALUE);
}
#endif

FRESH_CASE("A node of external semaphores may name none, and then only stands in line", "[graph]") {
  conformance::context();
  CUgraph g = nullptr;
  CUgraphNode signal = nullptr, wait = nullptr;
  CUgraphExec e = nullptr;
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals{};
  CUDA_EXT_SEM_WAIT_NODE_PARAMS waits{};
  CU_CHECK(cuGraphCreate(&g, 0));
  ANSWERS(cuGraphAddExternalSemaphoresSignalNode(&signal, g, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphAddExternalSemaphoresSignalNode(&signal, g, nullptr, 0, &signals), CUDA_SUCCESS);
  ANSWERS(cuGraphAddExternalSemaphoresWaitNode(&wait, g, &signal, 1, &waits), CUDA_SUCCESS);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CU_CHECK(cuGraphNodeGetType(wait, &type));
  CHECK(type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  signals.numExtSems = 7;
  ANSWERS(cuGraphExternalSemaphoresSignalNodeGetParams(signal, &signals), CUDA_SUCCESS);
  CHECK(signals.numExtSems == 0);
  ANSWERS(cuGraphExternalSemaphoresSignalNodeGetParams(wait, &signals), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphExecExternalSemaphoresWaitNodeSetParams(e, wait, &waits), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("An external event of a capture is a node, which each launch records or waits for", "[capture]") {
  conformance::context();
  CUstream s = nullptr, plain = nullptr;
  CUevent before = nullptr, behind = nullptr;
  CUgraph g = nullptr;
  CUgraphExec e = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&before, 0));
  CU_CHECK(cuEventCreate(&behind, 0));
  CU_CHECK(cuEventRecord(before, plain));
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(s, before, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
  ANSWERS(cuEventRecordWithFlags(behind, s, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
  ANSWERS(cuEventQuery(behind), CUDA_SUCCESS);  // it marks nothing yet
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_SUCCESS);
  CUgraphNode nodes[3] = {};
  std::size_t count = 3;
  CU_CHECK(cuGraphGetNodes(g, nodes, &count));
  REQUIRE(count == 2);
  CUgraphNodeType types[2];
  CU_CHECK(cuGraphNodeGetType(nodes[0], &types[0]));
  CU_CHECK(cuGraphNodeGetType(nodes[1], &types[1]));
  CHECK(types[0] == CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  CHECK(types[1] == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, s), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  float milliseconds = -1;
  ANSWERS(cuEventElapsedTime(&milliseconds, before, behind), CUDA_SUCCESS);
  CHECK(milliseconds >= 0);
  // Outside of a capture the flags mean nothing; the manual calls them invalid, driver 580 the state.
  ANSWERS(cuStreamWaitEvent(s, before, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuEventRecordWithFlags(behind, s, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
}

FRESH_CASE("While a blocking stream is captured, the legacy stream cannot even be asked", "[capture]") {
  conformance::context();
  CUstream s = nullptr;
  CUgraph g = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ANSWERS(cuStreamIsCapturing(CU_STREAM_LEGACY, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  ANSWERS(cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status), CUDA_SUCCESS);
  ANSWERS(cuStreamIsCapturing(s, &status), CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
#if CUDA_VERSION >= 13000
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  ANSWERS(cuStreamGetCaptureInfo(CU_STREAM_LEGACY, &status, nullptr, nullptr, nullptr, nullptr, nullptr),
          CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CU_CHECK(cuLaunchHostFunc(
      s, [](void*) {}, nullptr));
  ANSWERS(cuStreamGetCaptureInfo(s, &status, nullptr, nullptr, nullptr, &edges, &count), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuStreamGetCaptureInfo(s, &status, nullptr, nullptr, &nodes, &edges, &count), CUDA_SUCCESS);
  REQUIRE(count == 1);
  REQUIRE(edges != nullptr);
  CHECK((edges[0].from_port | edges[0].to_port | edges[0].type) == 0);
#endif
  ANSWERS(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

FRESH_CASE("What is instantiated changes only as far as the manual says, and keeps its attributes", "[graph]") {
  const auto F = conformance::module();
  CUcontext own = nullptr;
  CU_CHECK(cuCtxGetCurrent(&own));
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  std::vector<unsigned char> host(64);
  CUgraph g = nullptr;
  CUgraphNode copy = nullptr, fill = nullptr, node = nullptr;
  CUgraphExec e = nullptr;
  CUDA_MEMCPY3D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host.data();
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  in.dstDevice = p;
  in.WidthInBytes = 64;
  in.Height = in.Depth = 1;
  CUDA_MEMSET_NODE_PARAMS rows{};
  rows.dst = p;
  rows.elementSize = 1;
  rows.width = 4;
  rows.height = 2;
  rows.pitch = 64;
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("inc"), 1, 1);
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphAddMemcpyNode(&copy, g, nullptr, 0, &in, own));
  CU_CHECK(cuGraphAddMemsetNode(&fill, g, &copy, 1, &rows, own));
  CU_CHECK(cuGraphAddKernelNode(&node, g, &fill, 1, &kp));
  CUkernelNodeAttrValue value{};
  value.cooperative = 1;
  CU_CHECK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
  CU_CHECK(cuGraphInstantiate(&e, g, 0));

  in.WidthInBytes = 32;
  ANSWERS(cuGraphExecMemcpyNodeSetParams(e, copy, &in, own), CUDA_SUCCESS);
  in.Height = 2;
  in.srcPitch = in.dstPitch = 32;
  ANSWERS(cuGraphExecMemcpyNodeSetParams(e, copy, &in, own), CUDA_ERROR_INVALID_VALUE);
  in.Height = 1;
  in.dstMemoryType = CU_MEMORYTYPE_HOST;
  in.dstHost = host.data() + 32;
  ANSWERS(cuGraphExecMemcpyNodeSetParams(e, copy, &in, own), CUDA_ERROR_INVALID_VALUE);
  rows.value = 7;
  rows.dst = p + 1024;
  ANSWERS(cuGraphExecMemsetNodeSetParams(e, fill, &rows, own), CUDA_SUCCESS);
  rows.width = 8;
  ANSWERS(cuGraphExecMemsetNodeSetParams(e, fill, &rows, own), CUDA_ERROR_INVALID_VALUE);

  kp.gridDimX = 2;
  ANSWERS(cuGraphKernelNodeSetParams(node, &kp), CUDA_SUCCESS);
  value.cooperative = 0;
  ANSWERS(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value), CUDA_SUCCESS);
  CHECK(value.cooperative == 1);
  CUgraphExecUpdateResultInfo why{};
  ANSWERS(cuGraphExecUpdate(e, g, &why), CUDA_SUCCESS);
  value.cooperative = 0;
  CU_CHECK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
  ANSWERS(cuGraphExecUpdate(e, g, &why), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CHECK(why.result == CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
  CHECK(why.errorNode == node);
}

#if CUDA_VERSION >= 13000
FRESH_CASE("Words that an executable graph writes may change, how many they are may not", "[graph]") {
  const auto made = conformance::context();
  CUdeviceptr words = 0;
  CU_CHECK(cuMemAlloc(&words, 16));
  CU_CHECK(cuMemsetD32(words, 0, 4));
  CUstreamBatchMemOpParams write[2]{};
  for (unsigned i = 0; i < 2; ++i) {
    write[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write[i].writeValue.address = words + 4 * i;
    write[i].writeValue.value = 7 + i;
  }
  CUDA_BATCH_MEM_OP_NODE_PARAMS both{made.ctx, 2, write, 0};
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CUgraphExec e = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  ANSWERS(cuGraphAddBatchMemOpNode(&n, g, nullptr, 0, &both), CUDA_SUCCESS);
  CU_CHECK(cuGraphInstantiate(&e, g, 0));
  write[1].writeValue.address = words + 12;
  write[1].writeValue.value = 9;
  ANSWERS(cuGraphExecBatchMemOpNodeSetParams(e, n, &both), CUDA_SUCCESS);
  both.count = 1;
  ANSWERS(cuGraphExecBatchMemOpNodeSetParams(e, n, &both), CUDA_ERROR_INVALID_VALUE);
  both.count = 2;
  write[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  write[1].writeValue.address = words + 8;
  ANSWERS(cuGraphExecBatchMemOpNodeSetParams(e, n, &both), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  int values[4] = {};
  CU_CHECK(cuMemcpyDtoH(values, words, sizeof values));
  SHOWS("7 0 0 9", values[0] << ' ' << values[1] << ' ' << values[2] << ' ' << values[3]);
}

#if CUDA_VERSION >= 12000
FRESH_CASE("Of what a graph was instantiated with uploads and priorities are not told again", "[graph]") {
  conformance::context();
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CUgraphExec e = nullptr;
  cuuint64_t flags = 0;
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphAddEmptyNode(&n, g, nullptr, 0));
  CUDA_GRAPH_INSTANTIATE_PARAMS wanted{};
  wanted.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  CU_CHECK(cuStreamCreate(&wanted.hUploadStream, CU_STREAM_NON_BLOCKING));
  ANSWERS(cuGraphInstantiateWithParams(&e, g, &wanted), CUDA_SUCCESS);
  ANSWERS(cuGraphExecGetFlags(e, &flags), CUDA_SUCCESS);
  CHECK(flags == 0);
  wanted.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  ANSWERS(cuGraphInstantiateWithParams(&e, g, &wanted), CUDA_SUCCESS);
  ANSWERS(cuGraphExecGetFlags(e, &flags), CUDA_SUCCESS);
  CHECK(flags == CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
}
#endif

FRESH_CASE("An answer without the kinds of edges is given only where all are plain", "[graph]") {
  const auto F = conformance::module();
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("inc"), 1, 1);
  CUgraph g = nullptr;
  CUgraphNode a = nullptr, b = nullptr, from[2] = {}, to[2] = {};
  CUgraphEdgeData early{}, kinds[2] = {};
  std::size_t count = 2;
  early.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  early.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphAddKernelNode(&a, g, nullptr, 0, &kp));
  CU_CHECK(cuGraphAddKernelNode(&b, g, nullptr, 0, &kp));
  ANSWERS(cuGraphAddDependencies(g, &a, &b, &early, 1), CUDA_SUCCESS);
  ANSWERS(cuGraphGetEdges(g, from, to, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  ANSWERS(cuGraphNodeGetDependencies(b, from, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  ANSWERS(cuGraphNodeGetDependentNodes(a, to, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  ANSWERS(cuGraphGetEdges(g, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
  SHOWS("1 edges", count << " edges");
  ANSWERS(cuGraphGetEdges(g, nullptr, nullptr, kinds, &count), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphNodeGetDependencies(b, nullptr, kinds, &count), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphGetEdges(g, from, to, kinds, &count), CUDA_SUCCESS);
  SHOWS("type 1 port 1", "type " << int(kinds[0].type) << " port " << int(kinds[0].from_port));
  ANSWERS(cuGraphRemoveDependencies(g, &a, &b, nullptr, 1), CUDA_SUCCESS);  // of whichever kind
  ANSWERS(cuGraphRemoveDependencies(g, &a, &b, &early, 1), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("A captured launch that may overlap the one before it is an edge that says so", "[graph][capture]") {
  const auto F = conformance::module();
  const Counter counter(F);
  CUstream s = nullptr, t = nullptr;
  CUevent mark = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&mark, CU_EVENT_DISABLE_TIMING));
  CUlaunchAttribute overlap{}, event{};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  event.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
  event.value.programmaticEvent = {mark, 0, 0};
  CUlaunchConfig second{1, 1, 1, 1, 1, 1, 0, s, &overlap, 1}, first{1, 1, 1, 1, 1, 1, 0, s, &event, 1};
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernelEx(&first, F("inc"), nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(t, mark, 0), CUDA_SUCCESS);
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph g = nullptr;
  const CUgraphNode* after = nullptr;
  const CUgraphEdgeData* kinds = nullptr;
  std::size_t count = 0;
  ANSWERS(cuStreamGetCaptureInfo(t, &status, &id, &g, &after, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  ANSWERS(cuStreamGetCaptureInfo(t, &status, &id, &g, &after, &kinds, &count), CUDA_SUCCESS);
  SHOWS("1 type 1 port 1", count << " type " << int(kinds[0].type) << " port " << int(kinds[0].from_port));
  ANSWERS(cuLaunchKernelEx(&second, F("inc"), nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("inc"), 1, 1, 1, 1, 1, 1, 0, t, nullptr, nullptr), CUDA_SUCCESS);
  CU_CHECK(cuEventRecord(mark, t));
  CU_CHECK(cuStreamWaitEvent(s, mark, 0));
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_SUCCESS);
  CUgraphNode from[4] = {}, to[4] = {};
  CUgraphEdgeData all[4] = {};
  count = 4;
  ANSWERS(cuGraphGetEdges(g, from, to, all, &count), CUDA_SUCCESS);
  SHOWS("2 edges, types 1 1", count << " edges, types " << int(all[0].type) << " " << int(all[1].type));
  CUgraphExec e = nullptr;
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, s), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  SHOWS("counter 3", "counter " << counter.value());
}

FRESH_CASE("What a captured stream's next node comes after can be told with kinds", "[graph][capture]") {
  const auto F = conformance::module();
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CUgraph g = nullptr;
  CUgraphNode a = nullptr, from[2] = {}, to[2] = {};
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("inc"), 1, 1);
  CUgraphEdgeData early{}, kinds[2] = {};
  early.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
  early.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuGraphAddKernelNode(&a, g, nullptr, 0, &kp));
  ANSWERS(cuStreamBeginCaptureToGraph(s, g, &a, &early, 1, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(kp.func, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_SUCCESS);
  std::size_t count = 2;
  ANSWERS(cuGraphGetEdges(g, from, to, kinds, &count), CUDA_SUCCESS);
  SHOWS("1 edges, type 1 port 2",
        count << " edges, type " << int(kinds[0].type) << " port " << int(kinds[0].from_port));
}

FRESH_CASE("A context whose stream is captured has no mark of all its work, and waits for none", "[capture]") {
  const auto made = conformance::context();
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUgraph g = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&e, 0));
  ANSWERS(cuCtxRecordEvent(made.ctx, e), CUDA_SUCCESS);
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ANSWERS(cuCtxRecordEvent(made.ctx, e), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ANSWERS(cuCtxWaitEvent(made.ctx, e), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ANSWERS(cuCtxWaitEvent(made.ctx, e), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}
#endif

#if CUDA_VERSION >= 13000
FRESH_CASE("Words in a graph have a context, and may be none", "[graph]") {
  const auto made = conformance::context();
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  CUstreamBatchMemOpParams write{};
  write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = p;
  const CUDA_BATCH_MEM_OP_NODE_PARAMS nowhere{nullptr, 1, &write, 0}, none{made.ctx, 0, &write, 0};
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  ANSWERS(cuGraphAddBatchMemOpNode(&n, g, nullptr, 0, &nowhere), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphAddBatchMemOpNode(&n, g, nullptr, 0, &none), CUDA_SUCCESS);
  CUgraphExec e = nullptr;
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuStreamBatchMemOp(nullptr, 0, nullptr, 0), CUDA_SUCCESS);
}
#endif

#if CUDA_VERSION >= 12000
FRESH_CASE("A graph that kernels could launch is of kernels, copies and fills", "[graph]") {
  const auto F = conformance::module();
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("empty_k"), 1, 1);
  CUgraph empty = nullptr, kernels = nullptr;
  CUgraphNode n = nullptr;
  CUgraphExec e = nullptr;
  CU_CHECK(cuGraphCreate(&empty, 0));
  CU_CHECK(cuGraphAddEmptyNode(&n, empty, nullptr, 0));
  CU_CHECK(cuGraphCreate(&kernels, 0));
  CU_CHECK(cuGraphAddKernelNode(&n, kernels, nullptr, 0, &kp));
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  ANSWERS(cuGraphInstantiateWithParams(&e, empty, &how), CUDA_ERROR_INVALID_VALUE);
  CHECK(how.result_out == CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
  how.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  CU_CHECK(cuStreamCreate(&how.hUploadStream, CU_STREAM_NON_BLOCKING));
  ANSWERS(cuGraphInstantiateWithParams(&e, kernels, &how), CUDA_SUCCESS);
  CHECK(how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
  cuuint64_t flags = 0;
  ANSWERS(cuGraphExecGetFlags(e, &flags), CUDA_SUCCESS);
  CHECK(flags == CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
}
#endif

FRESH_CASE("A graph lets go of an object that it does not hold", "[graph]") {
  conformance::context();
  CUgraph g = nullptr;
  CUuserObject object = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuUserObjectCreate(&object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  ANSWERS(cuGraphReleaseUserObject(g, object, 1), CUDA_SUCCESS);
}
