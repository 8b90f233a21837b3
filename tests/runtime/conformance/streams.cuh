// Streams, events, callbacks, capture and graphs.
#pragma once
#include "common.cuh"
#include "scenario.hpp"

SCENARIO(streams_with_invalid_arguments) {
  cudaStream_t stream = nullptr;
  SAY(cudaStreamCreate(nullptr));
  SAY(cudaStreamCreateWithFlags(&stream, 99));
  SAY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned flags = 99;
  SAY(cudaStreamGetFlags(stream, &flags));
  SHOW(flags);
  SAY(cudaStreamGetFlags(nullptr, &flags));
  SHOW(flags);
  SAY(cudaStreamGetFlags(stream, nullptr));
  int priority = 99;
  SAY(cudaStreamGetPriority(stream, &priority));
  SHOW(priority);
  SAY(cudaStreamGetPriority(stream, nullptr));
  SAY(cudaStreamDestroy(stream));
  SAY(cudaStreamDestroy(nullptr));
  SAY(cudaStreamDestroy(cudaStreamLegacy));
  SAY(cudaStreamDestroy(cudaStreamPerThread));
  SAY(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, -1));
  SAY(cudaStreamGetPriority(stream, &priority));
  SHOW(priority);
  cudaStream_t low = nullptr;
  SAY(cudaStreamCreateWithPriority(&low, cudaStreamDefault, 77));
  SAY(cudaStreamGetPriority(low, &priority));
  SHOW(priority);
  int device = 9;
  SAY(cudaStreamGetDevice(stream, &device));
  SHOW(device);
  unsigned long long id = 0, other = 0;
  SAY(cudaStreamGetId(stream, &id));
  SAY(cudaStreamGetId(low, &other));
  SHOW(id != other);
  SAY(cudaStreamQuery(stream));
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaStreamWaitEvent(stream, nullptr));
  SAY(cudaStreamSynchronize(cudaStreamLegacy));
  SAY(cudaStreamSynchronize(cudaStreamPerThread));
  SAY(cudaStreamAddCallback(stream, nullptr, nullptr, 0));
  SAY(cudaStreamAttachMemAsync(stream, static_cast<void*>(nullptr)));
  SAY(cudaLaunchHostFunc(stream, nullptr, nullptr));
  SAY(cudaGetLastError());
}

