#include "common/simulator/api/graph_parts.hpp"

#include <algorithm>

#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/memory/transfer.hpp"
#include "common/simulator/state/modules/library.hpp"
#include "common/simulator/state/streams/memory_operations.hpp"

namespace cudasim {
namespace {

// Copies the kernel's parameters, which the program may change once the node is made. The oldest structure has no
// `kern`.
template <class Parameters>
Part make_kernel_part(const Parameters* parameters) {
  require(parameters != nullptr);
  KernelPart part;
  part.function = parameters->func;
  part.shape.grid = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
  part.shape.block = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
  part.shape.dynamic_shared = parameters->sharedMemBytes;
  std::shared_ptr<Function> function;
  if (part.function != nullptr) {  // `kern` and `ctx` are ignored, whatever they hold
    function = get_function(part.function);  // not a CUkernel: driver 580 takes that from cuLaunchKernel only
  } else if constexpr (requires { parameters->kern; }) {
    part.kernel = parameters->kern;
    require(part.kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
    const auto home = parameters->ctx != nullptr ? get_context(parameters->ctx) : current_context();
    part.context = home->handle;
    function = function_of(*library_kernels().get(part.kernel), home);
  } else {
    fail(CUDA_ERROR_INVALID_HANDLE);
  }
  resolve_shape(*function, part.shape);  // throws for one that the kernel cannot have
  part.parameters = gather_parameters(*function, parameters->kernelParams, parameters->extra);
  part.pointers = parameter_offsets(*function);  // describe() makes addresses of them
  return part;
}

template <class Parameters>
void describe_kernel(KernelPart& part, Parameters* out) {
  require(out != nullptr);
  *out = {};
  out->func = part.function != nullptr
                  ? part.function
                  : function_of(*library_kernels().get(part.kernel), get_context(part.context))->handle;
  out->gridDimX = part.shape.grid.x;
  out->gridDimY = part.shape.grid.y;
  out->gridDimZ = part.shape.grid.z;
  out->blockDimX = part.shape.block.x;
  out->blockDimY = part.shape.block.y;
  out->blockDimZ = part.shape.block.z;
  out->sharedMemBytes = part.shape.dynamic_shared;
  // Offsets are smaller than the buffer; anything else is an address from an earlier call, perhaps of a copied part.
  const auto begin = reinterpret_cast<std::uintptr_t>(part.parameters.data());
  if (part.shown_at != begin) {
    for (void*& pointer : part.pointers) {
      pointer = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(pointer) - part.shown_at + begin);
    }
    part.shown_at = begin;
  }
  out->kernelParams = part.pointers.empty() ? nullptr : part.pointers.data();
  if constexpr (requires { out->kern; }) {
    out->kern = part.kernel;
    out->ctx = part.context;
    const auto function = functions().find(part.function);
    if (const auto context = function ? function->context.lock() : nullptr) out->ctx = context->handle;
  }
}

template <class Parameters>
Part make_allocate_part(Parameters* parameters) {
  require(parameters != nullptr && parameters->bytesize != 0);
  const CUmemPoolProps& properties = parameters->poolProps;
  require(properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED && properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE);
  require(properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  require(parameters->accessDescCount == 0 || parameters->accessDescs != nullptr);
  AllocatePart part;
  part.properties = properties;
  part.device = device_at(properties.location.id).ordinal;
  part.bytes = parameters->bytesize;
  part.access.assign(parameters->accessDescs, parameters->accessDescs + parameters->accessDescCount);
  part.address = reserve_graph_memory(part.bytes);
  parameters->dptr = part.address;
  return part;
}

template <class Parameters>
void describe_allocation(const AllocatePart& part, Parameters& out) {
  out.poolProps = part.properties;
  out.accessDescs = part.access.empty() ? nullptr : part.access.data();
  out.accessDescCount = part.access.size();
  out.bytesize = part.bytes;
  out.dptr = part.address;
}

void require_no_semaphores(unsigned count, const CUexternalSemaphore* semaphores, const void* parameters) {
  if (count == 0) return;
  require(semaphores != nullptr && parameters != nullptr);
  fail(CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace

EdgeKind kind_of(const EdgeData* data, std::size_t i) {
  if (data == nullptr) return {};
  const EdgeData& said = data[i];
  require(said.type <= 1 && said.to_port == 0 && said.from_port <= (said.type == 0 ? 0 : 2));
  require(std::all_of(std::begin(said.reserved), std::end(said.reserved), [](u8 byte) { return byte == 0; }));
  return {said.from_port, said.to_port, said.type};
}

std::vector<NodePtr> nodes_of(const CUgraphNode* handles, std::size_t count) {
  require(count == 0 || handles != nullptr);
  std::vector<NodePtr> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(get_node(handles[i]));
  return nodes;
}

Part kernel_part(const CUDA_KERNEL_NODE_PARAMS_v1* parameters) { return make_kernel_part(parameters); }
Part kernel_part(const CUDA_KERNEL_NODE_PARAMS_v2* parameters) { return make_kernel_part(parameters); }

void describe(KernelPart& part, CUDA_KERNEL_NODE_PARAMS_v1* out) { describe_kernel(part, out); }
void describe(KernelPart& part, CUDA_KERNEL_NODE_PARAMS_v2* out) { describe_kernel(part, out); }

Part copy_part(const CUDA_MEMCPY3D* copy, CUcontext context) {
  require(copy != nullptr && copy->WidthInBytes != 0 && copy->Height != 0 && copy->Depth != 0);
  if (context != nullptr) get_context(context);
  const bool yet_to_come = is_graph_memory(copy->srcDevice) || is_graph_memory(copy->dstDevice);
  if (!yet_to_come) make_copy(*copy, "graph copy");  // checks the arguments
  return CopyPart{*copy, context};
}

Part fill_part(const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext context) {
  require(fill != nullptr && fill->width != 0 && fill->height != 0 && (fill->height == 1 || fill->pitch != 0));
  if (context != nullptr) get_context(context);
  if (!is_graph_memory(fill->dst)) make_fill(*fill, "graph fill");
  return FillPart{*fill, context};
}

Part host_part(const CUDA_HOST_NODE_PARAMS* host) {
  require(host != nullptr && host->fn != nullptr);
  return HostPart{host->fn, host->userData};
}

Part child_part(CUgraph graph) {
  const auto child = get_graph(graph);
  const std::scoped_lock lock(Graph::mutex());
  return ChildPart{child->clone()};
}

Part record_part(CUevent event) {
  require(event != nullptr);
  events().get(event);
  return RecordPart{event};
}

Part wait_part(CUevent event) {
  require(event != nullptr);
  events().get(event);
  return WaitPart{event};
}

Part allocate_part(CUDA_MEM_ALLOC_NODE_PARAMS* parameters) { return make_allocate_part(parameters); }

void describe(const AllocatePart& part, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  require(out != nullptr);
  describe_allocation(part, *out);
}

Part free_part(CUdeviceptr pointer) {
  require(is_graph_memory(pointer));
  return FreePart{pointer};
}

Part memory_part(const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  require(parameters != nullptr && parameters->ctx != nullptr);
  require(parameters->count < kBatchLimit && parameters->flags == 0);
  require(parameters->count == 0 || parameters->paramArray != nullptr);
  MemoryPart part;
  part.context = parameters->ctx;
  part.operations.assign(parameters->paramArray, parameters->paramArray + parameters->count);
  const auto context = get_context(part.context);
  for (const CUstreamBatchMemOpParams& given : part.operations) memory_operation(given, context->health);
  return part;
}

void describe(MemoryPart& part, CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  require(out != nullptr);
  out->ctx = part.context;
  out->count = static_cast<unsigned>(part.operations.size());
  out->paramArray = part.operations.data();
  out->flags = 0;
}

Part signal_part(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* parameters) {
  require(parameters != nullptr);
  require_no_semaphores(parameters->numExtSems, parameters->extSemArray, parameters->paramsArray);
  return SignalPart{};
}

Part await_part(const CUDA_EXT_SEM_WAIT_NODE_PARAMS* parameters) {
  require(parameters != nullptr);
  require_no_semaphores(parameters->numExtSems, parameters->extSemArray, parameters->paramsArray);
  return AwaitPart{};
}

#if CUDA_VERSION >= 12030
namespace {

constexpr unsigned kMostBodies = 1 << 16;

Part any_fill_part(const CUDA_MEMSET_NODE_PARAMS_v2& given) {
  const CUDA_MEMSET_NODE_PARAMS fill{given.dst, given.pitch, given.value, given.elementSize, given.width, given.height};
  return fill_part(&fill, given.ctx);
}

// The node uses a condition that was made for its graph or for an enclosing one, and that no other node uses. Its
// bodies begin as empty graphs, whose handles the program receives.
Part conditional_part(CUDA_CONDITIONAL_NODE_PARAMS& given) {
  const auto choice = static_cast<Choice>(given.type);
  const bool right_size = choice == Choice::loop      ? given.size == 1
                          : choice == Choice::if_else ? given.size == 1 || given.size == 2
                                                      : choice == Choice::one_of && given.size != 0;
  require(right_size && given.size <= kMostBodies);
  get_context(given.ctx);
  ConditionalPart part;
  part.choice = choice;
  part.context = given.ctx;
  const std::scoped_lock lock(Graph::mutex());
  part.condition = find_condition(given.handle);
  require(part.condition != nullptr && !part.condition->used);
  part.condition->used = true;
  part.handles = std::make_shared<std::vector<CUgraph>>();
  for (unsigned i = 0; i < given.size; ++i) {
    const auto body = std::make_shared<Graph>();
    body->handle = graphs().add(body);
    body->body = true;
    part.bodies.push_back(body);
    part.handles->push_back(body->handle);
  }
  given.phGraph_out = part.handles->data();
  return part;
}

}  // namespace

Part part_of(CUgraphNodeParams* parameters) {
  require(parameters != nullptr);
  const auto zero = [](const auto& numbers) {
    return std::all_of(std::begin(numbers), std::end(numbers), [](auto number) { return number == 0; });
  };
  require(zero(parameters->reserved0) && parameters->reserved2 == 0);
  switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return make_kernel_part(&parameters->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_part(&parameters->memcpy.copyParams, parameters->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: return any_fill_part(parameters->memset);
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host{parameters->host.fn, parameters->host.userData};
      return host_part(&host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: return child_part(parameters->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: require(zero(parameters->reserved1)); return EmptyPart{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return wait_part(parameters->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return record_part(parameters->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return make_allocate_part(&parameters->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return free_part(parameters->free.dptr);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: {
      const auto& given = parameters->extSemSignal;
      const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS known{given.extSemArray, given.paramsArray, given.numExtSems};
      return signal_part(&known);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: {
      const auto& given = parameters->extSemWait;
      const CUDA_EXT_SEM_WAIT_NODE_PARAMS known{given.extSemArray, given.paramsArray, given.numExtSems};
      return await_part(&known);
    }
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const auto& given = parameters->memOp;
      const CUDA_BATCH_MEM_OP_NODE_PARAMS operations{given.ctx, given.count, given.paramArray, given.flags};
      return memory_part(&operations);
    }
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return conditional_part(parameters->conditional);
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

namespace {

struct Describer {
  CUgraphNodeParams& out;

  void operator()(EmptyPart&) const {}
  void operator()(SignalPart&) const {}
  void operator()(AwaitPart&) const {}
  void operator()(KernelPart& part) const { describe_kernel(part, &out.kernel); }
  void operator()(CopyPart& part) const {
    out.memcpy.copyCtx = part.context;
    out.memcpy.copyParams = part.copy;
  }
  void operator()(FillPart& part) const {
    const CUDA_MEMSET_NODE_PARAMS& fill = part.fill;
    out.memset = {fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height, part.context};
  }
  void operator()(HostPart& part) const {
    out.host = {};
    out.host.fn = part.function;
    out.host.userData = part.data;
  }
  void operator()(ChildPart& part) const { out.graph.graph = part.graph->handle; }
  void operator()(RecordPart& part) const { out.eventRecord.event = part.event; }
  void operator()(WaitPart& part) const { out.eventWait.event = part.event; }
  void operator()(AllocatePart& part) const { describe_allocation(part, out.alloc); }
  void operator()(FreePart& part) const { out.free.dptr = part.address; }
  void operator()(MemoryPart& part) const {
    out.memOp = {part.context, static_cast<unsigned>(part.operations.size()), part.operations.data(), 0};
  }
  void operator()(ConditionalPart& part) const {
    out.conditional.handle = part.condition->handle;
    out.conditional.type = static_cast<CUgraphConditionalNodeType>(part.choice);
    out.conditional.size = static_cast<unsigned>(part.bodies.size());
    out.conditional.phGraph_out = part.handles->data();
    out.conditional.ctx = part.context;
  }
};

}  // namespace

void describe(Part& part, CUgraphNodeParams& out) {
  out = {};
  out.type = type_of(part);
  std::visit(Describer{out}, part);
}
#endif

}  // namespace cudasim
