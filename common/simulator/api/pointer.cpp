// Queries about a pointer (CUDA Driver API manual, "Unified Addressing").
#include "common/simulator/state/memory/pointer.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/exec/builtins.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/state/memory/virtual_memory.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <mutex>

namespace cudasim {

namespace {

// Null for memory of a kernel's heap, too: the host knows nothing of it.
std::shared_ptr<const Allocation> known_allocation(CUdeviceptr pointer) {
  const auto found = AddressSpace::instance().find(pointer);
  return found && from_heap(*found) ? nullptr : found;
}

}  // namespace

CUresult driver::call_cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  require_calls_permitted();
  require(data != nullptr);
  const auto allocation = known_allocation(pointer);
  require(allocation != nullptr);
  return pointer_attribute(data, attribute, *allocation, pointer);
}

CUresult driver::call_cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                                             CUdeviceptr pointer) {
  require_calls_permitted();
  require(attributes != nullptr && data != nullptr && count != 0);
  const auto allocation = known_allocation(pointer);
  for (unsigned i = 0; i < count; ++i) {
    require(data[i] != nullptr);
    // For an unknown address, a real driver fills in defaults, except for the range attributes.
    const bool range =
        attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR || attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE;
    if (allocation || !range) store_default_attribute(data[i], attributes[i]);
    try {
      if (allocation) pointer_attribute(data[i], attributes[i], *allocation, pointer);
    } catch (const Failure&) {
      // Does not apply to this pointer: the default stays.
    }
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  require_calls_permitted();
  require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
  require_no_unsafe_capture();
  const auto allocation = known_allocation(pointer);
  require(allocation != nullptr);
  SyncFlags& flags = sync_flags();
  const std::scoped_lock lock(flags.mutex);
  if ((*static_cast<const int*>(value) != 0) != (allocation->kind == MemoryKind::managed))
    flags.changed.insert(allocation->id);
  else
    flags.changed.erase(allocation->id);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
