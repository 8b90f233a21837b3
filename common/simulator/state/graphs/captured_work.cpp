#include "common/simulator/state/graphs/captured_work.hpp"

#include <unordered_map>
#include <unordered_set>

namespace cudasim {
namespace {

// The part that an operation would be as a node, from the parameters that the call left with it; nothing if no node can
// do what it does.
std::optional<Part> part_of(const Operation& operation) {
  const void* const kept = operation.parameters.get();
  if (operation.kind == OperationKind::empty) return EmptyPart{};
  if (kept == nullptr) return std::nullopt;
  switch (operation.kind) {
    case OperationKind::kernel: return part_of(*static_cast<const KernelWork*>(kept));
    case OperationKind::copy: return CopyPart{*static_cast<const CUDA_MEMCPY3D*>(kept), nullptr};
    case OperationKind::fill: return FillPart{*static_cast<const CUDA_MEMSET_NODE_PARAMS*>(kept), nullptr};
    case OperationKind::host: return *static_cast<const HostPart*>(kept);
    case OperationKind::memory_operation: return *static_cast<const MemoryPart*>(kept);
    default: return std::nullopt;
  }
}

void add_node(Capture& into, const Stream& stream, Part part) {
  if (into.invalidated) fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  auto& before = into.frontier[&stream];
  std::vector<NodePtr> after;
  for (const Dependency& one : before) after.push_back(one.node);
  const NodePtr node = into.graph->add(std::move(part), after);
  auto edge = into.graph->edges.end() - static_cast<std::ptrdiff_t>(before.size());  // the node's, in this order
  for (const auto& [from, kind] : before) {
    if (may_be_programmatic(*from, *node)) edge->kind = kind;
    ++edge;
  }
  before = {{node, {}}};
}

}  // namespace

void Capture::add(const Stream& stream, const Operation& operation) {
  if (invalidated) fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  auto part = part_of(operation);
  if (!part) {
    invalidated = true;
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  add_node(*this, stream, std::move(*part));
}

bool Capture::joined() const {
  const auto first = origin.lock();
  if (!first) return false;
  std::unordered_map<const Node*, std::vector<const Node*>> before;
  for (const Edge& edge : graph->edges) before[edge.to.get()].push_back(edge.from.get());
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> open;
  for (const auto& [node, kind] : frontier.at(first.get())) open.push_back(node.get());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), before[node].begin(), before[node].end());
  }
  for (const auto& [stream, last] : frontier) {
    for (const auto& [node, kind] : last) {
      if (!reached.contains(node.get())) return false;
    }
  }
  return true;
}

bool add_if_captured(const Stream& stream, const std::function<Part(const Graph&)>& describe) {
  const std::scoped_lock lock(Capture::mutex());
  if (!stream.capture) return false;
  require(!stream.capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  add_node(*stream.capture, stream, describe(*stream.capture->graph));
  return true;
}

void allow_overlap(const Stream& stream) {
  const std::scoped_lock lock(Capture::mutex());
  if (!stream.capture) return;
  for (auto& [node, kind] : stream.capture->frontier[&stream]) {
    if (std::holds_alternative<KernelPart>(node->part))
      kind = {EdgeKind::kProgrammaticPort, 0, EdgeKind::kProgrammatic};
  }
}

}  // namespace cudasim
