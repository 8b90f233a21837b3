// Executable graphs: a graph's nodes in an order in which they can run, and their launch.
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/graphs/graph.hpp"

#include <algorithm>
#include <cstdio>

namespace cudasim {
namespace {

using Steps = std::vector<Executable::Step>;

// Adds the graph's nodes to `steps`; the roots come after `roots_after`. Answers with the steps that nothing comes
// after.
std::vector<std::size_t> append(Steps& steps, const Graph& graph, const std::vector<std::size_t>& roots_after,
                                Culprit& culprit);

bool is_pageable(CUmemorytype type, const void* host, CUdeviceptr device) {
  if (type == CU_MEMORYTYPE_HOST) return AddressSpace::instance().find(reinterpret_cast<u64>(host)) == nullptr;
  return type == CU_MEMORYTYPE_UNIFIED && AddressSpace::instance().find(device) == nullptr;
}

bool is_pageable(const Part& part) {
  const auto* copy = std::get_if<CopyPart>(&part);
  return copy != nullptr && (is_pageable(copy->copy.srcMemoryType, copy->copy.srcHost, copy->copy.srcDevice) ||
                             is_pageable(copy->copy.dstMemoryType, copy->copy.dstHost, copy->copy.dstDevice));
}

// What a conditional node's body may hold: kernels, fills, copies that the device can do alone, child graphs, further
// conditions (CUDA_CONDITIONAL_NODE_PARAMS).
bool may_be_conditional(const Part& part) {
  if (const auto* copy = std::get_if<CopyPart>(&part)) {
    return !is_pageable(part) && copy->copy.srcMemoryType != CU_MEMORYTYPE_ARRAY &&
           copy->copy.dstMemoryType != CU_MEMORYTYPE_ARRAY;
  }
  return std::holds_alternative<KernelPart>(part) || std::holds_alternative<EmptyPart>(part) ||
         std::holds_alternative<ChildPart>(part) || std::holds_alternative<FillPart>(part) ||
         std::holds_alternative<ConditionalPart>(part);
}

void append_body(Steps& steps, const Graph& body, Culprit& culprit) {
  append(steps, body, {}, culprit);
  for (const Executable::Step& step : steps) {
    if (may_be_conditional(step.part)) continue;
    // Driver 580 takes pageable memory for that of another context.
    culprit = {step.source, is_pageable(step.part) ? CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED
                                                   : CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED};
    fail(CUDA_ERROR_INVALID_VALUE);
  }
}

std::vector<std::size_t> append(Steps& steps, const Graph& graph, const std::vector<std::size_t>& roots_after,
                                Culprit& culprit) {
  const auto order = graph.order();
  if (!order) {
    culprit.why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    if (!graph.body) culprit.node = graph.nodes.front()->handle;  // as driver 580
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

// True if each step comes after the one before it: no two could run concurrently.
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

// After so many rounds, a loop counts as endless.
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
    std::fprintf(stderr, "cudasim: the loop of a conditional node was stopped after %llu iterations\n",
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

Steps Executable::steps_of(const Graph& graph, Culprit& culprit) {
  Steps steps;
  append(steps, graph, {}, culprit);
  return steps;
}

Executable::Executable(const Graph& graph, u64 wanted, Culprit& culprit)
    : flags(wanted), steps_(steps_of(graph, culprit)), objects_(graph.objects) {
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

}  // namespace cudasim
