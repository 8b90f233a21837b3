// The nodes of graphs, and the conversion of their parameters.
#include "common/runtime/devices.hpp"
#include "common/runtime/modules.hpp"

#include <cstring>

namespace runtime {
namespace {

CUcontext current_context() {
  CUcontext context = nullptr;
  driver().cuCtxGetCurrent(&context);
  return context;
}

// ---- Kernels: V1 and V2 of the structure have the same members
// -------------------------------------------------------

template <class From, class To>
cudaError_t kernel_to_driver(const From& from, To* to) {
  *to = {};
  const cudaError_t error = find_kernel(from.func, &to->kern);
  if (error != cudaSuccess) return error;
  to->gridDimX = from.gridDim.x, to->gridDimY = from.gridDim.y, to->gridDimZ = from.gridDim.z;
  to->blockDimX = from.blockDim.x, to->blockDimY = from.blockDim.y, to->blockDimZ = from.blockDim.z;
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra;
  return cudaSuccess;
}

void kernel_from_driver(const CUDA_KERNEL_NODE_PARAMS& from, cudaKernelNodeParams* to) {
  *to = {};
  to->func = const_cast<void*>(from.kern != nullptr ? stub_of(from.kern) : stub_of(from.func));
  to->gridDim = dim3(from.gridDimX, from.gridDimY, from.gridDimZ);
  to->blockDim = dim3(from.blockDimX, from.blockDimY, from.blockDimZ);
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra;
}

// ---- Copies --------------------------------------------------------------------------------------------------------

cudaMemcpy3DParms line(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.dstPtr = {to, bytes, bytes, 1};
  copy.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return copy;
}

cudaError_t place_in(const void* symbol, std::size_t bytes, std::size_t offset, void** place) {
  Variable variable;
  const cudaError_t error = find_variable(symbol, &variable);
  if (error != cudaSuccess) return error;
  if (offset > variable.bytes || bytes > variable.bytes - offset) return cudaErrorInvalidValue;
  *place = reinterpret_cast<void*>(variable.place + offset);
  return cudaSuccess;
}

CUDA_MEMSET_NODE_PARAMS fill_to_driver(const cudaMemsetParams& from) {
  CUDA_MEMSET_NODE_PARAMS to{};
  to.dst = address(from.dst);
  to.pitch = from.pitch;
  to.value = from.value;
  to.elementSize = from.elementSize;
  to.width = from.width;
  to.height = from.height;
  return to;
}

// ---- Any node ------------------------------------------------------------------------------------------------------

// Nodes whose parameters both APIs declare alike are copied as bytes.
cudaError_t node_to_driver(const cudaGraphNodeParams& from, CUgraphNodeParams* to) {
  static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "the structures differ");
  std::memcpy(to, &from, sizeof from);
  switch (from.type) {
    case cudaGraphNodeTypeKernel: return kernel_to_driver(from.kernel, &to->kernel);
    case cudaGraphNodeTypeMemcpy:
      to->memcpy = {};
      to->memcpy.flags = from.memcpy.flags;
      to->memcpy.copyCtx = current_context();
      return driver_copy(from.memcpy.copyParams, &to->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      to->memset = {};
      to->memset.dst = address(from.memset.dst);
      to->memset.pitch = from.memset.pitch;
      to->memset.value = from.memset.value;
      to->memset.elementSize = from.memset.elementSize;
      to->memset.width = from.memset.width;
      to->memset.height = from.memset.height;
      to->memset.ctx = current_context();
      return cudaSuccess;
    case cudaGraphNodeTypeConditional:
      to->conditional = {};
      to->conditional.handle = from.conditional.handle;
      to->conditional.type = static_cast<CUgraphConditionalNodeType>(from.conditional.type);
      to->conditional.size = from.conditional.size;
      to->conditional.ctx = current_context();
      return cudaSuccess;
    default: return cudaSuccess;
  }
}

// What adding or changing a node returns through its parameters.
void results_from_driver(const CUgraphNodeParams& from, cudaGraphNodeParams* to) {
  if (to->type == cudaGraphNodeTypeMemAlloc) to->alloc.dptr = reinterpret_cast<void*>(from.alloc.dptr);
  if (to->type == cudaGraphNodeTypeConditional) to->conditional.phGraph_out = from.conditional.phGraph_out;
}

}  // namespace
}  // namespace runtime

using namespace runtime;

