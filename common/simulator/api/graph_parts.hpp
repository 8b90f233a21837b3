// Between the manual's structures of node parameters and a graph's parts. Throws CUDA_ERROR_INVALID_VALUE for what a
// node cannot be.
#pragma once
#include "common/simulator/state/graphs/graph.hpp"

namespace cudasim {

// Structures of any version; the older ones lack `kern` and `ctx`.
Part kernel_part(const CUDA_KERNEL_NODE_PARAMS_v2* parameters);
Part kernel_part(const CUDA_KERNEL_NODE_PARAMS_v1* parameters);
void describe(KernelPart& part, CUDA_KERNEL_NODE_PARAMS_v2* out);
void describe(KernelPart& part, CUDA_KERNEL_NODE_PARAMS_v1* out);

Part copy_part(const CUDA_MEMCPY3D* copy, CUcontext context);
Part fill_part(const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext context);
Part host_part(const CUDA_HOST_NODE_PARAMS* host);
Part child_part(CUgraph graph);
Part record_part(CUevent event);
Part wait_part(CUevent event);
// Chooses the address, and writes it to `parameters`.
Part allocate_part(CUDA_MEM_ALLOC_NODE_PARAMS* parameters);
void describe(const AllocatePart& part, CUDA_MEM_ALLOC_NODE_PARAMS* out);
Part free_part(CUdeviceptr pointer);
Part memory_part(const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters);
void describe(MemoryPart& part, CUDA_BATCH_MEM_OP_NODE_PARAMS* out);
// Throw CUDA_ERROR_INVALID_HANDLE for every semaphore.
Part signal_part(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* parameters);
Part await_part(const CUDA_EXT_SEM_WAIT_NODE_PARAMS* parameters);

// The part of this kind; throws CUDA_ERROR_INVALID_VALUE if the node is another.
template <class T>
T& as(Node& node) {
  T* part = std::get_if<T>(&node.part);
  require(part != nullptr);
  return *part;
}

// The bytes of a CUgraphEdgeData, which older headers lack.
struct EdgeData {
  u8 from_port, to_port, type, reserved[5];
};
#if CUDA_VERSION >= 12030
static_assert(sizeof(EdgeData) == sizeof(CUgraphEdgeData));
#endif

// What the array's i-th edge is; a null array stands for plain ones. Throws CUDA_ERROR_INVALID_VALUE for an impossible
// edge.
EdgeKind kind_of(const EdgeData* data, std::size_t i);

// The nodes of an array of handles. Throws CUDA_ERROR_INVALID_VALUE if one is not a node's handle.
std::vector<NodePtr> nodes_of(const CUgraphNode* handles, std::size_t count);

#if CUDA_VERSION >= 12030
Part part_of(CUgraphNodeParams* parameters);
void describe(Part& part, CUgraphNodeParams& out);
#endif

}  // namespace cudasim
