// Graphs: building, asking and changing them (CUDA Driver API manual, "Graph Management").
#include "common/simulator/api/graph_parts.hpp"
#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/capture.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

using namespace cudasim;

namespace {

// The bytes of a CUgraphEdgeData, which older headers lack.
struct EdgeData {
  u8 from_port, to_port, type, reserved[5];
};

std::vector<NodePtr> nodes_of(const CUgraphNode* handles, std::size_t count) {
  require(count == 0 || handles != nullptr);
  std::vector<NodePtr> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(get_node(handles[i]));
  return nodes;
}

// `make` describes the node; it is called when the rest has been judged.
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

void set_part(CUgraphNode handle, Part part) {
  const NodePtr node = get_node(handle);
  const std::scoped_lock lock(Graph::mutex());
  require(node->part.index() == part.index());
  node->part = std::move(part);
}

void set_part(CUgraphExec handle, CUgraphNode source, Part part) {
  const auto executable = get_executable(handle);
  const std::scoped_lock lock(executable->mutex);
  Executable::Step& step = executable->step(source);
  require(step.part.index() == part.index());
  step.part = std::move(part);
}

// How many there are, or as many as there is room for; the rest of the room is filled with null.
CUresult list(const std::vector<NodePtr>& nodes, CUgraphNode* out, std::size_t* count) {
  require(count != nullptr);
  if (out == nullptr) {
    *count = nodes.size();
    return CUDA_SUCCESS;
  }
  for (std::size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? nodes[i]->handle : nullptr;
  *count = std::min(*count, nodes.size());
  return CUDA_SUCCESS;
}

std::shared_ptr<Graph> graph_of(const Node& node) {
  auto graph = node.graph.lock();
  require(graph != nullptr);
  return graph;
}

void write(const Edge& edge, EdgeData* data) {
  if (data != nullptr) *data = {edge.from_port, edge.to_port, edge.type, {}};
}

CUresult edges_of(CUgraph handle, CUgraphNode* from, CUgraphNode* to, EdgeData* data, std::size_t* count) {
  const auto graph = get_graph(handle);
  require(count != nullptr && (from == nullptr) == (to == nullptr));
  const std::scoped_lock lock(Graph::mutex());
  const auto& edges = graph->edges;
  if (from == nullptr) {
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  for (std::size_t i = 0; i < *count; ++i) {
    from[i] = i < edges.size() ? edges[i].from->handle : nullptr;
    to[i] = i < edges.size() ? edges[i].to->handle : nullptr;
    if (i < edges.size() && data != nullptr) write(edges[i], &data[i]);
  }
  *count = std::min(*count, edges.size());
  return CUDA_SUCCESS;
}

// Forwards: what comes after the node. Backwards: what it comes after.
CUresult neighbours(CUgraphNode handle, bool forwards, CUgraphNode* out, EdgeData* data, std::size_t* count) {
  const NodePtr node = get_node(handle);
  const std::scoped_lock lock(Graph::mutex());
  const auto graph = graph_of(*node);
  if (data != nullptr && out != nullptr && count != nullptr) {
    std::size_t i = 0;
    for (const Edge& edge : graph->edges) {
      if ((forwards ? edge.from : edge.to) == node && i < *count) write(edge, &data[i++]);
    }
  }
  return list(forwards ? graph->after(*node) : graph->before(*node), out, count);
}

CUresult connect(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, const EdgeData* data,
                 std::size_t count) {
  const auto graph = get_graph(handle);
  const auto sources = nodes_of(from, count), targets = nodes_of(to, count);
  const std::scoped_lock lock(Graph::mutex());
  for (std::size_t i = 0; i < count; ++i) {
    const EdgeData edge = data != nullptr ? data[i] : EdgeData{};
    require(edge.type <= 1 && edge.to_port == 0 && edge.from_port <= 2);
    graph->connect(sources[i], targets[i], edge.from_port, edge.to_port, edge.type);
  }
  return CUDA_SUCCESS;
}

CUresult disconnect(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  const auto graph = get_graph(handle);
  const auto sources = nodes_of(from, count), targets = nodes_of(to, count);
  const std::scoped_lock lock(Graph::mutex());
  for (std::size_t i = 0; i < count; ++i) require(graph->disconnect(sources[i], targets[i]));
  return CUDA_SUCCESS;
}

CUresult instantiate(CUgraphExec* out, CUgraph handle, u64 flags, CUgraphNode* culprit) {
  const auto graph = get_graph(handle);
  require(out != nullptr);
  constexpr u64 kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                         CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  require((flags & ~kKnown) == 0);
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
    return refuse("CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH");
  const std::scoped_lock lock(Graph::mutex());
  const auto executable = std::make_shared<Executable>(*graph, flags, culprit);
  executable->handle = executables().add(executable);
  *out = executable->handle;
  return CUDA_SUCCESS;
}

CUresult instantiate_with_log(CUgraphExec* out, CUgraph handle, CUgraphNode* culprit, char* log, std::size_t size) {
  if (log != nullptr && size != 0) log[0] = '\0';
  try {
    return instantiate(out, handle, 0, culprit);
  } catch (const Failure&) {
    if (log != nullptr && size != 0) std::snprintf(log, size, "the graph's edges go in a circle");
    throw;
  }
}

CUresult instantiate_with(CUgraphExec* out, CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  require_calls_permitted();
  require(parameters != nullptr);
  parameters->hErrNode_out = nullptr;
  try {
    const CUresult result = instantiate(out, handle, parameters->flags, &parameters->hErrNode_out);
    parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
  } catch (const Failure&) {
    parameters->result_out =
        parameters->hErrNode_out != nullptr ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE : CUDA_GRAPH_INSTANTIATE_ERROR;
    throw;
  }
}

CUresult launch_graph(CUgraphExec handle, CUstream stream) {
  current_context();
  const auto executable = get_executable(handle);
  const auto into = get_stream(stream);
  if (const auto capture = capture_of(*into)) {
    const std::scoped_lock lock(Graph::mutex(), executable->mutex);
    capture->add(*into, ChildPart{executable->as_graph()});
    return CUDA_SUCCESS;
  }
  executable->launch(*into);
  return CUDA_SUCCESS;
}

CUresult upload(CUgraphExec handle, CUstream stream) {
  current_context();
  get_executable(handle);
  get_stream(stream);
  return CUDA_SUCCESS;
}

CUgraphExecUpdateResult update(CUgraphExec handle, CUgraph graph_handle, CUgraphNode* culprit, CUgraphNode* from) {
  const auto executable = get_executable(handle);
  const auto graph = get_graph(graph_handle);
  const std::scoped_lock lock(Graph::mutex(), executable->mutex);
  return executable->update(*graph, culprit, from);
}

const char* name(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY: return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET: return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST: return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH: return "GRAPH";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return "WAIT_EVENT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return "BATCH_MEM_OP";
    default: return "EMPTY";
  }
}

std::string label(const Node& node, std::size_t number) {
  std::string text = std::to_string(number) + "\\n" + name(type_of(node.part));
  if (const auto* kernel = std::get_if<KernelPart>(&node.part)) {
    if (const auto function = functions().find(kernel->function)) text += "\\n" + function->kernel->name;
    const auto size = [](const Dim3& dim) {
      return std::to_string(dim.x) + "," + std::to_string(dim.y) + "," + std::to_string(dim.z);
    };
    text += "\\n<<<" + size(kernel->shape.grid) + "; " + size(kernel->shape.block) + ">>>";
  }
  return text;
}

// With the graphs' lock held.
void print(const Graph& graph, std::ostream& out, const std::string& prefix) {
  std::map<const Node*, std::string> names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = *graph.nodes[i];
    const std::string id = prefix + "node_" + std::to_string(i);
    names[&node] = id;
    out << "  \"" << id << "\" [shape=box label=\"" << label(node, i) << "\"];\n";
    if (const auto* child = std::get_if<ChildPart>(&node.part)) {
      out << "  subgraph \"cluster_" << id << "\" {\n";
      print(*child->graph, out, id + "_");
      out << "  }\n";
    }
  }
  for (const Edge& edge : graph.edges) {
    out << "  \"" << names[edge.from.get()] << "\" -> \"" << names[edge.to.get()] << "\";\n";
  }
}

}  // namespace

