#include "common/simulator/state/graph.hpp"

#include "common/simulator/state/allocations.hpp"
#include "common/simulator/state/driver.hpp"
#include "common/simulator/state/library.hpp"
#include "common/simulator/state/memory_operations.hpp"
#include "common/simulator/state/transfer.hpp"

#include <algorithm>
#include <cstdio>

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

std::mutex& Graph::mutex() {
  static std::mutex& only = *new std::mutex;
  return only;
}

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

// Allocates or frees memory, or is conditional.
static bool is_single(const Part& part) {
  return std::holds_alternative<AllocatePart>(part) || std::holds_alternative<FreePart>(part) ||
         std::holds_alternative<ConditionalPart>(part);
}

bool Graph::is_single() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const NodePtr& node) { return cudasim::is_single(node->part); });
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

// ---- What nodes do

namespace {

std::shared_ptr<Context> context_or(CUcontext named, const std::shared_ptr<Context>& other) {
  return named != nullptr ? get_context(named) : other;
}

Operation kernel_work(const KernelPart& part, const std::shared_ptr<Context>& context, int priority) {
  const auto home = context_or(part.context, context);
  const auto function = part.function != nullptr ? get_function_or_kernel(part.function, home)
                                                 : function_of(*library_kernels().get(part.kernel), home);
  LaunchShape shape = part.shape;
  shape.priority = std::min(shape.priority, priority);
  require_shape(*function, shape);
  return kernel_operation(function, shape, part.parameters);
}

// The address was chosen when the node was made; the memory comes with each launch.
Operation allocate_work(const AllocatePart& part, const std::shared_ptr<Context>& context) {
  Operation work;
  work.kind = OperationKind::allocation;
  work.label = "graph memory allocation";
  work.run = [part, context_id = context->id] {
    Device& device = device_at(part.device);
    auto share = std::make_shared<Share>(device, part.bytes);
    auto bytes = std::make_shared<HostBytes>(part.bytes);
    auto allocation = std::make_shared<Allocation>();
    allocation->base = part.address;
    allocation->size = part.bytes;
    allocation->host = bytes->get();
    allocation->kind = MemoryKind::pool;
    allocation->context = context_id;
    allocation->device = static_cast<u32>(device.ordinal);
    allocation->label = "cuGraphAddMemAllocNode";
    allocation->keep = std::make_shared<std::pair<std::shared_ptr<Share>, std::shared_ptr<HostBytes>>>(share, bytes);
    return AddressSpace::instance().enter(allocation) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  return work;
}

Operation free_work(const FreePart& part) {
  Operation work;
  work.kind = OperationKind::allocation;
  work.label = "graph memory free";
  work.run = [address = part.address] {
    return AddressSpace::instance().release(address, "cuGraphAddMemFreeNode") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  return work;
}

template <class Make>
Operation later(OperationKind kind, const char* label, Make make) {
  Operation work;
  work.kind = kind;
  work.label = label;
  work.run = [make] {
    Operation made;
    try {
      made = make();
    } catch (const Failure&) {
      return CUDA_ERROR_ILLEGAL_ADDRESS;  // it was there when the graph was built
    }
    return made.run ? made.run() : CUDA_SUCCESS;
  };
  return work;
}

struct Work {
  const std::shared_ptr<Context>& context;
  int priority;
  Operation operator()(const EmptyPart&) const { return {}; }
  Operation operator()(const KernelPart& part) const { return kernel_work(part, context, priority); }
  // The memory may come with the launch: it is looked for when the node runs.
  Operation operator()(const CopyPart& part) const {
    Operation work =
        later(OperationKind::copy, "graph copy", [part] { return make_copy(part.copy, "graph copy").operation; });
    work.bytes = part.copy.WidthInBytes * part.copy.Height * part.copy.Depth;
    return work;
  }
  Operation operator()(const FillPart& part) const {
    Operation work =
        later(OperationKind::fill, "graph fill", [part] { return make_fill(part.fill, "graph fill").operation; });
    work.bytes = u64{part.fill.elementSize} * part.fill.width * part.fill.height;
    return work;
  }
  Operation operator()(const HostPart& part) const {
    Operation call;
    call.kind = OperationKind::host;
    call.label = "graph host function";
    call.run = [part] {
      part.function(part.data);
      return CUDA_SUCCESS;
    };
    return call;
  }
  Operation operator()(const ChildPart&) const { return {}; }
  Operation operator()(const SignalPart&) const { return {}; }
  Operation operator()(const AwaitPart&) const { return {}; }
  Operation operator()(const RecordPart&) const { return {}; }
  Operation operator()(const WaitPart&) const { return {}; }
  Operation operator()(const AllocatePart& part) const { return allocate_work(part, context); }
  Operation operator()(const FreePart& part) const { return free_work(part); }
  Operation operator()(const ConditionalPart&) const { return {}; }  // Executable::work_of
  Operation operator()(const MemoryPart& part) const {
    std::vector<Operation> operations;
    for (const CUstreamBatchMemOpParams& given : part.operations) {
      operations.push_back(memory_operation(given, context->health));
    }
    Operation all;
    all.kind = OperationKind::memory_operation;
    all.label = "graph memory operations";
    all.run = [operations = std::move(operations)] {
      for (const Operation& operation : operations) {
        const CUresult result = operation.run ? operation.run() : CUDA_SUCCESS;
        if (result != CUDA_SUCCESS) return result;
      }
      return CUDA_SUCCESS;
    };
    return all;
  }
};

}  // namespace

Operation operation_of(const Part& part, const std::shared_ptr<Context>& context, int priority) {
  return std::visit(Work{context, priority}, part);
}

// ---- Executable graphs

namespace {

using Steps = std::vector<Executable::Step>;

// Adds the graph's nodes to `steps`; the roots come after `roots_after`. Answers with the steps that nothing comes
// after.
std::vector<std::size_t> append(Steps& steps, const Graph& graph, const std::vector<std::size_t>& roots_after,
                                CUgraphNode* culprit);

bool is_pageable(CUmemorytype type, const void* host, CUdeviceptr device) {
  if (type == CU_MEMORYTYPE_HOST) return AddressSpace::instance().find(reinterpret_cast<u64>(host)) == nullptr;
  return type == CU_MEMORYTYPE_UNIFIED && AddressSpace::instance().find(device) == nullptr;
}

// What a conditional node's body may hold: kernels, fills, copies that the device can do alone, child graphs, further
// conditions (CUDA_CONDITIONAL_NODE_PARAMS).
bool may_be_conditional(const Part& part) {
  if (const auto* copy = std::get_if<CopyPart>(&part)) {
    const CUDA_MEMCPY3D& c = copy->copy;
    return !is_pageable(c.srcMemoryType, c.srcHost, c.srcDevice) &&
           !is_pageable(c.dstMemoryType, c.dstHost, c.dstDevice);
  }
  return std::holds_alternative<KernelPart>(part) || std::holds_alternative<EmptyPart>(part) ||
         std::holds_alternative<ChildPart>(part) || std::holds_alternative<FillPart>(part) ||
         std::holds_alternative<ConditionalPart>(part);
}

void append_body(Steps& steps, const Graph& body, CUgraphNode* culprit) {
  append(steps, body, {}, culprit);
  for (const Executable::Step& step : steps) {
    if (may_be_conditional(step.part)) continue;
    if (culprit != nullptr) *culprit = step.source;
    fail(CUDA_ERROR_INVALID_VALUE);
  }
}

std::vector<std::size_t> append(Steps& steps, const Graph& graph, const std::vector<std::size_t>& roots_after,
                                CUgraphNode* culprit) {
  const auto order = graph.order();
  if (!order) {
    if (culprit != nullptr && !graph.nodes.empty()) *culprit = graph.nodes.front()->handle;
    fail(CUDA_ERROR_INVALID_VALUE);
  }
  std::map<const Node*, std::vector<const Node*>> before;
  for (const Edge& edge : graph.edges) before[edge.to.get()].push_back(edge.from.get());
  std::map<const Node*, std::vector<std::size_t>> ends;  // the steps that must be done before what follows a node
  std::map<std::size_t, bool> followed;
  for (const NodePtr& node : *order) {
    std::vector<std::size_t> after;
    for (const Node* earlier : before[node.get()]) {
      for (const std::size_t end : ends[earlier]) {
        after.push_back(end);
        followed[end] = true;
      }
    }
    if (after.empty()) after = roots_after;
    const std::size_t index = steps.size();
    steps.push_back({node->part, node->handle, true, std::move(after), {}});
    ends[node.get()] = {index};
    if (const auto* child = std::get_if<ChildPart>(&node->part)) {
      auto inside = append(steps, *child->graph, {index}, culprit);
      if (!inside.empty()) ends[node.get()] = std::move(inside);
    } else if (const auto* conditional = std::get_if<ConditionalPart>(&node->part)) {
      for (const auto& body : conditional->bodies) append_body(steps[index].bodies.emplace_back(), *body, culprit);
    }
  }
  std::vector<std::size_t> last;
  for (const NodePtr& node : *order) {
    for (const std::size_t end : ends[node.get()]) {
      if (!followed[end]) last.push_back(end);
    }
  }
  return last;
}

Executable::Step* find_step(Steps& steps, CUgraphNode source) {
  for (Executable::Step& step : steps) {
    if (step.source == source) return &step;
    for (Steps& body : step.bodies) {
      if (auto* found = find_step(body, source)) return found;
    }
  }
  return nullptr;
}

void assign_conditions(const Steps& steps) {
  for (const Executable::Step& step : steps) {
    const auto* conditional = std::get_if<ConditionalPart>(&step.part);
    if (conditional == nullptr) continue;
    if (conditional->condition->assigned) conditional->condition->value = conditional->condition->initial;
    for (const Steps& body : step.bodies) assign_conditions(body);
  }
}

Operation work_of(const Executable::Step& step, const std::shared_ptr<Context>& context, int priority);

// True if each step comes after the one before it: nothing could run side by side.
bool is_chain(const Steps& steps) {
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto& after = steps[i].after;
    if (std::find(after.begin(), after.end(), i - 1) == after.end()) return false;
  }
  return true;
}

CUresult run_side_by_side(const Steps& steps, const std::shared_ptr<Context>& context, int priority) {
  std::vector<TaskPtr> tasks;
  for (const Executable::Step& step : steps) {
    std::vector<TaskPtr> after;
    for (const std::size_t index : step.after) after.push_back(tasks[index]);
    Operation work = step.enabled ? work_of(step, context, priority) : Operation{};
    tasks.push_back(Scheduler::instance().enter(context->health, std::move(work), priority, after));
  }
  for (const TaskPtr& task : tasks) task->wait();
  return context->health->fault;
}

// A conditional node's body, to its end. A chain of steps runs on the calling thread.
CUresult run_body(const Steps& steps, const std::shared_ptr<Context>& context, int priority) {
  if (!is_chain(steps)) return run_side_by_side(steps, context, priority);
  for (const Executable::Step& step : steps) {
    const Operation work = step.enabled ? work_of(step, context, priority) : Operation{};
    const CUresult result = work.run ? work.run() : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

// A loop whose condition nothing ever sets to zero, as far as anybody cares to wait.
constexpr u64 kMostRounds = 20'000'000;

CUresult run_conditional(const Executable::Step& step, const std::weak_ptr<Context>& weak, const Health& health,
                         int priority) {
  const auto& part = std::get<ConditionalPart>(step.part);
  const auto run = [&](u32 index) {
    const auto context = weak.lock();
    if (!context || health.ending) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return index < step.bodies.size() ? run_body(step.bodies[index], context, priority) : CUDA_SUCCESS;
  };
  if (part.choice == Choice::one_of) return run(part.condition->value);
  if (part.choice == Choice::if_else) return run(part.condition->value != 0 ? 0 : 1);
  for (u64 round = 0; part.condition->value != 0; ++round) {
    if (const CUresult result = run(0); result != CUDA_SUCCESS) return result;
    if (round < kMostRounds) continue;
    std::fprintf(stderr, "cudasim: the loop of a conditional node went round %llu times and was stopped\n",
                 static_cast<unsigned long long>(round));
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  }
  return CUDA_SUCCESS;
}

// A step's work; of a conditional node, what it does when it is its turn.
Operation work_of(const Executable::Step& step, const std::shared_ptr<Context>& context, int priority) {
  if (!std::holds_alternative<ConditionalPart>(step.part)) return operation_of(step.part, context, priority);
  Operation work;
  work.kind = OperationKind::kernel;
  work.label = "conditional node";
  work.run = [step, weak = std::weak_ptr<Context>(context), health = context->health, priority] {
    return run_conditional(step, weak, *health, priority);
  };
  return work;
}

}  // namespace

namespace {

// A condition that was made for this graph must not be another's: its launches would assign the default.
void require_own_conditions(const Graph& graph, const Steps& steps) {
  std::vector<const Condition*> own;
  const auto collect = [&](const auto& self, const Steps& all) -> void {
    for (const Executable::Step& step : all) {
      if (const auto* part = std::get_if<ConditionalPart>(&step.part)) own.push_back(part->condition.get());
      for (const Steps& body : step.bodies) self(self, body);
    }
  };
  collect(collect, steps);
  for (const auto& condition : graph.conditions) {
    require(!condition->used || std::find(own.begin(), own.end(), condition.get()) != own.end());
  }
}

// One hold for each device that allocation nodes are on.
std::vector<std::shared_ptr<GraphMemoryHold>> hold_memory(const Steps& steps) {
  std::map<CUdevice, std::pair<std::vector<u64>, u64>> by_device;
  for (const Executable::Step& step : steps) {
    const auto* part = std::get_if<AllocatePart>(&step.part);
    if (part == nullptr) continue;
    auto& [addresses, bytes] = by_device[part->device];
    addresses.push_back(part->address);
    bytes += part->bytes;
  }
  std::vector<std::shared_ptr<GraphMemoryHold>> holds;
  for (auto& [device, memory] : by_device) {
    holds.push_back(hold_graph_memory(device_at(device), std::move(memory.first), memory.second));
  }
  return holds;
}

}  // namespace

Executable::Executable(const Graph& graph, u64 wanted, CUgraphNode* culprit) : flags(wanted), objects_(graph.objects) {
  append(steps_, graph, {}, culprit);
  require_own_conditions(graph, steps_);
  memory_ = hold_memory(steps_);
}

Executable::Step& Executable::step(CUgraphNode source) {
  Step* found = find_step(steps_, source);
  require(found != nullptr);
  return *found;
}

void Executable::account_for_memory(std::vector<u64>& leftover) {
  const bool frees = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  for (const Step& step : steps_) {
    const auto* part = std::get_if<AllocatePart>(&step.part);
    if (part == nullptr || !graph_memory_allocated(part->address)) continue;
    require(frees);
    leftover.push_back(part->address);
  }
  for (const Step& step : steps_) {
    if (const auto* part = std::get_if<AllocatePart>(&step.part)) set_graph_memory_allocated(part->address, true);
    if (const auto* part = std::get_if<FreePart>(&step.part)) set_graph_memory_allocated(part->address, false);
  }
  for (const auto& hold : memory_) hold->take();
}

TaskPtr Executable::launch(Stream& stream) {
  const auto context = stream.context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const std::scoped_lock lock(mutex);
  // What can be wrong is found before anything is entered.
  std::vector<Operation> work;
  for (const Step& step : steps_) work.push_back(step.enabled ? work_of(step, context, stream.priority) : Operation{});
  std::vector<u64> leftover;
  account_for_memory(leftover);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto* memory = std::get_if<AllocatePart>(&steps_[i].part);
    if (memory == nullptr || std::find(leftover.begin(), leftover.end(), memory->address) == leftover.end()) continue;
    work[i].run = [address = memory->address, run = std::move(work[i].run)] {
      AddressSpace::instance().release(address, "cuGraphLaunch");
      return run();
    };
  }
  last_ = stream.enqueue_group([&](std::vector<TaskPtr> before) {
    Scheduler& scheduler = Scheduler::instance();
    before.push_back(last_);
    Operation begin;
    const auto conditional = [](const Step& step) { return !step.bodies.empty(); };
    if (std::any_of(steps_.begin(), steps_.end(), conditional)) {
      begin.run = [steps = steps_] {
        assign_conditions(steps);
        return CUDA_SUCCESS;
      };
    }
    const TaskPtr head = scheduler.enter(stream.health, std::move(begin), stream.priority, before);
    std::vector<TaskPtr> tasks;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      std::vector<TaskPtr> after{head};
      for (const std::size_t index : steps_[i].after) after.push_back(tasks[index]);
      const auto enter = [&](Operation operation) {
        operation.stream = stream.id;
        return scheduler.enter(stream.health, std::move(operation), stream.priority, after);
      };
      const auto* record = std::get_if<RecordPart>(&steps_[i].part);
      const auto* wait = std::get_if<WaitPart>(&steps_[i].part);
      const auto event = record != nullptr ? events().find(record->event)
                         : wait != nullptr ? events().find(wait->event)
                                           : nullptr;
      if (record != nullptr && event && steps_[i].enabled) {
        tasks.push_back(event->record(enter));
        continue;
      }
      if (wait != nullptr && event) after.push_back(event->awaited());
      tasks.push_back(enter(std::move(work[i])));
    }
    tasks.push_back(head);
    return scheduler.enter(stream.health, {}, stream.priority, tasks);
  });
  return last_;
}

std::shared_ptr<Graph> Executable::as_graph() {
  for (const Step& step : steps_) {
    require(!is_single(step.part), CUDA_ERROR_NOT_SUPPORTED);
  }
  auto graph = std::make_shared<Graph>();
  graph->handle = graphs().add(graph);
  std::vector<NodePtr> nodes;
  for (const Step& step : steps_) {
    std::vector<NodePtr> after;
    for (const std::size_t index : step.after) after.push_back(nodes[index]);
    // What a child graph does follows in steps of its own.
    const bool idle = !step.enabled || std::holds_alternative<ChildPart>(step.part);
    nodes.push_back(graph->add(idle ? Part{EmptyPart{}} : step.part, after));
  }
  return graph;
}

void Executable::set_child(CUgraphNode source, const Graph& child) {
  const auto found =
      std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) { return step.source == source; });
  require(found != steps_.end() && std::holds_alternative<ChildPart>(found->part));
  const auto first = static_cast<std::size_t>(found - steps_.begin());
  const Executable other(child, flags, nullptr);
  constexpr CUresult kOther = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  require(first + 1 + other.steps_.size() <= steps_.size(), kOther);
  for (std::size_t i = 0; i < other.steps_.size(); ++i) {
    require(other.steps_[i].part.index() == steps_[first + 1 + i].part.index(), kOther);
  }
  for (std::size_t i = 0; i < other.steps_.size(); ++i) steps_[first + 1 + i].part = other.steps_[i].part;
}

