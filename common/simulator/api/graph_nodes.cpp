// Graphs' nodes, kind by kind: adding one, reading its parameters, changing them in a graph or in an executable one
// (CUDA Driver API manual, "Graph Management").
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/graph_parts.hpp"

#include <algorithm>
#include <cstring>

namespace cudasim {

namespace {

// `make` describes the node. It is called after the other arguments have been checked.
template <class Make>
CUresult add(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, std::size_t count, Make make) {
  const auto graph = get_graph(handle);
  require(out != nullptr);
  const auto after = nodes_of(dependencies, count);
  Part part = make();
  const std::scoped_lock lock(Graph::mutex());
  *out = graph->add(std::move(part), after)->handle;
  return CUDA_SUCCESS;
}

// A graph frees an address once.
void require_not_freed(const Graph& graph, CUdeviceptr address) {
  const std::scoped_lock lock(Graph::mutex());
  require(!graph.frees(address));
}

// Calls `fill` with the node's part to write it to `out`.
template <class T, class Out, class Fill>
CUresult show(CUgraphNode handle, Out* out, Fill fill) {
  const NodePtr node = get_node(handle);
  require(out != nullptr);
  const std::scoped_lock lock(Graph::mutex());
  fill(as<T>(*node));
  return CUDA_SUCCESS;
}

// Attributes are not among a node's parameters: they stay.
void keep_attributes(const Part& now, Part& next) {
  const auto* old = std::get_if<KernelPart>(&now);
  if (old == nullptr) return;
  auto& kernel = std::get<KernelPart>(next);
  kernel.attributes = old->attributes;
  kernel.shape.cooperative = old->shape.cooperative;
  kernel.shape.cluster = old->shape.cluster;
  kernel.shape.priority = old->shape.priority;
}

CUresult set_part(CUgraphNode handle, Part part) {
  const NodePtr node = get_node(handle);
  const std::scoped_lock lock(Graph::mutex());
  require(node->part.index() == part.index());
  keep_attributes(node->part, part);
  node->part = std::move(part);
  return CUDA_SUCCESS;
}

// One by one, an executable graph's copies can only be changed from bytes in a row to others.
void require_rows(const CopyPart& now, const CopyPart& next) {
  for (const CUDA_MEMCPY3D& copy : {now.copy, next.copy}) {
    require(copy.WidthInBytes != 0 && copy.Height == 1 && copy.Depth == 1);
  }
}

CUresult set_part(CUgraphExec handle, CUgraphNode source, Part part) {
  const auto executable = get_executable(handle);
  const std::scoped_lock lock(executable->mutex);
  Executable::Step& step = executable->step(source);
  require(step.part.index() == part.index());
  keep_attributes(step.part, part);
  if (const auto* copy = std::get_if<CopyPart>(&part)) require_rows(std::get<CopyPart>(step.part), *copy);
  require(may_become(step.part, part) == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  step.part = std::move(part);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                           size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return kernel_part(nodeParams); });
}

CUresult driver::call_cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return show<KernelPart>(hNode, nodeParams, [&](KernelPart& part) { describe(part, nodeParams); });
}

CUresult driver::call_cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return set_part(hNode, kernel_part(nodeParams));
}

CUresult driver::call_cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return set_part(hGraphExec, hNode, kernel_part(nodeParams));
}

CUresult driver::call_cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                              size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return kernel_part(nodeParams); });
}

CUresult driver::call_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return show<KernelPart>(hNode, nodeParams, [&](KernelPart& part) { describe(part, nodeParams); });
}

CUresult driver::call_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return set_part(hNode, kernel_part(nodeParams));
}

CUresult driver::call_cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                        const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return set_part(hGraphExec, hNode, kernel_part(nodeParams));
}

CUresult driver::call_cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                           size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return copy_part(copyParams, ctx); });
}

CUresult driver::call_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  return show<CopyPart>(hNode, nodeParams, [&](CopyPart& part) { *nodeParams = part.copy; });
}

CUresult driver::call_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  return set_part(hNode, copy_part(nodeParams, nullptr));
}

CUresult driver::call_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  return set_part(hGraphExec, hNode, copy_part(copyParams, ctx));
}

CUresult driver::call_cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                           size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                           CUcontext ctx) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return fill_part(memsetParams, ctx); });
}

CUresult driver::call_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return show<FillPart>(hNode, nodeParams, [&](FillPart& part) { *nodeParams = part.fill; });
}

CUresult driver::call_cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return set_part(hNode, fill_part(nodeParams, nullptr));
}

CUresult driver::call_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  return set_part(hGraphExec, hNode, fill_part(memsetParams, ctx));
}

CUresult driver::call_cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                         size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return host_part(nodeParams); });
}

