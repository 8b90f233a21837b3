// Graphs: work described first and launched later, as often as wanted. A graph is nodes and edges; an executable one is
// the same in an order in which it can run, with child graphs spread out. Launching enters one task for each node.
#pragma once
#include "common/simulator/state/launches/condition.hpp"
#include "common/simulator/state/launches/launch.hpp"
#include "common/simulator/state/memory/graph_memory.hpp"
#include "common/simulator/state/streams/capture.hpp"
#include "common/simulator/state/streams/event.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <variant>

namespace cudasim {

class Graph;
class Executable;

// What a node does, as a program described it. The node owns what the description points to.
struct KernelPart {
  CUfunction function = nullptr;  // or null, and
  CUkernel kernel = nullptr;
  CUcontext context = nullptr;
  LaunchShape shape;
  std::vector<std::byte> parameters;
  std::map<int, CUlaunchAttributeValue> attributes;
  std::vector<void*> pointers;  // into `parameters`, for cuGraphKernelNodeGetParams, reckoned
  std::uintptr_t shown_at = 0;  // from this address
};
struct CopyPart {
  CUDA_MEMCPY3D copy{};
  CUcontext context = nullptr;
};
struct FillPart {
  CUDA_MEMSET_NODE_PARAMS fill{};
  CUcontext context = nullptr;
};
struct HostPart {
  CUhostFn function = nullptr;
  void* data = nullptr;
};
struct ChildPart {
  std::shared_ptr<Graph> graph;
};
struct RecordPart {
  CUevent event = nullptr;
};
struct WaitPart {
  CUevent event = nullptr;
};
struct AllocatePart {
  CUmemPoolProps properties{};
  std::vector<CUmemAccessDesc> access;
  u64 address = 0, bytes = 0;
  CUdevice device = 0;
};
struct FreePart {
  u64 address = 0;
};
struct MemoryPart {
  std::vector<CUstreamBatchMemOpParams> operations;
  CUcontext context = nullptr;
};
// CUgraphConditionalNodeType; older headers lack the last one, or all.
enum class Choice : int { if_else = 0, loop = 1, one_of = 2 };
struct ConditionalPart {
  std::shared_ptr<Condition> condition;
  Choice choice = Choice::if_else;
  CUcontext context = nullptr;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::shared_ptr<std::vector<CUgraph>> handles;  // of the bodies: what phGraph_out points to
};
// External semaphores are not simulated, so such a node has an empty list of them.
struct SignalPart {};
struct AwaitPart {};
struct EmptyPart {};
using Part = std::variant<EmptyPart, KernelPart, CopyPart, FillPart, HostPart, ChildPart, RecordPart, WaitPart,
                          AllocatePart, FreePart, MemoryPart, ConditionalPart, SignalPart, AwaitPart>;

CUgraphNodeType type_of(const Part& part);
bool is_single(const Part& part);  // allocates or frees memory, or is conditional

// Whether a node of an executable graph can become `next` (manual, cuGraphExecUpdate, "Limitations").
CUgraphExecUpdateResult may_become(const Part& now, const Part& next);

struct Node;
using NodePtr = std::shared_ptr<Node>;

struct Edge {
  NodePtr from, to;
  EdgeKind kind;
};

struct Node {
  CUgraphNode handle = nullptr;
  u32 local_id = 0;  // not used twice in its graph
  std::weak_ptr<Graph> graph;
  Part part;
  CUgraphNode original = nullptr;  // of a clone's node: the node it is a clone of
};

bool may_be_programmatic(const Node& from, const Node& to);  // an edge between the two

// A program's counted object (cuUserObjectCreate). Graphs and executable graphs hold it for their references; its
// destructor runs, and its handle dies, when the last reference is let go.
struct UserObject {
  ~UserObject();
  CUhostFn destroy = nullptr;
  void* pointer = nullptr;
  CUuserObject handle = nullptr;
};

// What an object's handle leads to: the object, and the program's own references to it.
struct UserObjectEntry {
  std::weak_ptr<UserObject> object;
  std::mutex mutex;  // for the following
  std::shared_ptr<UserObject> own;  // null once `references` is 0
  u32 references = 0;
};

u32 next_graph_id();  // one sequence for graphs and executable graphs

// Everything in a graph is under `mutex`, which is the captures', too.
class Graph : public std::enable_shared_from_this<Graph> {
 public:
  static std::mutex& mutex() { return Capture::mutex(); }