CUDASIM_API CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  return CUDASIM_CALL(phGraph, flags) {
    require_calls_permitted();
    require(phGraph != nullptr && flags == 0);
    const auto graph = std::make_shared<Graph>();
    graph->handle = graphs().add(graph);
    *phGraph = graph->handle;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphDestroy(CUgraph hGraph) {
  return CUDASIM_CALL(hGraph) {
    const auto graph = get_graph(hGraph);
    const std::scoped_lock lock(Graph::mutex());
    require(graph->owner == nullptr);  // a child graph goes with its node
    graph->close();
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  return CUDASIM_CALL(phGraphClone, originalGraph) {
    const auto graph = get_graph(originalGraph);
    require(phGraphClone != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    *phGraphClone = graph->clone()->handle;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
  return CUDASIM_CALL(phNode, hOriginalNode, hClonedGraph) {
    get_node(hOriginalNode);
    const auto graph = get_graph(hClonedGraph);
    require(phNode != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    for (const NodePtr& node : graph->nodes) {
      if (node->original != hOriginalNode) continue;
      *phNode = node->handle;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  };
}

CUDASIM_API CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                          size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, nodeParams) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return kernel_part(nodeParams); });
  };
}

CUDASIM_API CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    const std::scoped_lock lock(Graph::mutex());
    describe(as<KernelPart>(*node), nodeParams);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    set_part(hNode, kernel_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return CUDASIM_CALL(hGraphExec, hNode, nodeParams) {
    set_part(hGraphExec, hNode, kernel_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                             size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, nodeParams) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return kernel_part(nodeParams); });
  };
}

