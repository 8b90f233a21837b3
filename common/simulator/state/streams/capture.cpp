#include "common/simulator/state/streams/capture.hpp"

#include "common/simulator/state/streams/thread.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace cudasim {
namespace {

u64 next_capture_id() {
  static std::atomic<u64> id{1};
  return id++;
}

// Those under way; under Graph::mutex(). How many can be asked without it.
std::vector<std::weak_ptr<Capture>>& under_way() {
  static auto& all = *new std::vector<std::weak_ptr<Capture>>;
  return all;
}
std::atomic<std::size_t> under_way_count{0};

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

}  // namespace

Capture::Capture(std::shared_ptr<Graph> into, CUstreamCaptureMode how, const std::shared_ptr<Stream>& first, u32 number)
    : graph(std::move(into)), mode(how), origin(first), thread(number), id(next_capture_id()) {}

void Capture::join(const std::shared_ptr<Stream>& stream, const std::vector<Dependency>& after) {
  if (!frontier.contains(stream.get())) streams.push_back(stream);
  auto& known = frontier[stream.get()];
  for (const Dependency& one : after) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& d) { return d.node == one.node; });
    if (same == known.end())
      known.push_back(one);
    else if (same->kind != one.kind)
      same->kind = {};  // the stricter of the two
  }
  stream->capture = shared_from_this();
}

void Capture::add(const Stream& stream, const Operation& operation) {
  if (invalidated) fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  auto part = part_of(operation);
  if (!part) {
    invalidated = true;
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  add(stream, std::move(*part));
}

void Capture::add(const Stream& stream, Part part) {
  if (invalidated) fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  auto& before = frontier[&stream];
  std::vector<NodePtr> after;
  for (const Dependency& one : before) after.push_back(one.node);
  const NodePtr node = graph->add(std::move(part), after);
  auto edge = graph->edges.end() - static_cast<std::ptrdiff_t>(before.size());  // the node's, in this order
  for (const auto& [from, kind] : before) {
    if (may_be_programmatic(*from, *node)) edge->kind = kind;
    ++edge;
  }
  before = {{node, {}}};
}

void Capture::begin() {
  for (const auto& weak : under_way()) {  // two into one graph: as driver 580
    const auto other = weak.lock();
    require(!other || other->graph != graph, CUDA_ERROR_ILLEGAL_STATE);
  }
  under_way().push_back(weak_from_this());
  under_way_count = under_way().size();
}

void Capture::end() {
  ended = true;
  std::erase_if(under_way(), [&](const auto& weak) { return weak.expired() || weak.lock().get() == this; });
  under_way_count = under_way().size();
  for (const auto& weak : streams) {
    if (const auto stream = weak.lock()) stream->capture.reset();
  }
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

std::shared_ptr<Capture> capture_of(const Stream& stream) {
  const std::scoped_lock lock(Graph::mutex());
  return stream.capture;
}

bool add_if_captured(const Stream& stream, const std::function<Part(const Graph&)>& describe) {
  const std::scoped_lock lock(Graph::mutex());
  if (!stream.capture) return false;
  require(!stream.capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  stream.capture->add(stream, describe(*stream.capture->graph));
  return true;
}

void invalidate_capture(const Stream& stream) {
  const std::scoped_lock lock(Graph::mutex());
  if (stream.capture) stream.capture->invalidated = true;
}

void allow_overlap(const Stream& stream) {
  const std::scoped_lock lock(Graph::mutex());
  if (!stream.capture) return;
  for (auto& [node, kind] : stream.capture->frontier[&stream]) {
    if (std::holds_alternative<KernelPart>(node->part))
      kind = {EdgeKind::kProgrammaticPort, 0, EdgeKind::kProgrammatic};
  }
}

void require_not_captured(const Stream& stream) {
  const std::scoped_lock lock(Graph::mutex());
  if (!stream.capture) return;
  stream.capture->invalidated = true;
  fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured: it has no work to wait for or query");
}

void require_no_implicit_capture(const Stream& stream, Use use) {
  const auto context = stream.context.lock();
  if (!stream.legacy || !context) return;
  const std::scoped_lock order(context->order);
  const std::scoped_lock lock(Graph::mutex());
  bool any = false;
  context->for_each_stream([&](Stream& other) {
    if (!other.blocking() || !other.capture) return;
    if (use == Use::work) other.capture->invalidated = true;
    any = true;
  });
  if (any) fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

void require_no_unsafe_capture() {
  if (under_way_count == 0) return;
  const Thread& thread = this_thread();
  if (thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  const bool minds_others = thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  const std::scoped_lock lock(Graph::mutex());
  bool any = false;
  for (const auto& weak : under_way()) {
    const auto capture = weak.lock();
    if (!capture) continue;
    const bool own = capture->thread == thread.number && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    if (!own && !(minds_others && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL)) continue;
    capture->invalidated = true;
    any = true;
  }
  if (any)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         "a stream is being captured, and this call cannot be part of the graph");
}

void require_no_capture(Context& context) {
  const std::scoped_lock order(context.order);
  const std::scoped_lock lock(Graph::mutex());
  bool any = false;
  context.for_each_stream([&](Stream& stream) {
    if (!stream.capture) return;
    stream.capture->invalidated = true;
    any = true;
  });
  if (any)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         "a stream is being captured, and this call cannot be part of the graph");
}

}  // namespace cudasim
