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

// The graph itself, and those that it is the body or the child graph of a node of.
bool is_within(std::shared_ptr<const Graph> graph, u32 outer) {
  while (graph && graph->id != outer) {
    const NodePtr node = graph_nodes().find(graph->owner);
    graph = node ? node->graph.lock() : nullptr;
  }
  return graph != nullptr;
}

// A conditional node goes by a condition that was made for its graph, or for one that this is within.
Part part_for(CUgraph handle, CUgraphNodeParams* parameters) {
  if (parameters != nullptr && parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    const std::scoped_lock lock(Graph::mutex());
    const auto condition = find_condition(parameters->conditional.handle);
    require(condition != nullptr && is_within(get_graph(handle), condition->graph));
  }
  return part_of(parameters);
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

// ---- The kinds of nodes, a row for each function. `params` is what the caller passes, `part` what the node keeps

#define ADDS(kind, made, ...)                                                                       \
  CUresult driver::call_cuGraphAdd##kind(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, \
                                         std::size_t count __VA_OPT__(, ) __VA_ARGS__) {            \
    return add(out, graph, after, count, [&] { return made; });                                     \
  }
#define SHOWS(function, Kind, Out, statement)                                         \
  CUresult driver::call_cuGraph##function(CUgraphNode node, Out* params) {            \
    return show<Kind>(node, params, [&]([[maybe_unused]] Kind& part) { statement; }); \
  }
#define CHANGES(function, made, ...) \
  CUresult driver::call_cuGraph##function(CUgraphNode node, __VA_ARGS__) { return set_part(node, made); }
#define CHANGES_EXECUTABLE(function, made, ...)                                                        \
  CUresult driver::call_cuGraphExec##function(CUgraphExec executable, CUgraphNode node, __VA_ARGS__) { \
    return set_part(executable, node, made);                                                           \
  }
#define CHANGES_BOTH(function, made, ...) \
  CHANGES(function, made, __VA_ARGS__)    \
  CHANGES_EXECUTABLE(function, made, __VA_ARGS__)

ADDS(KernelNode, kernel_part(params), const CUDA_KERNEL_NODE_PARAMS_v1* params)
SHOWS(KernelNodeGetParams, KernelPart, CUDA_KERNEL_NODE_PARAMS_v1, describe(part, params))
CHANGES_BOTH(KernelNodeSetParams, kernel_part(params), const CUDA_KERNEL_NODE_PARAMS_v1* params)

ADDS(KernelNode_v2, kernel_part(params), const CUDA_KERNEL_NODE_PARAMS_v2* params)
SHOWS(KernelNodeGetParams_v2, KernelPart, CUDA_KERNEL_NODE_PARAMS_v2, describe(part, params))
CHANGES_BOTH(KernelNodeSetParams_v2, kernel_part(params), const CUDA_KERNEL_NODE_PARAMS_v2* params)

ADDS(MemcpyNode, copy_part(params, context), const CUDA_MEMCPY3D* params, CUcontext context)
SHOWS(MemcpyNodeGetParams, CopyPart, CUDA_MEMCPY3D, *params = part.copy)
CHANGES(MemcpyNodeSetParams, copy_part(params, nullptr), const CUDA_MEMCPY3D* params)
CHANGES_EXECUTABLE(MemcpyNodeSetParams, copy_part(params, context), const CUDA_MEMCPY3D* params, CUcontext context)

ADDS(MemsetNode, fill_part(params, context), const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context)
SHOWS(MemsetNodeGetParams, FillPart, CUDA_MEMSET_NODE_PARAMS, *params = part.fill)
CHANGES(MemsetNodeSetParams, fill_part(params, nullptr), const CUDA_MEMSET_NODE_PARAMS* params)
CHANGES_EXECUTABLE(MemsetNodeSetParams, fill_part(params, context), const CUDA_MEMSET_NODE_PARAMS* params,
                   CUcontext context)

ADDS(HostNode, host_part(params), const CUDA_HOST_NODE_PARAMS* params)
SHOWS(HostNodeGetParams, HostPart, CUDA_HOST_NODE_PARAMS, params->fn = part.function; params->userData = part.data)
CHANGES_BOTH(HostNodeSetParams, host_part(params), const CUDA_HOST_NODE_PARAMS* params)

ADDS(ChildGraphNode, child_part(params), CUgraph params)
SHOWS(ChildGraphNodeGetGraph, ChildPart, CUgraph, *params = part.graph->handle)

ADDS(EmptyNode, EmptyPart{})

ADDS(EventRecordNode, record_part(params), CUevent params)
SHOWS(EventRecordNodeGetEvent, RecordPart, CUevent, *params = part.event)
CHANGES_BOTH(EventRecordNodeSetEvent, record_part(params), CUevent params)

ADDS(EventWaitNode, wait_part(params), CUevent params)
SHOWS(EventWaitNodeGetEvent, WaitPart, CUevent, *params = part.event)
CHANGES_BOTH(EventWaitNodeSetEvent, wait_part(params), CUevent params)

ADDS(MemAllocNode, allocate_part(params), CUDA_MEM_ALLOC_NODE_PARAMS* params)
SHOWS(MemAllocNodeGetParams, AllocatePart, CUDA_MEM_ALLOC_NODE_PARAMS, describe(part, params))

SHOWS(MemFreeNodeGetParams, FreePart, CUdeviceptr, *params = part.address)
CUresult driver::call_cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* after,
                                            std::size_t count, CUdeviceptr address) {
  const auto graph = get_graph(handle);
  {
    const std::scoped_lock lock(Graph::mutex());
    require(!graph->frees(address));  // a graph frees an address once
  }
  return add(out, handle, after, count, [&] { return free_part(address); });
}

ADDS(BatchMemOpNode, memory_part(params), const CUDA_BATCH_MEM_OP_NODE_PARAMS* params)
SHOWS(BatchMemOpNodeGetParams, MemoryPart, CUDA_BATCH_MEM_OP_NODE_PARAMS, describe(part, params))
CHANGES_BOTH(BatchMemOpNodeSetParams, memory_part(params), const CUDA_BATCH_MEM_OP_NODE_PARAMS* params)

ADDS(ExternalSemaphoresSignalNode, signal_part(params), const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params)
SHOWS(ExternalSemaphoresSignalNodeGetParams, SignalPart, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, *params = {})
CHANGES_BOTH(ExternalSemaphoresSignalNodeSetParams, signal_part(params), const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params)

ADDS(ExternalSemaphoresWaitNode, await_part(params), const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params)
SHOWS(ExternalSemaphoresWaitNodeGetParams, AwaitPart, CUDA_EXT_SEM_WAIT_NODE_PARAMS, *params = {})
CHANGES_BOTH(ExternalSemaphoresWaitNodeSetParams, await_part(params), const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params)

#if CUDA_VERSION >= 12030
CUresult driver::call_cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                     size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return part_for(hGraph, nodeParams); });
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
  const CUresult result =
      add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return part_for(hGraph, nodeParams); });
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
  condition->graph = graph->id;
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