SCENARIO(events) {
  cudaEvent_t a = nullptr, b = nullptr, untimed = nullptr;
  SAY(cudaEventCreate(nullptr));
  SAY(cudaEventCreateWithFlags(&a, 99));
  SAY(cudaEventCreate(&a));
  SAY(cudaEventCreate(&b));
  SAY(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float ms = -1;
  SAY(cudaEventElapsedTime(&ms, a, b));
  SAY(cudaEventQuery(a));
  SAY(cudaEventSynchronize(a));
  SAY(cudaEventRecord(a));
  spin<<<1, 1>>>(100000);
  SAY(cudaEventRecord(b, nullptr));
  SAY(cudaEventSynchronize(b));
  SAY(cudaEventElapsedTime(&ms, a, b));
  SHOW(ms >= 0);
  SAY(cudaEventElapsedTime(&ms, b, a));
  SHOW(ms <= 0);
  SAY(cudaEventRecord(untimed));
  SAY(cudaEventSynchronize(untimed));
  SAY(cudaEventElapsedTime(&ms, a, untimed));
  SAY(cudaEventElapsedTime(nullptr, a, b));
  SAY(cudaEventElapsedTime(&ms, nullptr, b));
  SAY(cudaEventRecord(nullptr));
  SAY(cudaEventRecordWithFlags(a, nullptr, 0));
  SAY(cudaEventRecordWithFlags(a, nullptr, 99));
  SAY(cudaEventQuery(nullptr));
  SAY(cudaEventSynchronize(nullptr));
  SAY(cudaEventDestroy(a));
  SAY(cudaEventDestroy(nullptr));
  SAY(cudaGetLastError());
}

static void called(cudaStream_t, cudaError_t status, void* data) { *static_cast<int*>(data) = 100 + status; }
static void called_back(void* data) { *static_cast<int*>(data) += 1; }

SCENARIO(functions_in_streams) {
  cudaStream_t stream;
  NEED(cudaStreamCreate(&stream));
  int value = 0;
  SAY(cudaStreamAddCallback(stream, called, &value, 0));
  SAY(cudaStreamSynchronize(stream));
  SHOW(value);
  SAY(cudaStreamAddCallback(stream, called, &value, 1));
  SAY(cudaLaunchHostFunc(stream, called_back, &value));
  SAY(cudaStreamSynchronize(stream));
  SHOW(value);
  SAY(cudaLaunchHostFunc(nullptr, called_back, &value));
  SAY(cudaDeviceSynchronize());
  SHOW(value);
}

SCENARIO(streams_wait_for_the_default_stream) {
  int* p = on_device<int>(1);
  cudaStream_t a, b;
  cudaEvent_t event;
  NEED(cudaStreamCreate(&a));
  NEED(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  NEED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  spin<<<1, 1, 0, a>>>(1000000);
  store<<<1, 1, 0, a>>>(p, 1);
  add_one<<<1, 1>>>(p);
  SAY(cudaEventRecord(event));
  SAY(cudaStreamWaitEvent(b, event));
  add_one<<<1, 1, 0, b>>>(p);
  SAY(cudaStreamSynchronize(b));
  SHOW(first(p));
}

SCENARIO(capture) {
  int* p = on_device<int>(1);
  cudaStream_t stream;
  NEED(cudaStreamCreate(&stream));
  cudaStreamCaptureStatus status;
  SAY(cudaStreamIsCapturing(stream, &status));
  SHOW(status);
  SAY(cudaStreamEndCapture(stream, nullptr));
  cudaGraph_t graph = nullptr;
  SAY(cudaStreamEndCapture(stream, &graph));
  SAY(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  SAY(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(9)));
  SAY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  SAY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_one<<<1, 2, 0, stream>>>(p);
  SAY(cudaGetLastError());
  SAY(cudaMemsetAsync(p, 0, 4, stream));
  add_one<<<1, 3, 0, stream>>>(p);
  SAY(cudaStreamIsCapturing(stream, &status));
  SHOW(status);
  SAY(cudaStreamIsCapturing(nullptr, &status));
  unsigned long long id = 0;
  cudaGraph_t within = nullptr;
  std::size_t count = 0;
  const cudaGraphNode_t* nodes = nullptr;
  SAY(cudaStreamGetCaptureInfo(stream, &status, &id, &within, &nodes, nullptr, &count));
  SHOW(count);
  SAY(cudaStreamEndCapture(stream, &graph));
  SHOW(graph == within);
  SAY(cudaGraphGetNodes(graph, nullptr, &count));
  SHOW(count);
  SAY(cudaGraphGetRootNodes(graph, nullptr, &count));
  SHOW(count);
  SAY(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  SHOW(count);
  cudaGraphExec_t executable = nullptr;
  SAY(cudaGraphInstantiate(&executable, graph, 0));
  SAY(cudaGraphLaunch(executable, stream));
  SAY(cudaGraphLaunch(executable, stream));
  SAY(cudaStreamSynchronize(stream));
  SHOW(first(p));
  SAY(cudaGraphUpload(executable, stream));
  SAY(cudaGraphExecDestroy(executable));
  SAY(cudaGraphDestroy(graph));
  SAY(cudaGetLastError());
}

SCENARIO(capture_forbids_waiting) {
  int* p = on_device<int>(1);
  cudaStream_t stream;
  cudaGraph_t graph = nullptr;
  NEED(cudaStreamCreate(&stream));
  SAY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_one<<<1, 1, 0, stream>>>(p);
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaStreamEndCapture(stream, &graph));
  SAY(cudaGetLastError());
  SAY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  void* q = nullptr;
  SAY(cudaMalloc(&q, 16));
  SAY(cudaStreamEndCapture(stream, &graph));
  SAY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  SAY(cudaMalloc(&q, 16));
  SAY(cudaStreamEndCapture(stream, &graph));
  SAY(cudaGetLastError());
  SAY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  store<<<1, 1>>>(p, 1);
  SAY(cudaGetLastError());
  SAY(cudaStreamEndCapture(stream, &graph));
  SAY(cudaDeviceSynchronize());
  SAY(cudaGetLastError());
}

SCENARIO(graphs_made_by_hand) {
  int* p = on_device<int>(1);
  int host = 0, number = 5;
  cudaGraph_t graph = nullptr;
  SAY(cudaGraphCreate(nullptr, 0));
  SAY(cudaGraphCreate(&graph, 1));
  SAY(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill = nullptr, kernel = nullptr, copy = nullptr, function = nullptr, empty = nullptr;
  cudaMemsetParams zero{};
  zero.dst = p;
  zero.elementSize = 4;
  zero.width = 1;
  zero.height = 1;
  SAY(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  void* arguments[] = {&p, &number};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(store);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(1);
  launch.kernelParams = arguments;
  SAY(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  SAY(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, &host, p, sizeof host, cudaMemcpyDeviceToHost));
  cudaHostNodeParams call{called_back, &host};
  SAY(cudaGraphAddHostNode(&function, graph, &copy, 1, &call));
  SAY(cudaGraphAddEmptyNode(&empty, graph, &function, 1));
  launch.func = nullptr;
  SAY(cudaGraphAddKernelNode(&empty, graph, nullptr, 0, &launch));
  SAY(cudaGraphAddKernelNode(&empty, graph, nullptr, 0, nullptr));
  cudaKernelNodeParams found{};
  SAY(cudaGraphKernelNodeGetParams(kernel, &found));
  SHOW(found.func == reinterpret_cast<void*>(store));
  SHOW(found.blockDim.x);
  SHOW(*static_cast<int*>(found.kernelParams[1]));
  cudaGraphNodeType type;
  SAY(cudaGraphNodeGetType(kernel, &type));
  SHOW(type);
  SAY(cudaGraphNodeGetType(copy, &type));
  SHOW(type);
  cudaMemcpy3DParms copied{};
  SAY(cudaGraphMemcpyNodeGetParams(copy, &copied));
  SHOW(copied.kind);
  SHOW(copied.extent.width);
  cudaMemsetParams filled{};
  SAY(cudaGraphMemsetNodeGetParams(fill, &filled));
  SHOW(filled.dst == p);
  cudaGraphExec_t executable = nullptr;
  SAY(cudaGraphInstantiate(&executable, graph));
  SAY(cudaGraphLaunch(executable, nullptr));
  SAY(cudaDeviceSynchronize());
  SHOW(host);
  number = 8;
  launch.func = reinterpret_cast<void*>(store);
  SAY(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
  SAY(cudaGraphLaunch(executable, nullptr));
  SAY(cudaDeviceSynchronize());
  SHOW(host);
  SAY(cudaGraphKernelNodeSetParams(kernel, &launch));
  cudaGraphExecUpdateResultInfo info{};
  SAY(cudaGraphExecUpdate(executable, graph, &info));
  SHOW(info.result);
  SAY(cudaGraphRemoveDependencies(graph, &function, &empty, nullptr, 1));
  SAY(cudaGraphNodeSetEnabled(executable, kernel, 0));
  SAY(cudaGraphLaunch(executable, nullptr));
  SAY(cudaDeviceSynchronize());
  SHOW(host);
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t twin = nullptr;
  SAY(cudaGraphClone(&clone, graph));
  SAY(cudaGraphNodeFindInClone(&twin, kernel, clone));
  SHOW(twin != nullptr);
  SAY(cudaGraphDestroyNode(empty));
  SAY(cudaGraphAddDependencies(graph, &function, &kernel, nullptr, 1));
  SAY(cudaGraphInstantiate(&executable, graph));
  SAY(cudaGraphExecDestroy(nullptr));
  SAY(cudaGraphDestroy(nullptr));
  SAY(cudaGraphLaunch(nullptr, nullptr));
  SAY(cudaGetLastError());
}

SCENARIO(nodes_of_any_type) {
  int* p = on_device<int>(1);
  int number = 3, host = 0;
  cudaGraph_t graph = nullptr;
  NEED(cudaGraphCreate(&graph, 0));
  void* arguments[] = {&p, &number};
  cudaGraphNodeParams kernel{};
  kernel.type = cudaGraphNodeTypeKernel;
  kernel.kernel.func = reinterpret_cast<void*>(store);
  kernel.kernel.gridDim = dim3(1);
  kernel.kernel.blockDim = dim3(1);
  kernel.kernel.kernelParams = arguments;
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr, allocation = nullptr, freed = nullptr;
  SAY(cudaGraphAddNode(&a, graph, nullptr, nullptr, 0, &kernel));
  cudaGraphNodeParams copy{};
  copy.type = cudaGraphNodeTypeMemcpy;
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(p, 4, 4, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(&host, 4, 4, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  SAY(cudaGraphAddNode(&b, graph, &a, nullptr, 1, &copy));
  cudaGraphNodeParams call{};
  call.type = cudaGraphNodeTypeHost;
  call.host.fn = called_back;
  call.host.userData = &host;
  SAY(cudaGraphAddNode(&c, graph, &b, nullptr, 1, &call));
  cudaMemAllocNodeParams wanted{};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.bytesize = 1024;
  SAY(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &wanted));
  SHOW(wanted.dptr != nullptr);
  SAY(cudaGraphAddMemFreeNode(&freed, graph, &allocation, 1, wanted.dptr));
  cudaGraphExec_t executable = nullptr;
  SAY(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  SAY(cudaGraphLaunch(executable, nullptr));
  SAY(cudaDeviceSynchronize());
  SHOW(host);
  SAY(cudaGraphAddNode(&a, graph, nullptr, nullptr, 0, nullptr));
  SAY(cudaDeviceGraphMemTrim(0));
}