CUDASIM_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    const std::scoped_lock lock(Graph::mutex());
    describe(as<KernelPart>(*node), nodeParams);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    set_part(hNode, kernel_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                       const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return CUDASIM_CALL(hGraphExec, hNode, nodeParams) {
    set_part(hGraphExec, hNode, kernel_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                          size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, copyParams, ctx) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return copy_part(copyParams, ctx); });
  };
}

CUDASIM_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<CopyPart>(*node);
    *nodeParams = part.copy;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    set_part(hNode, copy_part(nodeParams, nullptr));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  return CUDASIM_CALL(hGraphExec, hNode, copyParams, ctx) {
    set_part(hGraphExec, hNode, copy_part(copyParams, ctx));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                          size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                          CUcontext ctx) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, memsetParams, ctx) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return fill_part(memsetParams, ctx); });
  };
}

CUDASIM_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<FillPart>(*node);
    *nodeParams = part.fill;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    set_part(hNode, fill_part(nodeParams, nullptr));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  return CUDASIM_CALL(hGraphExec, hNode, memsetParams, ctx) {
    set_part(hGraphExec, hNode, fill_part(memsetParams, ctx));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                        size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, nodeParams) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return host_part(nodeParams); });
  };
}

CUDASIM_API CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<HostPart>(*node);
    nodeParams->fn = part.function;
    nodeParams->userData = part.data;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    set_part(hNode, host_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                  const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hGraphExec, hNode, nodeParams) {
    set_part(hGraphExec, hNode, host_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                              size_t numDependencies, CUgraph childGraph) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, childGraph) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return child_part(childGraph); });
  };
}

CUDASIM_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<ChildPart>(*node);
    *nodeParams = part.graph->handle;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                         size_t numDependencies) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [] { return EmptyPart{}; });
  };
}

CUDASIM_API CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                               const CUgraphNode* dependencies, size_t numDependencies, CUevent event) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, event) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return record_part(event); });
  };
}

CUDASIM_API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<RecordPart>(*node);
    *nodeParams = part.event;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return CUDASIM_CALL(hNode, event) {
    set_part(hNode, record_part(event));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  return CUDASIM_CALL(hGraphExec, hNode, event) {
    set_part(hGraphExec, hNode, record_part(event));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                             size_t numDependencies, CUevent event) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, event) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return wait_part(event); });
  };
}