  const u32 id = next_graph_id();
  CUgraph handle = nullptr;
  bool body = false;  // of a conditional node
  CUgraphNode owner = nullptr;  // of a child graph: the node that it is part of
  std::vector<NodePtr> nodes;  // in the order in which they were added
  u32 added = 0;  // so many so far
  std::vector<Edge> edges;
  std::map<std::shared_ptr<UserObject>, u32> objects;
  std::vector<std::shared_ptr<Condition>> conditions;  // made for this graph (cuGraphConditionalHandleCreate)

  // Throws CUDA_ERROR_INVALID_VALUE if one of `after` is not of this graph or is named twice.
  NodePtr add(Part part, const std::vector<NodePtr>& after);
  // Throws CUDA_ERROR_INVALID_VALUE if there is such an edge already, or if its kind cannot be between the two.
  void connect(const NodePtr& from, const NodePtr& to, const EdgeKind& kind = {});
  // False if there is no such edge, or none of that kind if one is given.
  bool disconnect(const NodePtr& from, const NodePtr& to, const std::optional<EdgeKind>& kind);
  void remove(const NodePtr& node);
  bool frees(u64 address) const;  // a node of it does
  std::vector<NodePtr> before(const Node& node) const;
  std::vector<NodePtr> after(const Node& node) const;

  // True if a node, of it or of a child graph, allocates or frees memory or is conditional: such a graph can neither be
  // cloned nor be another's child, and has one executable at a time (manual, cuGraphAddMemAllocNode, CUgraphNodeType).
  bool is_single() const;
  std::weak_ptr<Executable> executable;  // the last one

  // A copy with nodes of its own, child graphs copied too. Throws CUDA_ERROR_NOT_SUPPORTED if it is_single().
  std::shared_ptr<Graph> clone() const;
  // Each node after those it depends on; nothing if they go in a circle.
  std::optional<std::vector<NodePtr>> order() const;
  // Its nodes' handles die, and those of child graphs.
  void close();
};

// Why a graph cannot be instantiated, and by which of its nodes.
struct Culprit {
  CUgraphNode node = nullptr;
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_ERROR;
};

// A graph that can be launched. Its nodes are copies; those of the graph it was made from name them.
class Executable {
 public:
  // Throws CUDA_ERROR_INVALID_VALUE for a graph in a circle, or if a conditional node's body has a node that it may not
  // have; `culprit` then says which.
  Executable(const Graph& graph, u64 flags, Culprit& culprit);

  const u64 flags;
  const u32 id = next_graph_id();
  CUgraphExec handle = nullptr;

  struct Step {
    Part part;
    CUgraphNode source = nullptr;  // the node it was made from
    bool enabled = true;
    std::vector<std::size_t> after;  // indices of steps
    std::vector<std::vector<Step>> bodies;  // of a conditional node
  };

  // The steps of a graph and of its child graphs. Throws as the constructor does.
  static std::vector<Step> steps_of(const Graph& graph, Culprit& culprit);

  TaskPtr launch(Stream& stream);  // the task that ends it
  // Throws CUDA_ERROR_INVALID_VALUE if the graph has no such node.
  Step& step(CUgraphNode source);
  // Gives the steps of a child graph's node the parameters of another graph of the same shape.
  void set_child(CUgraphNode source, const Graph& child);
  // The parameters of another graph of the same shape.
  CUgraphExecUpdateResult update(const Graph& graph, CUgraphNode* culprit, CUgraphNode* culprit_from);
  std::mutex mutex;  // for all of this

 private:
  std::vector<Step> steps_;
  std::map<std::shared_ptr<UserObject>, u32> objects_;
  std::vector<std::shared_ptr<GraphMemoryHold>> memory_;
  // What the launch allocates and frees, as the program sees it. Throws CUDA_ERROR_INVALID_VALUE if something is
  // allocated still; `leftover` gets what the launch has to free first instead, if the flags say so.
  void account_for_memory(std::vector<u64>& leftover);
  TaskPtr last_;  // a graph's launches follow each other
};

Registry<Graph, CUgraph>& graphs();
Registry<Node, CUgraphNode>& graph_nodes();
Registry<Executable, CUgraphExec>& executables();
Registry<UserObjectEntry, CUuserObject>& user_objects();

// Each throws CUDA_ERROR_INVALID_VALUE for an unknown handle.
std::shared_ptr<Graph> get_graph(CUgraph handle);
NodePtr get_node(CUgraphNode handle);
std::shared_ptr<Executable> get_executable(CUgraphExec handle);

// A launch as a node.
KernelPart part_of(const KernelWork& work);
// Where a kernel's parameters begin in KernelPart::parameters, for KernelPart::pointers.
std::vector<void*> parameter_offsets(const Function& function);

// What a part does, as work for a stream of `context`. Throws the error of the corresponding call.
Operation operation_of(const Part& part, const std::shared_ptr<Context>& context, int priority);

}  // namespace cudasim
