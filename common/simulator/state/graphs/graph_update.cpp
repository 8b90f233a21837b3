// Changing an executable graph: which nodes can become which (CUDA Driver API manual, cuGraphExecUpdate,
// "Limitations").
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/graphs/graph.hpp"
#include "common/simulator/state/modules/library.hpp"

#include <algorithm>

namespace cudasim {
namespace {

// Null if it is not known: then nothing is compared.
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

// Whether both belong to one context and device; memory that is still to be allocated may belong to any.
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
  // One row may become longer or shorter; a box keeps its size.
  const bool flat = a.Height == 1 && a.Depth == 1;
  const bool same_size = a.Height == b.Height && a.Depth == b.Depth && (flat || a.WidthInBytes == b.WidthInBytes);
  return same && same_size ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
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
static CUgraphExecUpdateResult compare(const std::vector<Executable::Step>& now,
                                       const std::vector<Executable::Step>& next, CUgraphNode* culprit) {
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

void Executable::set_child(CUgraphNode source, const Graph& child) {
  const auto found =
      std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) { return step.source == source; });
  require(found != steps_.end() && std::holds_alternative<ChildPart>(found->part));
  const auto first = static_cast<std::size_t>(found - steps_.begin());
  Culprit none;
  const Executable other(child, flags, none);
  constexpr CUresult kOther = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  require(first + 1 + other.steps_.size() <= steps_.size(), kOther);
  for (std::size_t i = 0; i < other.steps_.size(); ++i) {
    require(other.steps_[i].part.index() == steps_[first + 1 + i].part.index(), kOther);
  }
  for (std::size_t i = 0; i < other.steps_.size(); ++i) steps_[first + 1 + i].part = other.steps_[i].part;
}

CUgraphExecUpdateResult Executable::update(const Graph& graph, CUgraphNode* culprit, CUgraphNode* culprit_from) {
  *culprit_from = nullptr;
  std::vector<Step> next;
  Culprit found;
  try {
    next = steps_of(graph, found);
  } catch (const Failure&) {
    *culprit = found.node;
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