CUresult driver::call_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
  return show<HostPart>(hNode, nodeParams, [&](HostPart& part) {
    nodeParams->fn = part.function;
    nodeParams->userData = part.data;
  });
}

CUresult driver::call_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return set_part(hNode, host_part(nodeParams));
}

CUresult driver::call_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return set_part(hGraphExec, hNode, host_part(nodeParams));
}

CUresult driver::call_cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                               const CUgraphNode* dependencies, size_t numDependencies,
                                               CUgraph childGraph) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return child_part(childGraph); });
}

CUresult driver::call_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* nodeParams) {
  return show<ChildPart>(hNode, nodeParams, [&](ChildPart& part) { *nodeParams = part.graph->handle; });
}

CUresult driver::call_cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                          size_t numDependencies) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [] { return EmptyPart{}; });
}

CUresult driver::call_cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                                const CUgraphNode* dependencies, size_t numDependencies,
                                                CUevent event) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return record_part(event); });
}

CUresult driver::call_cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* nodeParams) {
  return show<RecordPart>(hNode, nodeParams, [&](RecordPart& part) { *nodeParams = part.event; });
}

CUresult driver::call_cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return set_part(hNode, record_part(event));
}

CUresult driver::call_cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  return set_part(hGraphExec, hNode, record_part(event));
}

CUresult driver::call_cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                              size_t numDependencies, CUevent event) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return wait_part(event); });
}

CUresult driver::call_cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* nodeParams) {
  return show<WaitPart>(hNode, nodeParams, [&](WaitPart& part) { *nodeParams = part.event; });
}

CUresult driver::call_cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return set_part(hNode, wait_part(event));
}

CUresult driver::call_cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  return set_part(hGraphExec, hNode, wait_part(event));
}

CUresult driver::call_cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                             size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return allocate_part(nodeParams); });
}

CUresult driver::call_cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  return show<AllocatePart>(hNode, nodeParams, [&](AllocatePart& part) { describe(part, nodeParams); });
}

CUresult driver::call_cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                            size_t numDependencies, CUdeviceptr dptr) {
  require_not_freed(*get_graph(hGraph), dptr);
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return free_part(dptr); });
}

CUresult driver::call_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* nodeParams) {
  return show<FreePart>(hNode, nodeParams, [&](FreePart& part) { *nodeParams = part.address; });
}

CUresult driver::call_cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                               const CUgraphNode* dependencies, size_t numDependencies,
                                               const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return memory_part(nodeParams); });
}

CUresult driver::call_cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
  return show<MemoryPart>(hNode, nodeParams_out, [&](MemoryPart& part) { describe(part, nodeParams_out); });
}

CUresult driver::call_cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                                     const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return set_part(hNode, memory_part(nodeParams));
}

CUresult driver::call_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                         const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return set_part(hGraphExec, hNode, memory_part(nodeParams));
}

CUresult driver::call_cuGraphAddExternalSemaphoresSignalNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                                             const CUgraphNode* dependencies, size_t numDependencies,
                                                             const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return signal_part(nodeParams); });
}

CUresult driver::call_cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode hNode,
                                                                   CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params_out) {
  return show<SignalPart>(hNode, params_out, [&](SignalPart&) { *params_out = {}; });
}

CUresult driver::call_cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode hNode,
                                                                   const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
  return set_part(hNode, signal_part(nodeParams));
}

CUresult driver::call_cuGraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
  return set_part(hGraphExec, hNode, signal_part(nodeParams));
}

CUresult driver::call_cuGraphAddExternalSemaphoresWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                                           const CUgraphNode* dependencies, size_t numDependencies,
                                                           const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return await_part(nodeParams); });
}

CUresult driver::call_cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode hNode,
                                                                 CUDA_EXT_SEM_WAIT_NODE_PARAMS* params_out) {
  return show<AwaitPart>(hNode, params_out, [&](AwaitPart&) { *params_out = {}; });
}

CUresult driver::call_cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode hNode,
                                                                 const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
  return set_part(hNode, await_part(nodeParams));
}

CUresult driver::call_cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                                     const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
  return set_part(hGraphExec, hNode, await_part(nodeParams));
}

#if CUDA_VERSION >= 12030
CUresult driver::call_cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                     size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return part_of(nodeParams); });
}