CUDASIM_API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<WaitPart>(*node);
    *nodeParams = part.event;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return CUDASIM_CALL(hNode, event) {
    set_part(hNode, wait_part(event));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  return CUDASIM_CALL(hGraphExec, hNode, event) {
    set_part(hGraphExec, hNode, wait_part(event));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                            size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, nodeParams) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return allocate_part(nodeParams); });
  };
}

CUDASIM_API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<AllocatePart>(*node);
    describe(part, nodeParams);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                           size_t numDependencies, CUdeviceptr dptr) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, dptr) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return free_part(dptr); });
  };
}

CUDASIM_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    const NodePtr node = get_node(hNode);
    require(nodeParams != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<FreePart>(*node);
    *nodeParams = part.address;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                              size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, nodeParams) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return memory_part(nodeParams); });
  };
}

CUDASIM_API CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
  return CUDASIM_CALL(hNode, nodeParams_out) {
    const NodePtr node = get_node(hNode);
    const std::scoped_lock lock(Graph::mutex());
    describe(as<MemoryPart>(*node), nodeParams_out);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                                    const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    set_part(hNode, memory_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return CUDASIM_CALL(hGraphExec, hNode, nodeParams) {
    set_part(hGraphExec, hNode, memory_part(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  return CUDASIM_CALL(hNode, type) {
    const NodePtr node = get_node(hNode);
    require(type != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    *type = type_of(node->part);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
  return CUDASIM_CALL(hGraph, nodes, numNodes) {
    const auto graph = get_graph(hGraph);
    const std::scoped_lock lock(Graph::mutex());
    return list(graph->nodes, nodes, numNodes);
  };
}

CUDASIM_API CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
  return CUDASIM_CALL(hGraph, rootNodes, numRootNodes) {
    const auto graph = get_graph(hGraph);
    const std::scoped_lock lock(Graph::mutex());
    std::vector<NodePtr> roots;
    for (const NodePtr& node : graph->nodes) {
      if (graph->before(*node).empty()) roots.push_back(node);
    }
    return list(roots, rootNodes, numRootNodes);
  };
}

CUDASIM_API CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
  return CUDASIM_CALL(hGraph, from, to, numEdges) { return edges_of(hGraph, from, to, nullptr, numEdges); };
}

CUDASIM_API CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies) {
  return CUDASIM_CALL(hNode, dependencies, numDependencies) {
    return neighbours(hNode, false, dependencies, nullptr, numDependencies);
  };
}

CUDASIM_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                                  size_t* numDependentNodes) {
  return CUDASIM_CALL(hNode, dependentNodes, numDependentNodes) {
    return neighbours(hNode, true, dependentNodes, nullptr, numDependentNodes);
  };
}

CUDASIM_API CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                            size_t numDependencies) {
  return CUDASIM_CALL(hGraph, from, to, numDependencies) {
    return connect(hGraph, from, to, nullptr, numDependencies);
  };
}

CUDASIM_API CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                               size_t numDependencies) {
  return CUDASIM_CALL(hGraph, from, to, numDependencies) { return disconnect(hGraph, from, to, numDependencies); };
}

#if CUDA_VERSION >= 12030
static_assert(sizeof(EdgeData) == sizeof(CUgraphEdgeData));

CUDASIM_API CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                                        size_t* numEdges) {
  return CUDASIM_CALL(hGraph, from, to, edgeData, numEdges) {
    return edges_of(hGraph, from, to, reinterpret_cast<EdgeData*>(edgeData), numEdges);
  };
}

CUDASIM_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                                   CUgraphEdgeData* edgeData, size_t* numDependencies) {
  return CUDASIM_CALL(hNode, dependencies, edgeData, numDependencies) {
    return neighbours(hNode, false, dependencies, reinterpret_cast<EdgeData*>(edgeData), numDependencies);
  };
}

