// Graphs as a whole: nodes and edges, instantiation, update. The nodes' parameters are in graph_nodes.cpp.
#include "common/runtime/devices.hpp"

using namespace runtime;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  RUNTIME_REQUIRE(graph != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuGraphCreate(graph, flags));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { RUNTIME_CALL(cuGraphDestroy(graph)); }
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) { RUNTIME_CALL(cuGraphClone(clone, graph)); }
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  RUNTIME_CALL(cuGraphNodeFindInClone(node, original, clone));
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { RUNTIME_CALL(cuGraphDestroyNode(node)); }
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  RUNTIME_REQUIRE(type != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type)));
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  RUNTIME_CALL(cuGraphGetNodes(graph, nodes, count));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  RUNTIME_CALL(cuGraphGetRootNodes(graph, nodes, count));
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* file, unsigned flags) {
  RUNTIME_CALL(cuGraphDebugDotPrint(graph, file, flags));
}

// ---- Edges ---------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              std::size_t* count) {
  RUNTIME_CALL(cuGraphGetEdges(graph, from, to, same<CUgraphEdgeData>(data), count));
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                         std::size_t* count) {
  RUNTIME_CALL(cuGraphNodeGetDependencies(node, nodes, same<CUgraphEdgeData>(data), count));
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                           std::size_t* count) {
  RUNTIME_CALL(cuGraphNodeGetDependentNodes(node, nodes, same<CUgraphEdgeData>(data), count));
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* data, std::size_t count) {
  RUNTIME_CALL(cuGraphAddDependencies(graph, from, to, same<const CUgraphEdgeData>(data), count));
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* data, std::size_t count) {
  RUNTIME_CALL(cuGraphRemoveDependencies(graph, from, to, same<const CUgraphEdgeData>(data), count));
}

// ---- Executable graphs ---------------------------------------------------------------------------------------------

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  RUNTIME_REQUIRE(executable != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuGraphInstantiateWithFlags(executable, graph, flags));
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  RUNTIME_CALL(cuGraphExecGetFlags(executable, reinterpret_cast<cuuint64_t*>(flags)));
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  RUNTIME_CALL(cuGraphExecUpdate(executable, graph, same<CUgraphExecUpdateResultInfo>(info)));
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { RUNTIME_CALL(cuGraphExecDestroy(executable)); }
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled) {
  RUNTIME_CALL(cuGraphNodeSetEnabled(executable, node, enabled));
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled) {
  RUNTIME_CALL(cuGraphNodeGetEnabled(executable, node, enabled));
}

// ---- What graphs own -----------------------------------------------------------------------------------------------

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data, cudaHostFn_t destroy, unsigned count,
                                 unsigned flags) {
  RUNTIME_CALL(cuUserObjectCreate(object, data, destroy, count, flags));
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  RUNTIME_CALL(cuUserObjectRetain(object, count));
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  RUNTIME_CALL(cuUserObjectRelease(object, count));
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags) {
  RUNTIME_CALL(cuGraphRetainUserObject(graph, object, count, flags));
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  RUNTIME_CALL(cuGraphReleaseUserObject(graph, object, count));
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph, unsigned value,
                                             unsigned flags) {
  RUNTIME_TRY(ready());
  CUcontext context = nullptr;
  RUNTIME_TRY(driver().cuCtxGetCurrent(&context));
  return kept(driver().cuGraphConditionalHandleCreate(reinterpret_cast<CUgraphConditionalHandle*>(handle), graph,
                                                      context, value, flags));
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceGraphMemTrim(device));
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value));
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value));
}

}  // extern "C"