extern "C" {

// ---- Kernel nodes --------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaKernelNodeParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  CUDA_KERNEL_NODE_PARAMS wanted;
  RUNTIME_TRY(kernel_to_driver(*parameters, &wanted));
  return kept(driver().cuGraphAddKernelNode(node, graph, after, count, &wanted));
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_KERNEL_NODE_PARAMS found{};
  RUNTIME_TRY(driver().cuGraphKernelNodeGetParams(node, &found));
  kernel_from_driver(found, parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  CUDA_KERNEL_NODE_PARAMS wanted;
  RUNTIME_TRY(kernel_to_driver(*parameters, &wanted));
  return kept(driver().cuGraphKernelNodeSetParams(node, &wanted));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  CUDA_KERNEL_NODE_PARAMS wanted;
  RUNTIME_TRY(kernel_to_driver(*parameters, &wanted));
  return kept(driver().cuGraphExecKernelNodeSetParams(executable, node, &wanted));
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  RUNTIME_CALL(cuGraphKernelNodeCopyAttributes(to, from));
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue* value) {
  RUNTIME_CALL(cuGraphKernelNodeGetAttribute(node, static_cast<CUkernelNodeAttrID>(attribute),
                                             same<CUkernelNodeAttrValue>(value)));
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue* value) {
  RUNTIME_CALL(cuGraphKernelNodeSetAttribute(node, static_cast<CUkernelNodeAttrID>(attribute),
                                             same<const CUkernelNodeAttrValue>(value)));
}

// ---- Copy nodes ----------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemcpy3DParms* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_MEMCPY3D copy;
  RUNTIME_TRY(driver_copy(*parameters, &copy));
  return kept(driver().cuGraphAddMemcpyNode(node, graph, after, count, &copy, current_context()));
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_MEMCPY3D copy{};
  RUNTIME_TRY(driver().cuGraphMemcpyNodeGetParams(node, &copy));
  return kept(runtime_copy(copy, parameters));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_MEMCPY3D copy;
  RUNTIME_TRY(driver_copy(*parameters, &copy));
  return kept(driver().cuGraphMemcpyNodeSetParams(node, &copy));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_MEMCPY3D copy;
  RUNTIME_TRY(driver_copy(*parameters, &copy));
  return kept(driver().cuGraphExecMemcpyNodeSetParams(executable, node, &copy, current_context()));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = line(to, from, bytes, kind);
  return cudaGraphAddMemcpyNode(node, graph, after, count, &copy);
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, std::size_t bytes,
                                           cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = line(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &copy);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = line(to, from, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(executable, node, &copy);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                           std::size_t count, const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(place_in(symbol, bytes, offset, &place));
  return cudaGraphAddMemcpyNode1D(node, graph, after, count, place, from, bytes, kind);
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                             std::size_t count, void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(place_in(symbol, bytes, offset, &place));
  return cudaGraphAddMemcpyNode1D(node, graph, after, count, to, place, bytes, kind);
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                 std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(place_in(symbol, bytes, offset, &place));
  return cudaGraphMemcpyNodeSetParams1D(node, place, from, bytes, kind);
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                                   std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(place_in(symbol, bytes, offset, &place));
  return cudaGraphMemcpyNodeSetParams1D(node, to, place, bytes, kind);
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                     const void* symbol, const void* from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(place_in(symbol, bytes, offset, &place));
  return cudaGraphExecMemcpyNodeSetParams1D(executable, node, place, from, bytes, kind);
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                                       const void* symbol, std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(place_in(symbol, bytes, offset, &place));
  return cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, place, bytes, kind);
}

// ---- Fill nodes ----------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemsetParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  const CUDA_MEMSET_NODE_PARAMS fill = fill_to_driver(*parameters);
  return kept(driver().cuGraphAddMemsetNode(node, graph, after, count, &fill, current_context()));
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUDA_MEMSET_NODE_PARAMS found{};
  RUNTIME_TRY(driver().cuGraphMemsetNodeGetParams(node, &found));
  *parameters = {
      reinterpret_cast<void*>(found.dst), found.pitch, found.value, found.elementSize, found.width, found.height};
  return cudaSuccess;
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  const CUDA_MEMSET_NODE_PARAMS fill = fill_to_driver(*parameters);
  return kept(driver().cuGraphMemsetNodeSetParams(node, &fill));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  const CUDA_MEMSET_NODE_PARAMS fill = fill_to_driver(*parameters);
  return kept(driver().cuGraphExecMemsetNodeSetParams(executable, node, &fill, current_context()));
}