namespace {

// Null if nobody can say: then nothing is compared.
std::shared_ptr<Context> home_of(const KernelPart& part) {
  if (part.context != nullptr) return find_context(part.context);
  const auto function = functions().find(part.function);
  return function ? function->context.lock() : nullptr;
}

CUgraphExecUpdateResult may_become(const KernelPart& now, const KernelPart& next) {
  const auto home = home_of(now), next_home = home_of(next);
  if (home && next_home && home != next_home) return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  return now.shape.cooperative == next.shape.cooperative ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                         : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

// Of one context and device; memory that is not there yet can be any.
bool are_neighbours(u64 address, u64 next_address) {
  const auto now = AddressSpace::instance().find(address), next = AddressSpace::instance().find(next_address);
  if (!now || !next) return true;
  return now->device == next->device && (now->context == 0 || next->context == 0 || now->context == next->context);
}

CUgraphExecUpdateResult may_become(const CopyPart& now, const CopyPart& next) {
  const CUDA_MEMCPY3D &a = now.copy, &b = next.copy;
  const bool same = a.srcMemoryType == b.srcMemoryType && a.dstMemoryType == b.dstMemoryType &&
                    (a.srcMemoryType == CU_MEMORYTYPE_HOST || are_neighbours(a.srcDevice, b.srcDevice)) &&
                    (a.dstMemoryType == CU_MEMORYTYPE_HOST || are_neighbours(a.dstDevice, b.dstDevice));
  return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

CUgraphExecUpdateResult may_become(const FillPart& now, const FillPart& next) {
  const CUDA_MEMSET_NODE_PARAMS &a = now.fill, &b = next.fill;
  const bool flat = a.height == 1;
  const bool same_size =
      a.height == b.height && (flat || (a.width == b.width && a.elementSize == b.elementSize && a.pitch == b.pitch));
  return same_size && are_neighbours(a.dst, b.dst) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                   : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

// What stays of an operation that gets another value or address, or is waited for in another way.
std::pair<unsigned, unsigned> unchanging(const CUstreamBatchMemOpParams& given) {
  switch (given.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return {given.operation, given.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH};
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return {given.operation, given.writeValue.flags};
    default: return {given.operation, given.memoryBarrier.flags};
  }
}

CUgraphExecUpdateResult may_become(const MemoryPart& now, const MemoryPart& next) {
  const bool same =
      now.context == next.context && std::ranges::equal(now.operations, next.operations, {}, unchanging, unchanging);
  return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

template <class T>
CUgraphExecUpdateResult may_become(const T&, const T&) {
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

}  // namespace

CUgraphExecUpdateResult may_become(const Part& now, const Part& next) {
  if (now.index() != next.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  return std::visit(
      [&]<class T>(const T& part) -> CUgraphExecUpdateResult { return may_become(part, std::get<T>(next)); }, now);
}

// Whether `next` could take the place of `now`, step by step; `culprit` is then the first that could not.
static CUgraphExecUpdateResult compare(const Steps& now, const Steps& next, CUgraphNode* culprit) {
  if (next.size() != now.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (std::size_t i = 0; i < now.size(); ++i) {
    *culprit = next[i].source;
    if (const auto result = may_become(now[i].part, next[i].part); result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
      return result;
    if (next[i].after != now[i].after) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (next[i].bodies.size() != now[i].bodies.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    for (std::size_t body = 0; body < now[i].bodies.size(); ++body) {
      const auto result = compare(now[i].bodies[body], next[i].bodies[body], culprit);
      if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return result;
    }
  }
  *culprit = nullptr;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUgraphExecUpdateResult Executable::update(const Graph& graph, CUgraphNode* culprit, CUgraphNode* culprit_from) {
  *culprit_from = nullptr;
  Steps next;
  try {
    append(next, graph, {}, culprit);
  } catch (const Failure&) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  const CUgraphExecUpdateResult result = compare(steps_, next, culprit);
  if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return result;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].part = std::move(next[i].part);
    steps_[i].bodies = std::move(next[i].bodies);
  }
  return result;
}

}  // namespace cudasim