CUresult driver::call_cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                        const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                        CUgraphNodeParams* nodeParams) {
  const auto sources = nodes_of(dependencies, numDependencies);
  std::vector<EdgeKind> kinds;
  for (std::size_t i = 0; i < numDependencies; ++i) {
    kinds.push_back(kind_of(reinterpret_cast<const EdgeData*>(dependencyData), i));
    if (kinds.back() == EdgeKind{}) continue;  // the others are between kernels
    require(std::holds_alternative<KernelPart>(sources[i]->part));
    require(nodeParams != nullptr && nodeParams->type == CU_GRAPH_NODE_TYPE_KERNEL);
  }
  const CUresult result = add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return part_of(nodeParams); });
  if (dependencyData == nullptr) return result;
  const NodePtr node = get_node(*phGraphNode);
  const std::scoped_lock lock(Graph::mutex());
  const auto graph = node->graph.lock();
  require(graph != nullptr);
  std::size_t left = sources.size();
  for (auto edge = graph->edges.rbegin(); left != 0 && edge != graph->edges.rend(); ++edge) {  // among the last
    if (edge->to != node) continue;
    edge->kind = kinds[std::find(sources.begin(), sources.end(), edge->from) - sources.begin()];
    --left;
  }
  return result;
}

CUresult driver::call_cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph,
                                                     CUcontext ctx, unsigned int defaultLaunchValue,
                                                     unsigned int flags) {
  const auto graph = get_graph(hGraph);
  require(pHandle_out != nullptr && (flags & ~static_cast<unsigned>(CU_GRAPH_COND_ASSIGN_DEFAULT)) == 0);
  get_context(ctx);
  const auto condition = make_condition(defaultLaunchValue, (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0);
  const std::scoped_lock lock(Graph::mutex());
  graph->conditions.push_back(condition);
  *pHandle_out = condition->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return set_part(hNode, part_of(nodeParams));
}

// Declared since CUDA 13.2.
CUresult driver::call_cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  const NodePtr node = get_node(hNode);
  require(nodeParams != nullptr);
  const std::scoped_lock lock(Graph::mutex());
  describe(node->part, *nodeParams);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               CUgraphNodeParams* nodeParams) {
  return set_part(hGraphExec, hNode, part_of(nodeParams));
}
#endif

CUresult driver::call_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  const NodePtr to = get_node(dst), from = get_node(src);
  const std::scoped_lock lock(Graph::mutex());
  as<KernelPart>(*to).attributes = as<KernelPart>(*from).attributes;
  as<KernelPart>(*to).shape.cooperative = as<KernelPart>(*from).shape.cooperative;
  as<KernelPart>(*to).shape.cluster = as<KernelPart>(*from).shape.cluster;
  return CUDA_SUCCESS;
}

namespace {

// How many bytes of a CUlaunchAttributeValue belong to an attribute that a kernel node has; 0 for the others. Numbers
// for what older headers lack.
std::size_t bytes_of(int attribute) {
  constexpr CUlaunchAttributeValue* value = nullptr;
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: return sizeof value->accessPolicyWindow;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: return sizeof value->cooperative;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: return sizeof value->clusterDim;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return sizeof value->clusterSchedulingPolicyPreference;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: return sizeof value->priority;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: return sizeof value->memSyncDomainMap;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return sizeof value->memSyncDomain;
    case 13: return 2 * sizeof(u64);   // CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: an int and a handle
    case 14: return sizeof(unsigned);  // CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    default: return 0;
  }
}

int first_int_of(const CUlaunchAttributeValue& value) {
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

CUlaunchAttributeValue attribute_of(const KernelPart& part, int attribute) {
  CUlaunchAttributeValue value{};
  const auto found = part.attributes.find(attribute);
  if (found != part.attributes.end()) return found->second;
  if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value.cooperative = part.shape.cooperative ? 1 : 0;
  if (attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap.remote = 1;
  if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && part.shape.cluster) {
    value.clusterDim = {part.shape.cluster->x, part.shape.cluster->y, part.shape.cluster->z};
  }
  return value;
}

}  // namespace

CUresult driver::call_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                    CUkernelNodeAttrValue* value_out) {
  return show<KernelPart>(hNode, value_out, [&](KernelPart& part) {
    require(bytes_of(attr) != 0);
    const CUlaunchAttributeValue value = attribute_of(part, attr);
    std::memcpy(value_out, &value, bytes_of(attr));
  });
}

CUresult driver::call_cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                    const CUkernelNodeAttrValue* value) {
  return show<KernelPart>(hNode, value, [&](KernelPart& part) {
    require(bytes_of(attr) != 0);
    if (static_cast<int>(attr) == 13 && first_int_of(*value) != 0)
      fail(refuse("CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE"));
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) part.shape.cooperative = value->cooperative != 0;
    if (attr == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
      part.shape.priority = std::clamp(value->priority, kGreatestPriority, kLeastPriority);
    }
    if (attr == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& dim = value->clusterDim;
      part.shape.cluster.reset();
      if (dim.x != 0 || dim.y != 0 || dim.z != 0) part.shape.cluster = Dim3{dim.x, dim.y, dim.z};
    }
    part.attributes[attr] = *value;
  });
}

}  // namespace cudasim
