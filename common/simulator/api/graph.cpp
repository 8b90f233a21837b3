// Graphs: building, asking and changing them (CUDA Driver API manual, "Graph Management"). What concerns one kind of
// node is in graph_nodes.cpp, what concerns executable graphs in graph_executables.cpp.
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/graph_parts.hpp"

#include <algorithm>
#include <fstream>

namespace cudasim {

namespace {

// Without an array, the number of objects; else as many as fit, and null in the rest of the array.
CUresult list(const std::vector<NodePtr>& nodes, CUgraphNode* out, std::size_t* count) {
  require(count != nullptr);
  if (out == nullptr) {
    *count = nodes.size();
    return CUDA_SUCCESS;
  }
  const std::size_t room = *count;  // which may be inside `out`
  for (std::size_t i = 0; i < room; ++i) out[i] = i < nodes.size() ? nodes[i]->handle : nullptr;
  *count = std::min(room, nodes.size());
  return CUDA_SUCCESS;
}

std::shared_ptr<Graph> graph_of(const Node& node) {
  auto graph = node.graph.lock();
  require(graph != nullptr);
  return graph;
}

void write(const EdgeKind& kind, EdgeData* data) { *data = {kind.from_port, kind.to_port, kind.type, {}}; }

// Without the kinds of the edges the result is complete only if all edges are plain.
void require_lossless(const EdgeKind& kind, const EdgeData* data) {
  require(data != nullptr || kind == EdgeKind{}, CUDA_ERROR_LOSSY_QUERY);
}

CUresult edges_of(CUgraph handle, CUgraphNode* from, CUgraphNode* to, EdgeData* data, std::size_t* count) {
  const auto graph = get_graph(handle);
  require(count != nullptr && (from == nullptr) == (to == nullptr) && (data == nullptr || from != nullptr));
  const std::scoped_lock lock(Graph::mutex());
  const auto& edges = graph->edges;
  if (from == nullptr) {
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  for (const Edge& edge : edges) require_lossless(edge.kind, data);
  const std::size_t room = *count;
  for (std::size_t i = 0; i < room; ++i) {
    from[i] = i < edges.size() ? edges[i].from->handle : nullptr;
    to[i] = i < edges.size() ? edges[i].to->handle : nullptr;
    if (i < edges.size() && data != nullptr) write(edges[i].kind, &data[i]);
  }
  *count = std::min(room, edges.size());
  return CUDA_SUCCESS;
}

// Forwards: the nodes that depend on this one. Backwards: its dependencies.
CUresult neighbours(CUgraphNode handle, bool forwards, CUgraphNode* out, EdgeData* data, std::size_t* count) {
  const NodePtr node = get_node(handle);
  require(count != nullptr && (data == nullptr || out != nullptr));
  const std::scoped_lock lock(Graph::mutex());
  const auto graph = graph_of(*node);
  std::size_t i = 0;
  for (const Edge& edge : graph->edges) {
    if (out == nullptr || (forwards ? edge.from : edge.to) != node) continue;
    require_lossless(edge.kind, data);
    if (data != nullptr && i < *count) write(edge.kind, &data[i++]);
  }
  return list(forwards ? graph->after(*node) : graph->before(*node), out, count);
}

CUresult connect(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, const EdgeData* data,
                 std::size_t count) {
  const auto graph = get_graph(handle);
  const auto sources = nodes_of(from, count), targets = nodes_of(to, count);
  const std::scoped_lock lock(Graph::mutex());
  for (std::size_t i = 0; i < count; ++i) {
    graph->connect(sources[i], targets[i], kind_of(data, i));
  }
  return CUDA_SUCCESS;
}

// Nodes that allocate or free memory stay, with their edges.
void require_removable(const Node& node) {
  const bool memory = std::holds_alternative<AllocatePart>(node.part) || std::holds_alternative<FreePart>(node.part);
  require(!memory, CUDA_ERROR_NOT_SUPPORTED);
}

CUresult disconnect(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, const EdgeData* data,
                    std::size_t count) {
  const auto graph = get_graph(handle);
  const auto sources = nodes_of(from, count), targets = nodes_of(to, count);
  const std::scoped_lock lock(Graph::mutex());
  for (std::size_t i = 0; i < count; ++i) {
    require_removable(*sources[i]);
    require_removable(*targets[i]);
    // The manual has an edge without data stand for a plain one; driver 580 takes it for whichever there is.
    const auto kind = data != nullptr ? std::optional(kind_of(data, i)) : std::nullopt;
    require(graph->disconnect(sources[i], targets[i], kind));
  }
  return CUDA_SUCCESS;
}

const char* name(CUgraphNodeType type) {
  switch (static_cast<int>(type)) {
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
    case 13: return "CONDITIONAL";  // CU_GRAPH_NODE_TYPE_CONDITIONAL, which older headers lack
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
void print(const Graph& graph, std::ostream& out) {
  std::map<const Node*, std::string> names;
  for (const NodePtr& each : graph.nodes) {
    const Node& node = *each;
    const std::string id = "graph_" + std::to_string(graph.id) + "_node_" + std::to_string(node.local_id);
    names[&node] = id;
    out << "  \"" << id << "\" [shape=box label=\"" << label(node, node.local_id) << "\"];\n";
    if (const auto* child = std::get_if<ChildPart>(&node.part)) {
      out << "  subgraph \"cluster_" << id << "\" {\n";
      print(*child->graph, out);
      out << "  }\n";
    }
  }
  for (const Edge& edge : graph.edges) {
    out << "  \"" << names[edge.from.get()] << "\" -> \"" << names[edge.to.get()] << "\";\n";
  }
}

}  // namespace

CUresult driver::call_cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  require_calls_permitted();
  require(phGraph != nullptr && flags == 0);
  const auto graph = std::make_shared<Graph>();
  graph->handle = graphs().add(graph);
  *phGraph = graph->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphDestroy(CUgraph hGraph) {
  const auto graph = get_graph(hGraph);
  const std::scoped_lock lock(Graph::mutex());
  require(graph->owner == nullptr);  // a child graph goes with its node
  graph->close();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  const auto graph = get_graph(originalGraph);
  require(phGraphClone != nullptr);
  const std::scoped_lock lock(Graph::mutex());
  *phGraphClone = graph->clone()->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
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
}

CUresult driver::call_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  const NodePtr node = get_node(hNode);
  require(type != nullptr);
  const std::scoped_lock lock(Graph::mutex());
  *type = type_of(node->part);
  return CUDA_SUCCESS;
}

// The ids, declared since CUDA 13.1, are those that cuGraphDebugDotPrint prints.
CUresult driver::call_cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph) {
  const NodePtr node = get_node(hNode);
  require(phGraph != nullptr);
  *phGraph = graph_of(*node)->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId) {
  const NodePtr node = get_node(hNode);
  require(nodeId != nullptr);
  *nodeId = node->local_id;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId) {
  const NodePtr node = get_node(hNode);
  require(toolsNodeId != nullptr);
  *toolsNodeId = u64{graph_of(*node)->id} << 32 | node->local_id;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphGetId(CUgraph hGraph, unsigned int* graphId) {
  const auto graph = get_graph(hGraph);
  require(graphId != nullptr);
  *graphId = graph->id;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId) {
  const auto executable = get_executable(hGraphExec);
  require(graphId != nullptr);
  *graphId = executable->id;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
  const auto graph = get_graph(hGraph);
  const std::scoped_lock lock(Graph::mutex());
  return list(graph->nodes, nodes, numNodes);
}

CUresult driver::call_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
  const auto graph = get_graph(hGraph);
  const std::scoped_lock lock(Graph::mutex());
  std::vector<NodePtr> roots;
  for (const NodePtr& node : graph->nodes) {
    if (graph->before(*node).empty()) roots.push_back(node);
  }
  return list(roots, rootNodes, numRootNodes);
}

CUresult driver::call_cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
  return edges_of(hGraph, from, to, nullptr, numEdges);
}

CUresult driver::call_cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies,
                                                 size_t* numDependencies) {
  return neighbours(hNode, false, dependencies, nullptr, numDependencies);
}

