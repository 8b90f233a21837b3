#include "common/simulator/state/graphs/stream_allocations.hpp"

namespace cudasim {

namespace {

Device& device_of(const Stream& stream) {
  const auto context = stream.context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return context->device;
}

// In a captured stream, an allocation and a free become nodes: the graph's memory comes and goes with its launches.
AllocatePart graph_allocation(const Device& device, u64 bytes) {
  AllocatePart part;
  part.properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  part.properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  part.properties.location.id = part.device = device.ordinal;
  part.bytes = bytes;
  part.address = reserve_graph_memory(bytes);
  return part;
}

FreePart graph_free(const Graph& graph, CUdeviceptr pointer) {
  require(is_graph_memory(pointer) && !graph.frees(pointer));
  return {pointer};
}

}  // namespace

CUresult allocate_in_order(CUdeviceptr* pointer, std::size_t bytes, const CUmemoryPool* pool, CUstream handle) {
  const auto stream = get_stream(handle);
  require(pointer != nullptr);
  const auto from = pool != nullptr ? get_pool(*pool) : current_pool(memory_of(device_of(*stream)));
  const auto describe = [&](const Graph&) {
    AllocatePart part = graph_allocation(from->device, bytes);
    *pointer = part.address;
    return part;
  };
  if (bytes != 0 && add_if_captured(*stream, describe)) return CUDA_SUCCESS;
  if (!capture_of(*stream)) require_no_unsafe_capture();
  *pointer = bytes == 0 ? 0 : from->allocate(*stream, bytes);
  return CUDA_SUCCESS;
}

CUresult free_in_stream_order(CUdeviceptr pointer, CUstream handle) {
  const auto stream = get_stream(handle);
  if (pointer == 0) return CUDA_SUCCESS;
  if (add_if_captured(*stream, [&](const Graph& graph) { return graph_free(graph, pointer); })) return CUDA_SUCCESS;
  if (const auto pool = pool_of(pointer)) {
    pool->free_in_order(pointer, *stream);
    return CUDA_SUCCESS;
  }
  Operation operation;
  operation.kind = OperationKind::allocation;
  operation.label = "cuMemFreeAsync";
  if (graph_memory_allocated(pointer)) {  // by a launch that may be still to come in the stream
    set_graph_memory_allocated(pointer, false);
    operation.run = [pointer] {
      return AddressSpace::instance().release(pointer, "cuMemFreeAsync") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    stream->enqueue(std::move(operation));
    return CUDA_SUCCESS;
  }
  // Memory of cuMemAlloc may be freed in a stream's order too.
  const auto allocation = AddressSpace::instance().find(pointer);
  require(allocation && allocation->base == pointer);
  require(allocation->kind != MemoryKind::managed, CUDA_ERROR_NOT_SUPPORTED);
  require(allocation->kind == MemoryKind::device);
  auto claim = claim_allocation(pointer, "cuMemFreeAsync");
  require(claim != nullptr);  // else it is freed already, and only the stream has not come to it
  operation.run = [claim = std::move(claim)]() mutable {
    claim.reset();
    return CUDA_SUCCESS;
  };
  stream->enqueue(std::move(operation));
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000

namespace {

// The same by location and kind of memory.

}  // namespace
#endif

}  // namespace cudasim
