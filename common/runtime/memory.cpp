// Allocations: of the device, of the host, managed; and what can be asked about a pointer.
#include "common/runtime/devices.hpp"

using namespace runtime;

extern "C" {

// As malloc does, and unlike cuMemAlloc, cudaMalloc accepts zero bytes.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  RUNTIME_REQUIRE(pointer != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  return kept(driver().cuMemAlloc(reinterpret_cast<CUdeviceptr*>(pointer), bytes));
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  RUNTIME_REQUIRE(pointer != nullptr && pitch != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  if (width == 0 || height == 0) {
    *pointer = nullptr;
    *pitch = 0;
    return cudaSuccess;
  }
  constexpr unsigned kElement = 4;
  return kept(driver().cuMemAllocPitch(reinterpret_cast<CUdeviceptr*>(pointer), pitch, width, height, kElement));
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  RUNTIME_REQUIRE(pitched != nullptr, cudaErrorInvalidValue);
  void* pointer = nullptr;
  std::size_t pitch = 0;
  const cudaError_t error = cudaMallocPitch(&pointer, &pitch, extent.width, extent.height * extent.depth);
  if (error == cudaSuccess) *pitched = {pointer, pitch, extent.width, extent.height};
  return error;
}

cudaError_t cudaFree(void* pointer) {
  RUNTIME_TRY(ready());
  if (pointer != nullptr) return kept(driver().cuMemFree(address(pointer)));
  std::size_t free, total;
  return kept(driver().cuMemGetInfo(&free, &total));  // reports an earlier fault, as every other call does
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  RUNTIME_REQUIRE(pointer != nullptr, cudaErrorInvalidValue);
  RUNTIME_REQUIRE((flags & ~7u) == 0, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  return kept(driver().cuMemHostAlloc(pointer, bytes, flags));
}

cudaError_t cudaFreeHost(void* pointer) {
  RUNTIME_TRY(ready());
  return pointer == nullptr ? cudaSuccess : kept(driver().cuMemFreeHost(pointer));
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  RUNTIME_CALL(cuMemHostRegister(pointer, bytes, flags));
}
cudaError_t cudaHostUnregister(void* pointer) { RUNTIME_CALL(cuMemHostUnregister(pointer)); }

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  RUNTIME_REQUIRE(device != nullptr, cudaErrorInvalidValue);
  *device = nullptr;
  RUNTIME_CALL(cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(device), host, flags));
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  RUNTIME_REQUIRE(flags != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuMemHostGetFlags(flags, host));
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  RUNTIME_REQUIRE(pointer != nullptr, cudaErrorInvalidValue);
  if (bytes == 0) {
    *pointer = nullptr;
    return kept(ready());
  }
  RUNTIME_CALL(cuMemAllocManaged(reinterpret_cast<CUdeviceptr*>(pointer), bytes, flags));
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  std::size_t ignored = 0;
  RUNTIME_CALL(cuMemGetInfo(free != nullptr ? free : &ignored, total != nullptr ? total : &ignored));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  RUNTIME_REQUIRE(attributes != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  unsigned type = 0;
  int managed = 0, device = -1;
  void *of_device = nullptr, *of_host = nullptr;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* found[] = {&type, &managed, &device, &of_device, &of_host};
  RUNTIME_TRY(driver().cuPointerGetAttributes(5, wanted, found, address(pointer)));
  *attributes = {};
  if (type == 0) {
    // Memory of the host that the driver does not know.
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;
    attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  }
  attributes->type = managed != 0                 ? cudaMemoryTypeManaged
                     : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                  : cudaMemoryTypeDevice;
  attributes->device = device;
  attributes->devicePointer = of_device;
  attributes->hostPointer = of_host;
  return cudaSuccess;
}

// ---- Hints about managed memory ------------------------------------------------------------------------------------

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  RUNTIME_CALL(
      cuMemAdvise(address(pointer), bytes, static_cast<CUmem_advise>(advice), *same<CUmemLocation>(&location)));
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t size, cudaMemRangeAttribute attribute, const void* pointer,
                                     std::size_t bytes) {
  RUNTIME_CALL(
      cuMemRangeGetAttribute(data, size, static_cast<CUmem_range_attribute>(attribute), address(pointer), bytes));
}

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* sizes, cudaMemRangeAttribute* attributes,
                                      std::size_t count, const void* pointer, std::size_t bytes) {
  RUNTIME_CALL(cuMemRangeGetAttributes(data, sizes, reinterpret_cast<CUmem_range_attribute*>(attributes), count,
                                       address(pointer), bytes));
}

// ---- Processes -----------------------------------------------------------------------------------------------------

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  RUNTIME_REQUIRE(handle != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuIpcGetMemHandle(same<CUipcMemHandle>(handle), address(pointer)));
}
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  RUNTIME_REQUIRE(pointer != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuIpcOpenMemHandle(reinterpret_cast<CUdeviceptr*>(pointer), *same<CUipcMemHandle>(&handle), flags));
}
cudaError_t cudaIpcCloseMemHandle(void* pointer) { RUNTIME_CALL(cuIpcCloseMemHandle(address(pointer))); }

}  // extern "C"
