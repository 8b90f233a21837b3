// How much memory graphs hold (CUDA Driver API manual, "Graph Management": cuDevice*GraphMem*).
#include "common/simulator/state/memory/graph_memory.hpp"

#include "common/simulator/api/call.hpp"

namespace cudasim {

CUresult driver::call_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  require_calls_permitted();
  const GraphMemoryUse use = graph_memory_use(device_at(device));
  require(value != nullptr);
  auto& out = *static_cast<cuuint64_t*>(value);
  switch (attr) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: out = use.used; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: out = use.used_high; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: out = use.reserved; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: out = use.reserved_high; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

// The high-water marks can be set to zero: they begin anew with what is held now.
CUresult driver::call_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  require_calls_permitted();
  Device& named = device_at(device);
  require(value != nullptr && *static_cast<const cuuint64_t*>(value) == 0);
  require(attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
  reset_graph_memory_high(named, attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGraphMemTrim(CUdevice device) {
  require_calls_permitted();
  trim_graph_memory(device_at(device));
  return CUDA_SUCCESS;
}

}  // namespace cudasim