CUDASIM_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                                     CUgraphEdgeData* edgeData, size_t* numDependentNodes) {
  return CUDASIM_CALL(hNode, dependentNodes, edgeData, numDependentNodes) {
    return neighbours(hNode, true, dependentNodes, reinterpret_cast<EdgeData*>(edgeData), numDependentNodes);
  };
}

CUDASIM_API CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                               const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return CUDASIM_CALL(hGraph, from, to, edgeData, numDependencies) {
    return connect(hGraph, from, to, reinterpret_cast<const EdgeData*>(edgeData), numDependencies);
  };
}

CUDASIM_API CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                                  const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return CUDASIM_CALL(hGraph, from, to, edgeData, numDependencies) {
    return disconnect(hGraph, from, to, numDependencies);
  };
}

CUDASIM_API CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                    size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, numDependencies, nodeParams) {
    return add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return part_of(nodeParams); });
  };
}

CUDASIM_API CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                       const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                       CUgraphNodeParams* nodeParams) {
  return CUDASIM_CALL(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams) {
    const CUresult result =
        add(phGraphNode, hGraph, dependencies, numDependencies, [&] { return part_of(nodeParams); });
    if (dependencyData == nullptr) return result;
    const auto graph = get_graph(hGraph);
    const NodePtr node = get_node(*phGraphNode);
    const std::scoped_lock lock(Graph::mutex());
    for (std::size_t i = 0; i < numDependencies; ++i) {
      for (Edge& edge : graph->edges) {
        if (edge.to != node || edge.from->handle != dependencies[i]) continue;
        edge.from_port = dependencyData[i].from_port;
        edge.type = dependencyData[i].type;
      }
    }
    return result;
  };
}

CUDASIM_API CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return CUDASIM_CALL(hNode, nodeParams) {
    set_part(hNode, part_of(nodeParams));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              CUgraphNodeParams* nodeParams) {
  return CUDASIM_CALL(hGraphExec, hNode, nodeParams) {
    set_part(hGraphExec, hNode, part_of(nodeParams));
    return CUDA_SUCCESS;
  };
}
#endif

CUDASIM_API CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  return CUDASIM_CALL(hNode) {
    const NodePtr node = get_node(hNode);
    const std::scoped_lock lock(Graph::mutex());
    graph_of(*node)->remove(node);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  return CUDASIM_CALL(dst, src) {
    const NodePtr to = get_node(dst), from = get_node(src);
    const std::scoped_lock lock(Graph::mutex());
    as<KernelPart>(*to).attributes = as<KernelPart>(*from).attributes;
    as<KernelPart>(*to).shape.cooperative = as<KernelPart>(*from).shape.cooperative;
    as<KernelPart>(*to).shape.cluster = as<KernelPart>(*from).shape.cluster;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                   CUkernelNodeAttrValue* value_out) {
  return CUDASIM_CALL(hNode, attr, value_out) {
    const NodePtr node = get_node(hNode);
    require(value_out != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    const auto& part = as<KernelPart>(*node);
    *value_out = {};
    const auto found = part.attributes.find(attr);
    if (found != part.attributes.end()) *value_out = found->second;
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value_out->cooperative = part.shape.cooperative ? 1 : 0;
    if (attr == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      value_out->clusterDim = {part.shape.cluster.x, part.shape.cluster.y, part.shape.cluster.z};
    }
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                   const CUkernelNodeAttrValue* value) {
  return CUDASIM_CALL(hNode, attr, value) {
    const NodePtr node = get_node(hNode);
    require(value != nullptr);
    const std::scoped_lock lock(Graph::mutex());
    auto& part = as<KernelPart>(*node);
    switch (static_cast<int>(attr)) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: part.shape.cooperative = value->cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        part.shape.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
        break;
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    part.attributes[attr] = *value;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) {
  return CUDASIM_CALL(hGraph, path, flags) {
    const auto graph = get_graph(hGraph);
    require(path != nullptr);
    std::ofstream out(path);
    require(out.good(), CUDA_ERROR_OPERATING_SYSTEM);
    const std::scoped_lock lock(Graph::mutex());
    out << "digraph dot {\n";
    print(*graph, out, "");
    out << "}\n";
    return out.good() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  };
}

CUDASIM_API CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                                        char* logBuffer, size_t bufferSize) {
  return CUDASIM_CALL(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize) {
    return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
  };
}

CUDASIM_API CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                                           char* logBuffer, size_t bufferSize) {
  return CUDASIM_CALL(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize) {
    return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
  };
}

CUDASIM_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
  return CUDASIM_CALL(phGraphExec, hGraph, flags) { return instantiate(phGraphExec, hGraph, flags, nullptr); };
}

CUDASIM_API CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                                  CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  return CUDASIM_CALL(phGraphExec, hGraph, instantiateParams) {
    return instantiate_with(phGraphExec, hGraph, instantiateParams);
  };
}

