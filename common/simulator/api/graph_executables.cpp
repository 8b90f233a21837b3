// Executable graphs: made, launched, changed (CUDA Driver API manual, "Graph Management").
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/graph_parts.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <algorithm>
#include <cstdio>

namespace cudasim {

namespace {

bool can_be_disabled(const Executable::Step& step) {
  const CUgraphNodeType type = type_of(step.part);
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
}

// Whether a kernel could launch it: the manual's kinds of nodes. The host can, too, and is who does it here: the
// device runtime's functions, by which a kernel would, are refused by name when a module is loaded.
bool for_device(const Graph& graph) {
  return !graph.nodes.empty() && std::ranges::all_of(graph.nodes, [](const NodePtr& node) {
    if (const auto* child = std::get_if<ChildPart>(&node->part)) return for_device(*child->graph);
    const CUgraphNodeType type = type_of(node->part);
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
  });
}

CUresult instantiate(CUgraphExec* out, CUgraph handle, u64 flags, Culprit& culprit) {
  current_context();
  const auto graph = get_graph(handle);
  require(out != nullptr);
  constexpr u64 kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                         CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  require((flags & ~kKnown) == 0);
  constexpr u64 kNotBoth = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  require((flags & kNotBoth) != kNotBoth);
  require_no_unsafe_capture();
  const std::scoped_lock lock(Graph::mutex());
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0 && !for_device(*graph)) {
    culprit.why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    fail(CUDA_ERROR_INVALID_VALUE, "a kernel can launch graphs of kernels, copies, fills and such graphs only");
  }
  require(!graph->body && (!graph->is_single() || graph->executable.expired()), CUDA_ERROR_NOT_SUPPORTED);
  const auto executable = std::make_shared<Executable>(*graph, flags, culprit);
  executable->handle = executables().add(executable);
  graph->executable = executable;
  *out = executable->handle;
  return CUDA_SUCCESS;
}

CUresult instantiate_with_log(CUgraphExec* out, CUgraph handle, CUgraphNode* culprit, char* log, std::size_t size) {
  if (log != nullptr && size != 0) log[0] = '\0';
  Culprit found;
  try {
    return instantiate(out, handle, 0, found);
  } catch (const Failure&) {
    if (culprit != nullptr && found.node != nullptr) *culprit = found.node;
    if (log != nullptr && size != 0) std::snprintf(log, size, "the graph's edges form a cycle");
    throw;
  }
}

CUresult upload(CUgraphExec handle, CUstream stream) {
  get_stream(stream);
  get_executable(handle);
  return CUDA_SUCCESS;
}

CUgraphExecUpdateResult update(CUgraphExec handle, CUgraph graph_handle, CUgraphNode* culprit, CUgraphNode* from) {
  const auto executable = get_executable(handle);
  const auto graph = get_graph(graph_handle);
  const std::scoped_lock lock(Graph::mutex(), executable->mutex);
  return executable->update(*graph, culprit, from);
}

}  // namespace

CUresult driver::call_cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                                         char* logBuffer, size_t bufferSize) {
  return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult driver::call_cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                                            char* logBuffer, size_t bufferSize) {
  return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult driver::call_cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
  require((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0);  // there is no stream to upload it in
  Culprit untold;
  return instantiate(phGraphExec, hGraph, flags, untold);
}

CUresult driver::call_cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph handle,
                                                   CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  require_calls_permitted();
  require(parameters != nullptr);
  Culprit culprit;
  parameters->hErrNode_out = nullptr;
  try {
    instantiate(out, handle, parameters->flags, culprit);
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
  } catch (const Failure&) {
    parameters->hErrNode_out = culprit.node;
    parameters->result_out = culprit.why;
    throw;
  }
}

CUresult driver::call_cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  const auto into = get_stream(stream);
  require_not_captured(*into);  // a capture holds no executable graph
  const auto executable = get_executable(handle);
  const TaskPtr last = executable->launch(*into);
  if (launch_blocking()) {
    last->wait();
    require_healthy(*into->health);
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) { return upload(hGraphExec, hStream); }

CUresult driver::call_cuGraphExecDestroy(CUgraphExec hGraphExec) {
  require_calls_permitted();
  require_no_unsafe_capture();
  get_executable(hGraphExec);
  return executables().remove(hGraphExec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver::call_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  const auto executable = get_executable(hGraphExec);
  require(flags != nullptr);
  // An H200 does not report these two flags either.
  constexpr u64 kNotTold = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  *flags = executable->flags & ~kNotTold;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  const auto executable = get_executable(hGraphExec);
  const std::scoped_lock lock(executable->mutex);
  Executable::Step& step = executable->step(hNode);
  require(can_be_disabled(step));
  step.enabled = isEnabled != 0;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  const auto executable = get_executable(hGraphExec);
  require(isEnabled != nullptr);
  const std::scoped_lock lock(executable->mutex);
  const Executable::Step& step = executable->step(hNode);
  require(can_be_disabled(step));
  *isEnabled = step.enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                                        CUgraphExecUpdateResult* updateResult_out) {
  require_calls_permitted();
  require(updateResult_out != nullptr);
  CUgraphNode culprit = nullptr, from = nullptr;
  *updateResult_out = update(hGraphExec, hGraph, &culprit, &from);
  if (hErrorNode_out != nullptr) *hErrorNode_out = culprit;
  return *updateResult_out == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult driver::call_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                           CUgraphExecUpdateResultInfo* resultInfo) {
  require_calls_permitted();
  CUgraphExecUpdateResultInfo unwanted{};
  if (resultInfo == nullptr) resultInfo = &unwanted;
  *resultInfo = {};
  resultInfo->result = update(hGraphExec, hGraph, &resultInfo->errorNode, &resultInfo->errorFromNode);
  return resultInfo->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult driver::call_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                         CUgraph childGraph) {
  const auto executable = get_executable(hGraphExec);
  const auto child = get_graph(childGraph);
  const std::scoped_lock lock(Graph::mutex(), executable->mutex);
  executable->set_child(hNode, *child);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
