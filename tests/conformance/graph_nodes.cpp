// Graphs: attributes of nodes, edges, updates of executable graphs, and what can be queried.
#include "tests/conformance/graphs.hpp"

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

FRESH_CASE("A kernel node with a function ignores the members for a library's kernel", "[graph]") {
  const auto F = conformance::module();
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CUgraphExec e = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(F("empty_k"), 1, 1);
  kp.kern = reinterpret_cast<CUkernel>(0x10);  // as in a structure that a program has only filled in part
  kp.ctx = reinterpret_cast<CUcontext>(0x10);
  ANSWERS(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp), CUDA_SUCCESS);
  ANSWERS(cuGraphKernelNodeSetParams(n, &kp), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS known{};
  ANSWERS(cuGraphKernelNodeGetParams(n, &known), CUDA_SUCCESS);
  CHECK(known.func == kp.func);
  CHECK(known.kern == nullptr);
  CHECK(known.ctx == F.ctx);
  ANSWERS(cuGraphInstantiate(&e, g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphExecKernelNodeSetParams(e, n, &kp), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(e, nullptr), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
}

FRESH_CASE("A kernel node tells the kernel, its function and the context that it is bound to", "[graph]") {
  const auto F = conformance::module();
  CUlibrary library = nullptr;
  CUkernel kernel_of_library = nullptr;
  CUfunction function = nullptr;
  CU_CHECK(cuLibraryLoadData(&library, conformance::image().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU_CHECK(cuLibraryGetKernel(&kernel_of_library, library, "empty_k"));
  CU_CHECK(cuKernelGetFunction(&function, kernel_of_library));
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CU_CHECK(cuGraphCreate(&g, 0));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(nullptr, 1, 1), known{};
  kp.kern = kernel_of_library;
  ANSWERS(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp), CUDA_SUCCESS);
  ANSWERS(cuGraphKernelNodeGetParams(n, &known), CUDA_SUCCESS);
  CHECK(known.func == function);
  CHECK(known.kern == kernel_of_library);
  CHECK(known.ctx == F.ctx);
  kp.kern = nullptr;
  kp.func = reinterpret_cast<CUfunction>(kernel_of_library);  // as cuLaunchKernel takes it
  ANSWERS(cuGraphAddKernelNode(&n, g, nullptr, 0, &kp), CUDA_ERROR_INVALID_HANDLE);
  CUstream s = nullptr;
  CUgraph captured = nullptr;
  std::size_t count = 1;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ANSWERS(cuLaunchKernel(kp.func, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr), CUDA_SUCCESS);
  CU_CHECK(cuStreamEndCapture(s, &captured));
  CU_CHECK(cuGraphGetNodes(captured, &n, &count));
  ANSWERS(cuGraphKernelNodeGetParams(n, &known), CUDA_SUCCESS);
  CHECK(known.func == function);
  CHECK(known.kern == kernel_of_library);
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

FRESH_CASE("A node of external semaphores may have none, and then does nothing", "[graph]") {
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
  CU_CHECK(cuLaunchHostFunc(s, [](void*) {}, nullptr));
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
  CUDA_MEMSET_NODE_PARAMS rows{p, 64, 0, 1, 4, 2};  // 4 × 2 bytes, 64 from row to row
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
FRESH_CASE("The flags of an executable graph do not include uploads and priorities", "[graph]") {
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

FRESH_CASE("Edges are reported without their kinds only if all are plain", "[graph]") {
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

FRESH_CASE("A captured launch that may overlap the one before it becomes a programmatic edge", "[graph][capture]") {
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

FRESH_CASE("The dependencies of a captured stream's next node can be queried with their kinds", "[graph][capture]") {
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