CUDASIM_API CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  return CUDASIM_CALL(hGraphExec, hStream) { return launch_graph(hGraphExec, hStream); };
}

CUDASIM_API CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
  return CUDASIM_CALL(hGraphExec, hStream) { return upload(hGraphExec, hStream); };
}

CUDASIM_API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* phGraphExec, CUgraph hGraph,
                                                       CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  return CUDASIM_CALL(phGraphExec, hGraph, instantiateParams) {
    return instantiate_with(phGraphExec, hGraph, instantiateParams);
  };
}

CUDASIM_API CUresult cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream) {
  return CUDASIM_CALL(hGraphExec, hStream) { return launch_graph(hGraphExec, per_thread(hStream)); };
}

CUDASIM_API CUresult cuGraphUpload_ptsz(CUgraphExec hGraphExec, CUstream hStream) {
  return CUDASIM_CALL(hGraphExec, hStream) { return upload(hGraphExec, per_thread(hStream)); };
}

CUDASIM_API CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  return CUDASIM_CALL(hGraphExec) {
    get_executable(hGraphExec);
    return executables().remove(hGraphExec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
}

CUDASIM_API CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  return CUDASIM_CALL(hGraphExec, flags) {
    const auto executable = get_executable(hGraphExec);
    require(flags != nullptr);
    *flags = executable->flags;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  return CUDASIM_CALL(hGraphExec, hNode, isEnabled) {
    const auto executable = get_executable(hGraphExec);
    const std::scoped_lock lock(executable->mutex);
    Executable::Step& step = executable->step(hNode);
    const CUgraphNodeType type = type_of(step.part);
    require(type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
            type == CU_GRAPH_NODE_TYPE_MEMSET);
    step.enabled = isEnabled != 0;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  return CUDASIM_CALL(hGraphExec, hNode, isEnabled) {
    const auto executable = get_executable(hGraphExec);
    require(isEnabled != nullptr);
    const std::scoped_lock lock(executable->mutex);
    *isEnabled = executable->step(hNode).enabled ? 1 : 0;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                                       CUgraphExecUpdateResult* updateResult_out) {
  return CUDASIM_CALL(hGraphExec, hGraph, hErrorNode_out, updateResult_out) {
    require_calls_permitted();
    require(updateResult_out != nullptr);
    CUgraphNode culprit = nullptr, from = nullptr;
    *updateResult_out = update(hGraphExec, hGraph, &culprit, &from);
    if (hErrorNode_out != nullptr) *hErrorNode_out = culprit;
    return *updateResult_out == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  };
}

CUDASIM_API CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                          CUgraphExecUpdateResultInfo* resultInfo) {
  return CUDASIM_CALL(hGraphExec, hGraph, resultInfo) {
    require_calls_permitted();
    require(resultInfo != nullptr);
    *resultInfo = {};
    resultInfo->result = update(hGraphExec, hGraph, &resultInfo->errorNode, &resultInfo->errorFromNode);
    return resultInfo->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  };
}

CUDASIM_API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
  return CUDASIM_CALL(hGraphExec, hNode, childGraph) {
    const auto executable = get_executable(hGraphExec);
    const auto child = get_graph(childGraph);
    const std::scoped_lock lock(Graph::mutex(), executable->mutex);
    executable->set_child(hNode, *child);
    return CUDA_SUCCESS;
  };
}
