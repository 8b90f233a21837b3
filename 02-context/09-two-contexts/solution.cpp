// Checks before a launch whether a stream and memory can be used together.
#include "common/cu.hpp"

#include <vector>

// Returns whether kernels in `stream` can use all of `memory`. That is the case for memory that belongs to the stream's
// context, and for memory that belongs to no context (from a memory pool, for example) but to the stream's device. The
// null stream belongs to the current context. An address can be anywhere inside an allocation; address 0 is ignored.
// The context stack does not change. Throws cu::Error (CU_THROW) if a driver call fails, for example because an address
// belongs to no allocation.
bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory) {
  CUcontext streams_context;
  CU_THROW(cuStreamGetCtx(stream, &streams_context));
  CUdevice streams_device;
  {
    const cu::Current in(streams_context);
    CU_THROW(cuCtxGetDevice(&streams_device));
  }
  bool together = true;
  for (const CUdeviceptr address : memory) {
    if (address == 0) continue;
    CUcontext owner = nullptr;
    CU_THROW(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    int ordinal;
    CU_THROW(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    CUdevice device;
    CU_THROW(cuDeviceGet(&device, ordinal));
    const bool usable = owner != nullptr ? owner == streams_context : device == streams_device;
    together = together && usable;
  }
  return together;
}