CUresult driver::call_cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                                   size_t* numDependentNodes) {
  return neighbours(hNode, true, dependentNodes, nullptr, numDependentNodes);
}

CUresult driver::call_cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                             size_t numDependencies) {
  return connect(hGraph, from, to, nullptr, numDependencies);
}

CUresult driver::call_cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                                size_t numDependencies) {
  return disconnect(hGraph, from, to, nullptr, numDependencies);
}

#if CUDA_VERSION >= 12030
CUresult driver::call_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                                         size_t* numEdges) {
  return edges_of(hGraph, from, to, reinterpret_cast<EdgeData*>(edgeData), numEdges);
}

CUresult driver::call_cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                                    CUgraphEdgeData* edgeData, size_t* numDependencies) {
  return neighbours(hNode, false, dependencies, reinterpret_cast<EdgeData*>(edgeData), numDependencies);
}

CUresult driver::call_cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                                      CUgraphEdgeData* edgeData, size_t* numDependentNodes) {
  return neighbours(hNode, true, dependentNodes, reinterpret_cast<EdgeData*>(edgeData), numDependentNodes);
}

CUresult driver::call_cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                                const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return connect(hGraph, from, to, reinterpret_cast<const EdgeData*>(edgeData), numDependencies);
}

CUresult driver::call_cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                                   const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return disconnect(hGraph, from, to, reinterpret_cast<const EdgeData*>(edgeData), numDependencies);
}
#endif

CUresult driver::call_cuGraphDestroyNode(CUgraphNode hNode) {
  const NodePtr node = get_node(hNode);
  const std::scoped_lock lock(Graph::mutex());
  require_removable(*node);
  graph_of(*node)->remove(node);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int) {
  const auto graph = get_graph(hGraph);
  require(path != nullptr);
  std::ofstream out(path);
  require(out.good(), CUDA_ERROR_OPERATING_SYSTEM);
  const std::scoped_lock lock(Graph::mutex());
  out << "digraph dot {\n";
  print(*graph, out);
  out << "}\n";
  return out.good() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace cudasim
