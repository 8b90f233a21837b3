// What is done in a stream, or asked of one. This file is compiled twice, the second time for the per-thread default
// stream (runtime.hpp).
#include "common/runtime/runtime.hpp"

#include <memory>

namespace runtime {
namespace {

// The runtime's callbacks take a cudaError_t, which is an enumeration of the same size as the driver's CUresult.
struct Callback {
  cudaStreamCallback_t function;
  void* data;
};

void CUDA_CB call_back(CUstream stream, CUresult result, void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(stream, code(result), callback->data);
}

}  // namespace
}  // namespace runtime

using namespace runtime;

extern "C" {

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { RUNTIME_CALL(cuStreamSynchronize(stream_of(stream))); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { RUNTIME_CALL(cuStreamQuery(stream_of(stream))); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  RUNTIME_CALL(cuStreamWaitEvent(stream_of(stream), event, flags));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags) {
  RUNTIME_REQUIRE(function != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  auto callback = std::make_unique<Callback>(Callback{function, data});
  RUNTIME_TRY(driver().cuStreamAddCallback(stream_of(stream), call_back, callback.get(), flags));
  callback.release();
  return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes, unsigned flags) {
  RUNTIME_CALL(cuStreamAttachMemAsync(stream_of(stream), address(pointer), bytes, flags));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  RUNTIME_CALL(cuStreamGetPriority(stream_of(stream), priority));
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  RUNTIME_CALL(cuStreamGetFlags(stream_of(stream), flags));
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  RUNTIME_CALL(cuStreamGetId(stream_of(stream), id));
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  RUNTIME_CALL(cuStreamGetDevice(stream_of(stream), device));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  RUNTIME_CALL(cuStreamCopyAttributes(stream_of(to), stream_of(from)));
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value) {
  RUNTIME_CALL(
      cuStreamGetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(attribute), same<CUstreamAttrValue>(value)));
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value) {
  RUNTIME_CALL(cuStreamSetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(attribute),
                                    same<const CUstreamAttrValue>(value)));
}

// ---- Events --------------------------------------------------------------------------------------------------------

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RUNTIME_CALL(cuEventRecord(event, stream_of(stream)));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  RUNTIME_CALL(cuEventRecordWithFlags(event, stream_of(stream), flags));
}

// ---- Capture -------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  RUNTIME_CALL(cuStreamBeginCapture(stream_of(stream), static_cast<CUstreamCaptureMode>(mode)));
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* nodes,
                                          const cudaGraphEdgeData* edges, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  RUNTIME_CALL(cuStreamBeginCaptureToGraph(stream_of(stream), graph, nodes, same<const CUgraphEdgeData>(edges), count,
                                           static_cast<CUstreamCaptureMode>(mode)));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  // A program that captured into a graph of its own has that graph already.
  cudaGraph_t own = nullptr;
  RUNTIME_CALL(cuStreamEndCapture(stream_of(stream), graph != nullptr ? graph : &own));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  RUNTIME_REQUIRE(status != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuStreamIsCapturing(stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status)));
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  RUNTIME_CALL(cuStreamGetCaptureInfo(stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status),
                                      reinterpret_cast<cuuint64_t*>(id), graph, nodes,
                                      reinterpret_cast<const CUgraphEdgeData**>(edges), count));
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges, std::size_t count, unsigned flags) {
  RUNTIME_CALL(
      cuStreamUpdateCaptureDependencies(stream_of(stream), nodes, same<const CUgraphEdgeData>(edges), count, flags));
}

// ---- Graphs --------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  RUNTIME_REQUIRE(executable != nullptr && parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  cudaGraphInstantiateParams with = *parameters;
  with.uploadStream = stream_of(with.uploadStream);
  const cudaError_t error =
      code(driver().cuGraphInstantiateWithParams(executable, graph, same<CUDA_GRAPH_INSTANTIATE_PARAMS>(&with)));
  parameters->errNode_out = with.errNode_out;
  parameters->result_out = with.result_out;
  return kept(error);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  RUNTIME_CALL(cuGraphUpload(executable, stream_of(stream)));
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  RUNTIME_CALL(cuGraphLaunch(executable, stream_of(stream)));
}

// ---- Memory in the order of a stream -------------------------------------------------------------------------------

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  RUNTIME_REQUIRE(pointer != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(pointer), bytes, stream_of(stream)));
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  RUNTIME_REQUIRE(pointer != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr*>(pointer), bytes, pool, stream_of(stream)));
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  RUNTIME_CALL(cuMemFreeAsync(address(pointer), stream_of(stream)));
}

// ---- External semaphores -------------------------------------------------------------------------------------------

cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t* semaphores,
                                              const cudaExternalSemaphoreSignalParams* parameters, unsigned count,
                                              cudaStream_t stream) {
  RUNTIME_CALL(cuSignalExternalSemaphoresAsync(handle<const CUexternalSemaphore*>(semaphores),
                                               same<const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>(parameters), count,
                                               stream_of(stream)));
}
cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t* semaphores,
                                            const cudaExternalSemaphoreWaitParams* parameters, unsigned count,
                                            cudaStream_t stream) {
  RUNTIME_CALL(cuWaitExternalSemaphoresAsync(handle<const CUexternalSemaphore*>(semaphores),
                                             same<const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>(parameters), count,
                                             stream_of(stream)));
}

// ---- The driver's functions ----------------------------------------------------------------------------------------

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** pointer, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  RUNTIME_REQUIRE(name != nullptr && pointer != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
#ifdef RUNTIME_PER_THREAD
  if (flags == cudaEnableDefault) flags = cudaEnablePerThreadDefaultStream;
#endif
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  const cudaError_t error = code(driver().cuGetProcAddress(name, pointer, static_cast<int>(version), flags, &found));
  if (result != nullptr) {
    *result = static_cast<cudaDriverEntryPointQueryResult>(found);
    if (error == cudaErrorSymbolNotFound) return cudaSuccess;  // the result says why
  }
  return kept(error);
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** pointer, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, pointer, CUDART_VERSION, flags, result);
}

}  // extern "C"
