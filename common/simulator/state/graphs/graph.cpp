#include "common/simulator/state/graphs/graph.hpp"

#include "common/simulator/state/devices/driver.hpp"

#include <algorithm>

namespace cudasim {

CUgraphNodeType type_of(const Part& part) {
  constexpr CUgraphNodeType kTypes[] = {CU_GRAPH_NODE_TYPE_EMPTY,
                                        CU_GRAPH_NODE_TYPE_KERNEL,
                                        CU_GRAPH_NODE_TYPE_MEMCPY,
                                        CU_GRAPH_NODE_TYPE_MEMSET,
                                        CU_GRAPH_NODE_TYPE_HOST,
                                        CU_GRAPH_NODE_TYPE_GRAPH,
                                        CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                        CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                        CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                        CU_GRAPH_NODE_TYPE_MEM_FREE,
                                        CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                        static_cast<CUgraphNodeType>(13),  // CU_GRAPH_NODE_TYPE_CONDITIONAL
                                        CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
                                        CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
  static_assert(std::size(kTypes) == std::variant_size_v<Part>);
  return kTypes[part.index()];
}

Registry<Graph, CUgraph>& graphs() {
  static auto& all = *new Registry<Graph, CUgraph>;
  return all;
}

Registry<Node, CUgraphNode>& graph_nodes() {
  static auto& all = *new Registry<Node, CUgraphNode>;
  return all;
}

Registry<Executable, CUgraphExec>& executables() {
  static auto& all = *new Registry<Executable, CUgraphExec>;
  return all;
}

Registry<UserObjectEntry, CUuserObject>& user_objects() {
  static auto& all = *new Registry<UserObjectEntry, CUuserObject>;
  return all;
}

UserObject::~UserObject() {
  user_objects().remove(handle);
  destroy(pointer);
}

std::shared_ptr<Graph> get_graph(CUgraph handle) {
  require_calls_permitted();
  return graphs().get(handle, CUDA_ERROR_INVALID_VALUE);
}

NodePtr get_node(CUgraphNode handle) {
  require_calls_permitted();
  return graph_nodes().get(handle, CUDA_ERROR_INVALID_VALUE);
}

std::shared_ptr<Executable> get_executable(CUgraphExec handle) {
  require_calls_permitted();
  return executables().get(handle, CUDA_ERROR_INVALID_VALUE);
}

// ---- Graphs

// The graphs that a node owns.
static std::vector<std::shared_ptr<Graph>> inner_graphs(const Part& part) {
  if (const auto* child = std::get_if<ChildPart>(&part)) return {child->graph};
  if (const auto* conditional = std::get_if<ConditionalPart>(&part)) return conditional->bodies;
  return {};
}

bool may_be_programmatic(const Node& from, const Node& to) {
  return std::holds_alternative<KernelPart>(from.part) && std::holds_alternative<KernelPart>(to.part);
}

u32 next_graph_id() {
  static std::atomic<u32> next{1};
  return next++;
}

NodePtr Graph::add(Part part, const std::vector<NodePtr>& dependencies) {
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    require(dependencies[i]->graph.lock().get() == this);
    for (std::size_t j = 0; j < i; ++j) require(dependencies[i] != dependencies[j]);
  }
  auto node = std::make_shared<Node>();
  node->graph = weak_from_this();
  node->part = std::move(part);
  node->local_id = added++;
  node->handle = graph_nodes().add(node);
  for (const auto& inner : inner_graphs(node->part)) inner->owner = node->handle;
  nodes.push_back(node);
  for (const NodePtr& from : dependencies) edges.push_back({from, node, {}});
  return node;
}

void Graph::connect(const NodePtr& from, const NodePtr& to, const EdgeKind& kind) {
  require(from->graph.lock().get() == this && to->graph.lock().get() == this && from != to);
  require(kind == EdgeKind{} || may_be_programmatic(*from, *to));
  for (const Edge& edge : edges) require(edge.from != from || edge.to != to);
  edges.push_back({from, to, kind});
}

bool Graph::disconnect(const NodePtr& from, const NodePtr& to, const std::optional<EdgeKind>& kind) {
  return std::erase_if(edges, [&](const Edge& edge) {
           return edge.from == from && edge.to == to && (!kind || edge.kind == *kind);
         }) != 0;
}

void Graph::remove(const NodePtr& node) {
  std::erase_if(edges, [&](const Edge& edge) { return edge.from == node || edge.to == node; });
  std::erase(nodes, node);
  graph_nodes().remove(node->handle);
  for (const auto& inner : inner_graphs(node->part)) inner->close();
}

bool Graph::frees(u64 address) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const NodePtr& node) {
    const auto* part = std::get_if<FreePart>(&node->part);
    return part != nullptr && part->address == address;
  });
}

std::vector<NodePtr> Graph::before(const Node& node) const {
  std::vector<NodePtr> found;
  for (const Edge& edge : edges) {
    if (edge.to.get() == &node) found.push_back(edge.from);
  }
  return found;
}

std::vector<NodePtr> Graph::after(const Node& node) const {
  std::vector<NodePtr> found;
  for (const Edge& edge : edges) {
    if (edge.from.get() == &node) found.push_back(edge.to);
  }
  return found;
}

bool is_single(const Part& part) {
  return std::holds_alternative<AllocatePart>(part) || std::holds_alternative<FreePart>(part) ||
         std::holds_alternative<ConditionalPart>(part);
}

bool Graph::is_single() const {
  return body ||
         std::any_of(nodes.begin(), nodes.end(), [](const NodePtr& node) { return cudasim::is_single(node->part); });
}

std::shared_ptr<Graph> Graph::clone() const {
  require(!is_single(), CUDA_ERROR_NOT_SUPPORTED);
  auto copy = std::make_shared<Graph>();
  copy->handle = graphs().add(copy);
  std::map<const Node*, NodePtr> twin;
  for (const NodePtr& node : nodes) {
    Part part = node->part;
    if (auto* child = std::get_if<ChildPart>(&part)) child->graph = child->graph->clone();
    twin[node.get()] = copy->add(std::move(part), {});
    twin[node.get()]->original = node->handle;
  }
  for (const Edge& edge : edges) {
    copy->edges.push_back({twin[edge.from.get()], twin[edge.to.get()], edge.kind});
  }
  copy->objects = objects;
  return copy;
}

std::optional<std::vector<NodePtr>> Graph::order() const {
  std::map<const Node*, std::size_t> missing;
  std::map<const Node*, std::vector<NodePtr>> next;
  for (const Edge& edge : edges) {
    ++missing[edge.to.get()];
    next[edge.from.get()].push_back(edge.to);
  }
  std::vector<NodePtr> sorted;
  for (const NodePtr& node : nodes) {
    if (missing[node.get()] == 0) sorted.push_back(node);
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (const NodePtr& to : next[sorted[i].get()]) {
      if (--missing[to.get()] == 0) sorted.push_back(to);
    }
  }
  if (sorted.size() != nodes.size()) return std::nullopt;
  return sorted;
}

void Graph::close() {
  for (const NodePtr& node : nodes) {
    graph_nodes().remove(node->handle);
    for (const auto& inner : inner_graphs(node->part)) inner->close();
  }
  graphs().remove(handle);
}

}  // namespace cudasim
