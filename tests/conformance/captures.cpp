// Captures: which calls they hold, how they fork and join, and what ends them.
#include "tests/conformance/recorded.hpp"

#include <functional>

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

const char kText[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n.visible .global .u32 v;\n";

const char* status_of(CUstream s) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = cuStreamIsCapturing(s, &status);
  if (result != CUDA_SUCCESS) {
    static std::string name;
    return (name = cu::name(result)).c_str();
  }
  return status == CU_STREAM_CAPTURE_STATUS_NONE     ? "none"
         : status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active"
                                                     : "invalidated";
}

std::string nodes_of(CUgraph graph) {
  if (graph == nullptr) return "no graph";
  std::size_t count = 0, edges = 0;
  CU_CHECK(cuGraphGetNodes(graph, nullptr, &count));
#if CUDA_VERSION >= 13000
  CU_CHECK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
  CU_CHECK(cuGraphGetEdges(graph, nullptr, nullptr, &edges));
#endif
  std::vector<CUgraphNode> nodes(count);
  CU_CHECK(cuGraphGetNodes(graph, nodes.data(), &count));
  std::string text = std::to_string(count) + " nodes, " + std::to_string(edges) + " edges";
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    CU_CHECK(cuGraphNodeGetType(node, &type));
    text += " " + std::to_string(static_cast<int>(type));
  }
  return text;
}

struct Scene {
  conformance::Context F = conformance::context();
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  CUstream s = nullptr, t = nullptr, u = nullptr, blocking = nullptr;
  CUevent e = nullptr, f = nullptr, recorded = nullptr, silent = nullptr;
  CUdeviceptr d = 0, managed = 0, pooled = 0;
  void* pinned = nullptr;
  char pageable[4096] = {};
  Scene() {
    CU_CHECK(cuModuleLoadData(&module, kText));
    CU_CHECK(cuModuleGetFunction(&k, module, "k"));
    for (CUstream* one : {&s, &t, &u}) CU_CHECK(cuStreamCreate(one, CU_STREAM_NON_BLOCKING));
    CU_CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    for (CUevent* one : {&e, &f, &recorded}) CU_CHECK(cuEventCreate(one, 0));
    CU_CHECK(cuEventCreate(&silent, CU_EVENT_DISABLE_TIMING));
    CU_CHECK(cuMemAlloc(&d, 4096));
    CU_CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CU_CHECK(cuMemAllocAsync(&pooled, 4096, s));
    CU_CHECK(cuMemAllocHost(&pinned, 4096));
    CU_CHECK(cuEventRecord(recorded, t));
    CU_CHECK(cuCtxSynchronize());
  }
  CUresult launch(CUstream stream) const { return cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr); }
  void end(CUstream stream) const {
    CUgraph graph = nullptr;
    SAY_AS("cuStreamEndCapture", cuStreamEndCapture(stream, &graph));
    SHOW_AS("graph", nodes_of(graph));
  }
};

// Calls in a capture: each call's result, whether the capture is still of use, and what the graph is then.
struct Calls {
  Scene& S;
  CUstreamCaptureMode mode;
  void operator()(const char* name, const std::function<CUresult()>& call) const {
    CUgraph graph = nullptr;
    CU_CHECK(cuStreamBeginCapture(S.s, mode));
    SAY_AS(name, call());
    const std::string status = status_of(S.s);
    const CUresult end = cuStreamEndCapture(S.s, &graph);
    SHOW_AS("capture", status << ", " << cu::name(end) << ", " << nodes_of(graph));
    if (graph != nullptr) CU_CHECK(cuGraphDestroy(graph));
  }
};

#define IN(call) in(#call, [&] { return call; })