// ---- Host functions, child graphs, events: both APIs have the same parameters ---------------------------------------

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 std::size_t count, const cudaHostNodeParams* parameters) {
  RUNTIME_CALL(cuGraphAddHostNode(node, graph, after, count, same<const CUDA_HOST_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  RUNTIME_CALL(cuGraphHostNodeGetParams(node, same<CUDA_HOST_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  RUNTIME_CALL(cuGraphHostNodeSetParams(node, same<const CUDA_HOST_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  RUNTIME_CALL(cuGraphExecHostNodeSetParams(executable, node, same<const CUDA_HOST_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       std::size_t count, cudaGraph_t child) {
  RUNTIME_CALL(cuGraphAddChildGraphNode(node, graph, after, count, child));
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  RUNTIME_CALL(cuGraphChildGraphNodeGetGraph(node, graph));
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child) {
  RUNTIME_CALL(cuGraphExecChildGraphNodeSetParams(executable, node, child));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  std::size_t count) {
  RUNTIME_CALL(cuGraphAddEmptyNode(node, graph, after, count));
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        std::size_t count, cudaEvent_t event) {
  RUNTIME_CALL(cuGraphAddEventRecordNode(node, graph, after, count, event));
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  RUNTIME_CALL(cuGraphEventRecordNodeGetEvent(node, event));
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  RUNTIME_CALL(cuGraphEventRecordNodeSetEvent(node, event));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  RUNTIME_CALL(cuGraphExecEventRecordNodeSetEvent(executable, node, event));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      std::size_t count, cudaEvent_t event) {
  RUNTIME_CALL(cuGraphAddEventWaitNode(node, graph, after, count, event));
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  RUNTIME_CALL(cuGraphEventWaitNodeGetEvent(node, event));
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  RUNTIME_CALL(cuGraphEventWaitNodeSetEvent(node, event));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  RUNTIME_CALL(cuGraphExecEventWaitNodeSetEvent(executable, node, event));
}

// ---- External semaphores -------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddExternalSemaphoresSignalNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                     const cudaGraphNode_t* after, std::size_t count,
                                                     const cudaExternalSemaphoreSignalNodeParams* parameters) {
  RUNTIME_CALL(cuGraphAddExternalSemaphoresSignalNode(node, graph, after, count,
                                                      same<const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphExternalSemaphoresSignalNodeGetParams(cudaGraphNode_t node,
                                                           cudaExternalSemaphoreSignalNodeParams* parameters) {
  RUNTIME_CALL(cuGraphExternalSemaphoresSignalNodeGetParams(node, same<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphExternalSemaphoresSignalNodeSetParams(cudaGraphNode_t node,
                                                           const cudaExternalSemaphoreSignalNodeParams* parameters) {
  RUNTIME_CALL(
      cuGraphExternalSemaphoresSignalNodeSetParams(node, same<const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node, const cudaExternalSemaphoreSignalNodeParams* parameters) {
  RUNTIME_CALL(cuGraphExecExternalSemaphoresSignalNodeSetParams(
      executable, node, same<const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphAddExternalSemaphoresWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* after, std::size_t count,
                                                   const cudaExternalSemaphoreWaitNodeParams* parameters) {
  RUNTIME_CALL(cuGraphAddExternalSemaphoresWaitNode(node, graph, after, count,
                                                    same<const CUDA_EXT_SEM_WAIT_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphExternalSemaphoresWaitNodeGetParams(cudaGraphNode_t node,
                                                         cudaExternalSemaphoreWaitNodeParams* parameters) {
  RUNTIME_CALL(cuGraphExternalSemaphoresWaitNodeGetParams(node, same<CUDA_EXT_SEM_WAIT_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphExternalSemaphoresWaitNodeSetParams(cudaGraphNode_t node,
                                                         const cudaExternalSemaphoreWaitNodeParams* parameters) {
  RUNTIME_CALL(cuGraphExternalSemaphoresWaitNodeSetParams(node, same<const CUDA_EXT_SEM_WAIT_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphExecExternalSemaphoresWaitNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                             const cudaExternalSemaphoreWaitNodeParams* parameters) {
  RUNTIME_CALL(cuGraphExecExternalSemaphoresWaitNodeSetParams(executable, node,
                                                              same<const CUDA_EXT_SEM_WAIT_NODE_PARAMS>(parameters)));
}

// ---- Memory --------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, cudaMemAllocNodeParams* parameters) {
  RUNTIME_CALL(cuGraphAddMemAllocNode(node, graph, after, count, same<CUDA_MEM_ALLOC_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  RUNTIME_CALL(cuGraphMemAllocNodeGetParams(node, same<CUDA_MEM_ALLOC_NODE_PARAMS>(parameters)));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    std::size_t count, void* pointer) {
  RUNTIME_CALL(cuGraphAddMemFreeNode(node, graph, after, count, address(pointer)));
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  RUNTIME_CALL(cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(pointer)));
}

// ---- Any node ------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUgraphNodeParams wanted;
  RUNTIME_TRY(node_to_driver(*parameters, &wanted));
  RUNTIME_TRY(driver().cuGraphAddNode(node, graph, after, same<const CUgraphEdgeData>(edges), count, &wanted));
  results_from_driver(wanted, parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUgraphNodeParams wanted;
  RUNTIME_TRY(node_to_driver(*parameters, &wanted));
  return kept(driver().cuGraphNodeSetParams(node, &wanted));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  CUgraphNodeParams wanted;
  RUNTIME_TRY(node_to_driver(*parameters, &wanted));
  return kept(driver().cuGraphExecNodeSetParams(executable, node, &wanted));
}

}  // extern "C"
