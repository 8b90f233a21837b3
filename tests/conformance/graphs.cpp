// Graphs: built by hand and by capture, launched as often as wanted.
#include "tests/conformance/graphs.hpp"

#include <functional>
#include <thread>

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

// What a call returns while `s` is captured in `mode`, made by this thread or by another one, whose own mode may be
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

FRESH_CASE("With CUDA_LAUNCH_BLOCKING, launching a graph returns its fault", "[graph]", {"CUDA_LAUNCH_BLOCKING", "1"}) {
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