// What a call does to a capture of the stream that it names.
// A table: one row after the other.
void name_the_stream(Scene& S, const Calls& in) {
  CUdeviceptr out = 0;
  CUDA_MEMCPY2D flat{};
  flat.srcMemoryType = flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.srcDevice = S.d;
  flat.dstDevice = S.d + 2048;
  flat.srcPitch = flat.dstPitch = 64;
  flat.WidthInBytes = 32;
  flat.Height = 4;
  CUDA_MEMCPY3D deep{};
  deep.srcMemoryType = deep.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  deep.srcDevice = S.d;
  deep.dstDevice = S.d + 2048;
  deep.srcPitch = deep.dstPitch = 64;
  deep.srcHeight = deep.dstHeight = 4;
  deep.WidthInBytes = 32;
  deep.Height = 4;
  deep.Depth = 2;
  IN(S.launch(S.s));
  IN(cuMemcpyAsync(S.d, S.d + 64, 64, S.s));
  IN(cuMemcpyHtoDAsync(S.d, S.pinned, 64, S.s));
  IN(cuMemcpyHtoDAsync(S.d, S.pageable, 64, S.s));
  IN(cuMemcpyDtoHAsync(S.pageable, S.d, 64, S.s));
  IN(cuMemcpyDtoDAsync(S.d, S.d + 64, 64, S.s));
  IN(cuMemcpyDtoDAsync(S.d, S.d + 64, 8192, S.s));
  IN(cuMemcpyHtoDAsync(0, S.pinned, 64, S.s));
  IN(cuMemcpyPeerAsync(S.d, S.F.ctx, S.d + 64, S.F.ctx, 64, S.s));
  IN(cuMemcpy2DAsync(&flat, S.s));
  IN(cuMemcpy3DAsync(&deep, S.s));
  IN(cuMemsetD8Async(S.d, 1, 64, S.s));
  IN(cuMemsetD2D32Async(S.d, 64, 1, 4, 4, S.s));
  IN(cuLaunchHostFunc(S.s, [](void*) {}, nullptr));
  IN(cuLaunchHostFunc(S.s, nullptr, nullptr));
  IN(cuStreamAddCallback(S.s, [](CUstream, CUresult, void*) {}, nullptr, 0));
  IN(cuMemAllocAsync(&out, 1024, S.s));
  IN(cuMemAllocAsync(&out, 0, S.s));
  IN(cuMemFreeAsync(S.pooled, S.s));
  IN(cuMemFreeAsync(S.d, S.s));
  IN(cuMemFreeAsync(0, S.s));
  IN(cuStreamAttachMemAsync(S.s, S.managed, 0, CU_MEM_ATTACH_GLOBAL));
  IN(cuEventRecord(S.e, S.s));
  IN(cuEventRecordWithFlags(S.e, S.s, CU_EVENT_RECORD_EXTERNAL));
  IN(cuStreamWaitEvent(S.s, S.recorded, 0));
  IN(cuStreamWaitEvent(S.s, S.recorded, CU_EVENT_WAIT_EXTERNAL));
  IN(cuStreamQuery(S.s));
  IN(cuStreamSynchronize(S.s));
  IN(cuStreamDestroy(nullptr));
  IN(cuStreamWriteValue32(S.s, S.d, 1, 0));
  IN(cuStreamWaitValue32(S.s, S.d, 1, CU_STREAM_WAIT_VALUE_GEQ));
  IN(cuLaunchCooperativeKernel(S.k, 1, 1, 1, 1, 1, 1, 0, S.s, nullptr));
  IN(cuStreamBeginCapture(S.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  CUcontext context = nullptr;
  CUstreamAttrValue value{};
  IN(cuStreamGetFlags(S.s, &flags));
  IN(cuStreamGetPriority(S.s, &priority));
  IN(cuStreamGetId(S.s, &id));
  IN(cuStreamGetCtx(S.s, &context));
  IN(cuStreamGetAttribute(S.s, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  IN(cuStreamSetAttribute(S.s, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  IN(cuStreamCopyAttributes(S.s, S.t));
#if CUDA_VERSION >= 13000
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, {S.F.dev}};
  CUmemLocation places[] = {here};
  CUdeviceptr to[] = {S.d, S.d + 512}, from[] = {S.d + 1024, S.d + 2048}, ranges[] = {S.managed};
  std::size_t sizes[] = {64, 64}, starts[] = {0}, lengths[] = {4096};
  CUmemcpyAttributes how{};
  how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  CUDA_MEMCPY3D_BATCH_OP box{};
  box.src.type = box.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  box.src.op.ptr.ptr = S.d;
  box.dst.op.ptr.ptr = S.d + 2048;
  box.extent = {16, 4, 2};
  box.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  IN(cuMemcpyBatchAsync(to, from, sizes, 2, &how, starts, 1, S.s));
  IN(cuMemcpyBatchAsync(to, from, sizes, 0, &how, starts, 1, S.s));
  IN(cuMemcpy3DBatchAsync(1, &box, 0, S.s));
  IN(cuMemcpy3DBatchAsync(0, &box, 0, S.s));
  IN(cuMemPrefetchAsync(S.managed, 4096, here, 0, S.s));
  IN(cuMemPrefetchBatchAsync(ranges, lengths, 1, places, starts, 1, 0, S.s));
  IN(cuMemDiscardBatchAsync(ranges, lengths, 1, 0, S.s));
  IN(cuMemDiscardAndPrefetchBatchAsync(ranges, lengths, 1, places, starts, 1, 0, S.s));
#endif
}

// What a call that names no stream, or another one, does to it.
// A table: one row after the other.
void name_no_stream(Scene& S, const Calls& in) {
  CUdeviceptr out = 0;
  CUstream made = nullptr;
  CUevent mark = nullptr;
  CUmodule loaded = nullptr;
  CUfunction found = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  CUcontext context = nullptr;
  CUmemoryPool pool = nullptr;
  void* host = nullptr;
  std::size_t free = 0, total = 0, pitch = 0;
  int value = 0;
  float ms = 0;
  CUDA_ARRAY_DESCRIPTOR shape{8, 8, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  IN(cuMemAlloc(&out, 1024));
  IN(cuMemAllocPitch(&out, &pitch, 64, 4, 4));
  IN(cuMemAllocManaged(&out, 1024, CU_MEM_ATTACH_GLOBAL));
  IN(cuMemAllocHost(&host, 1024));
  IN(cuMemHostAlloc(&host, 1024, 0));
  IN(cuMemHostRegister(S.pageable, 4096, 0));
  IN(cuMemHostUnregister(S.pageable));
  IN(cuMemFreeHost(nullptr));
  IN(cuMemFree(0));
  IN(cuMemGetInfo(&free, &total));
  IN(cuMemcpy(S.d, S.d + 64, 64));
  IN(cuMemcpyHtoD(S.d, S.pageable, 64));
  IN(cuMemcpyDtoD(S.d, S.d + 64, 64));
  IN(cuMemsetD8(S.d, 1, 64));
  IN(cuMemsetD8Async(S.d, 1, 64, nullptr));
  IN(cuMemAllocAsync(&out, 64, S.t));
  IN(S.launch(nullptr));
  IN(S.launch(S.t));
  IN(S.launch(S.blocking));
  IN(cuArrayCreate(&array, &shape));
  IN(cuCtxSynchronize());
  IN(cuStreamSynchronize(S.t));
  IN(cuStreamQuery(S.t));
  IN(cuStreamSynchronize(nullptr));
  IN(cuStreamQuery(nullptr));
  IN(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
  IN(cuStreamDestroy(made));
  IN(cuEventCreate(&mark, 0));
  IN(cuEventRecord(mark, S.t));
  IN(cuEventRecord(mark, nullptr));
  IN(cuEventQuery(S.recorded));
  IN(cuEventSynchronize(S.recorded));
  IN(cuEventElapsedTime(&ms, S.recorded, S.recorded));
  IN(cuEventDestroy(mark));
  IN(cuModuleLoadData(&loaded, kText));
  IN(cuModuleGetFunction(&found, S.module, "k"));
  IN(cuModuleGetGlobal(&out, nullptr, S.module, "v"));
  IN(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, S.k));
  IN(cuFuncSetAttribute(S.k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
  IN(cuFuncLoad(S.k));
  IN(cuModuleUnload(loaded));
  IN(cuGraphCreate(&graph, 0));
  IN(cuGraphInstantiate(&ready, graph, 0));
  IN(cuGraphUpload(ready, S.t));
  IN(cuGraphLaunch(ready, S.t));
  IN(cuGraphLaunch(ready, S.s));
  IN(cuGraphExecDestroy(ready));
  IN(cuGraphDestroy(graph));
  IN(cuCtxGetCurrent(&context));
  IN(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
  IN(cuCtxGetLimit(&total, CU_LIMIT_STACK_SIZE));
  IN(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  IN(cuDeviceGetDefaultMemPool(&pool, S.F.dev));
  IN(cuMemPoolTrimTo(pool, 0));
  IN(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, S.d));
  IN(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, S.k, 32, 0));
  IN(cuMemAdvise(S.managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY,
                 CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, {S.F.dev}}));
  CUmemAllocationProp place{};
  place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  place.location = {CU_MEM_LOCATION_TYPE_DEVICE, {S.F.dev}};
  CUmemGenericAllocationHandle memory = 0;
  CUdeviceptr range = 0;
  IN(cuMemCreate(&memory, 2 << 20, &place, 0));
  IN(cuMemAddressReserve(&range, 2 << 20, 0, 0, 0));
  IN(cuMemMap(range, 2 << 20, 0, memory, 0));
  IN(cuMemUnmap(range, 2 << 20));
  IN(cuMemRelease(memory));
  IN(cuMemAddressFree(range, 2 << 20));
  CUDA_RESOURCE_DESC what{};
  what.resType = CU_RESOURCE_TYPE_LINEAR;
  what.res.linear = {S.d, CU_AD_FORMAT_FLOAT, 1, 64};
  CUDA_TEXTURE_DESC how{};
  CUtexObject texture = 0;
  IN(cuTexObjectCreate(&texture, &what, &how, nullptr));
  IN(cuTexObjectDestroy(texture));
  CUlinkState state = nullptr;
  IN(cuLinkCreate(0, nullptr, nullptr, &state));
  CUlibrary library = nullptr;
  IN(cuLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  IN(cuLibraryGetKernel(&kernel, library, "k"));
  IN(cuLibraryUnload(library));
}

}  // namespace

RECORDED_CASE("Calls on a stream that is captured for every thread", "[streams][graph]") {
  Scene scene;
  name_the_stream(scene, {scene, CU_STREAM_CAPTURE_MODE_GLOBAL});
}

RECORDED_CASE("Calls on a stream whose capture is relaxed", "[streams][graph]") {
  Scene scene;
  name_the_stream(scene, {scene, CU_STREAM_CAPTURE_MODE_RELAXED});
}

RECORDED_CASE("Calls beside a capture for every thread", "[streams][graph]") {
  Scene scene;
  name_no_stream(scene, {scene, CU_STREAM_CAPTURE_MODE_GLOBAL});
}

RECORDED_CASE("Calls beside a capture of this thread", "[streams][graph]") {
  Scene scene;
  name_no_stream(scene, {scene, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL});
}

RECORDED_CASE("Calls beside a capture that is relaxed", "[streams][graph]") {
  Scene scene;
  name_no_stream(scene, {scene, CU_STREAM_CAPTURE_MODE_RELAXED});
}

RECORDED_CASE("Calls beside a capture of a blocking stream", "[streams][graph]") {
  Scene scene;
  std::swap(scene.s, scene.blocking);
  name_no_stream(scene, {scene, CU_STREAM_CAPTURE_MODE_RELAXED});
}

// A table: one row after the other.
RECORDED_CASE("A capture forks by an event, and joins before it ends", "[streams][graph]") {
  Scene S;
  const auto begin = [&](const char* what) {
    SHOW_AS("##", what);
    CU_CHECK(cuStreamBeginCapture(S.s, CU_STREAM_CAPTURE_MODE_RELAXED));
    SAY(S.launch(S.s));
  };
  const auto states = [&] { SHOW_AS("streams", status_of(S.s) << " " << status_of(S.t) << " " << status_of(S.u)); };
  begin("fork and join");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  states();
  SAY(S.launch(S.t));
  SAY(cuEventRecord(S.f, S.t));
  SAY(cuStreamWaitEvent(S.s, S.f, 0));
  S.end(S.s);
  states();
  begin("fork, no work, no join");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  S.end(S.s);
  states();
  begin("fork, work, no join");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  SAY(S.launch(S.t));
  S.end(S.s);
  states();
  begin("end on the fork");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  S.end(S.t);
  states();
  S.end(S.s);
  begin("two forks, joined one by the other");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  SAY(S.launch(S.t));
  SAY(cuEventRecord(S.f, S.t));
  SAY(cuStreamWaitEvent(S.u, S.f, 0));
  SAY(S.launch(S.u));
  SAY(cuEventRecord(S.f, S.u));
  SAY(cuStreamWaitEvent(S.s, S.f, 0));
  S.end(S.s);
  begin("a fork whose event is recorded again");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  SAY(cuEventRecord(S.e, S.t));
  SAY(cuStreamWaitEvent(S.s, S.e, 0));
  S.end(S.s);
  begin("waiting for the event of an ended capture");
  SAY(cuEventRecord(S.e, S.s));
  S.end(S.s);
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  SAY(cuEventQuery(S.e));
  SAY(cuEventSynchronize(S.e));
  states();
  begin("asking for the event of a capture");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuEventQuery(S.e));
  states();
  S.end(S.s);
  begin("waiting for the event of a capture");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuEventSynchronize(S.e));
  states();
  S.end(S.s);
  begin("the time of an event of a capture");
  float ms = 0;
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuEventElapsedTime(&ms, S.recorded, S.e));
  states();
  S.end(S.s);
  begin("an event from outside");
  SAY(cuEventRecord(S.f, S.t));
  SAY(cuStreamWaitEvent(S.s, S.f, 0));
  states();
  S.end(S.s);
  begin("two captures meet");
  CU_CHECK(cuStreamBeginCapture(S.t, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  states();
  S.end(S.t);
  S.end(S.s);
  begin("synchronizing a fork");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  SAY(cuStreamSynchronize(S.t));
  states();
  S.end(S.s);
  states();
  begin("the legacy stream joins");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(nullptr, S.e, 0));
  states();
  S.end(S.s);
  begin("the thread's stream joins");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(CU_STREAM_PER_THREAD, S.e, 0));
  SAY(cuEventRecord(S.f, CU_STREAM_PER_THREAD));
  SAY(cuStreamWaitEvent(S.s, S.f, 0));
  S.end(S.s);
  begin("destroying a fork");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.u, S.e, 0));
  SAY(cuStreamDestroy(S.u));
  S.end(S.s);
  begin("destroying the event");
  SAY(cuEventRecord(S.e, S.s));
  SAY(cuStreamWaitEvent(S.t, S.e, 0));
  SAY(cuEventDestroy(S.e));
  SAY(S.launch(S.t));
  SAY(cuEventRecord(S.f, S.t));
  SAY(cuStreamWaitEvent(S.s, S.f, 0));
  S.end(S.s);
}

// A table: one row after the other.
RECORDED_CASE("A capture begins and ends on streams that can be captured", "[streams][graph]") {
  Scene S;
  CUgraph g = nullptr;
  SAY(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamEndCapture(CU_STREAM_PER_THREAD, &g));
  SAY(cuStreamBeginCapture(S.s, static_cast<CUstreamCaptureMode>(3)));
  SAY(cuStreamBeginCapture(S.s, static_cast<CUstreamCaptureMode>(-1)));
  SAY(cuStreamEndCapture(S.s, &g));
  SAY(cuStreamEndCapture(nullptr, &g));
  SAY(cuStreamBeginCapture(S.s, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamEndCapture(S.s, nullptr));
  SHOW(status_of(S.s));
  SAY(cuStreamEndCapture(S.s, &g));
  SHOW(nodes_of(g));
  CUstreamCaptureStatus status{};
  SAY(cuStreamIsCapturing(S.s, nullptr));
  SAY(cuStreamIsCapturing(nullptr, &status));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  SAY(cuThreadExchangeStreamCaptureMode(&mode));
  SHOW(mode);
  mode = static_cast<CUstreamCaptureMode>(7);
  SAY(cuThreadExchangeStreamCaptureMode(&mode));
  SHOW(mode);
  SAY(cuThreadExchangeStreamCaptureMode(&mode));
  SHOW(mode);
#if CUDA_VERSION >= 13000
  CUgraph into = nullptr, other = nullptr;
  CUgraphNode node = nullptr, foreign = nullptr;
  CU_CHECK(cuGraphCreate(&into, 0));
  CU_CHECK(cuGraphCreate(&other, 0));
  CU_CHECK(cuGraphAddEmptyNode(&node, into, nullptr, 0));
  CU_CHECK(cuGraphAddEmptyNode(&foreign, other, nullptr, 0));
  SAY(cuStreamBeginCaptureToGraph(S.s, nullptr, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamBeginCaptureToGraph(S.s, into, &foreign, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamBeginCaptureToGraph(S.s, into, nullptr, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamBeginCaptureToGraph(S.s, into, &node, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamBeginCaptureToGraph(S.t, into, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(S.launch(S.s));
  SAY(cuStreamEndCapture(S.s, &g));
  SHOW((g == into));
  SHOW(nodes_of(into));
  SAY(cuStreamBeginCapture(S.s, CU_STREAM_CAPTURE_MODE_RELAXED));
  cuuint64_t id = 0;
  const CUgraphNode* dependencies = nullptr;
  std::size_t count = 99;
  SAY(cuStreamGetCaptureInfo(S.s, &status, &id, &g, &dependencies, nullptr, &count));
  SHOW(status << " " << (id != 0) << " " << (g != nullptr) << " " << count);
  SAY(S.launch(S.s));
  SAY(cuStreamGetCaptureInfo(S.s, &status, nullptr, nullptr, nullptr, nullptr, &count));
  SHOW(count);
  SAY(cuStreamGetCaptureInfo(S.s, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  SAY(cuStreamUpdateCaptureDependencies(S.s, &foreign, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  SAY(cuStreamUpdateCaptureDependencies(S.s, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  SAY(cuStreamUpdateCaptureDependencies(S.s, nullptr, nullptr, 0, 7));
  SAY(cuStreamUpdateCaptureDependencies(S.t, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  SAY(S.launch(S.s));
  SAY(cuStreamGetCaptureInfo(S.t, &status, &id, nullptr, nullptr, nullptr, nullptr));
  SHOW(status);
  S.end(S.s);
#endif
  SAY(cuStreamBeginCapture(S.t, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY(cuStreamDestroy(S.t));
  SAY(cuStreamBeginCapture(S.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUresult results[3] = {};
  std::thread([&] {
    cuCtxSetCurrent(S.F.ctx);
    CUdeviceptr p = 0;
    CUgraph graph = nullptr;
    results[0] = cuMemAlloc(&p, 16);
    results[1] = cuStreamEndCapture(S.s, &graph);
  }).join();
  SHOW(cu::name(results[0]));
  SHOW(cu::name(results[1]));
  S.end(S.s);
  SAY(cuStreamBeginCapture(S.s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  std::thread([&] {
    cuCtxSetCurrent(S.F.ctx);
    CUdeviceptr p = 0;
    CUgraph graph = nullptr;
    results[0] = cuMemAlloc(&p, 16);
    results[1] = S.launch(S.s);
    results[2] = cuStreamEndCapture(S.s, &graph);
  }).join();
  SHOW(cu::name(results[0]));
  SHOW(cu::name(results[1]));
  SHOW(cu::name(results[2]));
  S.end(S.s);
}
