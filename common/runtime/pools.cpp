// Memory pools: both APIs declare their structures alike.
#include "common/runtime/devices.hpp"

using namespace runtime;

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuDeviceGetDefaultMemPool(pool, device));
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuDeviceGetMemPool(pool, device));
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuDeviceSetMemPool(device, pool));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  RUNTIME_REQUIRE(pool != nullptr && properties != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuMemPoolCreate(pool, same<const CUmemPoolProps>(properties)));
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { RUNTIME_CALL(cuMemPoolDestroy(pool)); }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) { RUNTIME_CALL(cuMemPoolTrimTo(pool, bytes)); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RUNTIME_CALL(cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RUNTIME_CALL(cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
  RUNTIME_CALL(cuMemPoolSetAccess(pool, same<const CUmemAccessDesc>(list), count));
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  RUNTIME_CALL(cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool, same<CUmemLocation>(location)));
}
cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                                               unsigned flags) {
  RUNTIME_CALL(cuMemPoolExportToShareableHandle(handle, pool, static_cast<CUmemAllocationHandleType>(type), flags));
}
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle, cudaMemAllocationHandleType type,
                                                 unsigned flags) {
  RUNTIME_CALL(cuMemPoolImportFromShareableHandle(pool, handle, static_cast<CUmemAllocationHandleType>(type), flags));
}
cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  RUNTIME_CALL(cuMemPoolExportPointer(same<CUmemPoolPtrExportData>(data), address(pointer)));
}
cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool, cudaMemPoolPtrExportData* data) {
  RUNTIME_CALL(
      cuMemPoolImportPointer(reinterpret_cast<CUdeviceptr*>(pointer), pool, same<CUmemPoolPtrExportData>(data)));
}

#if RUNTIME_MAJOR >= 13
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  RUNTIME_CALL(cuMemGetDefaultMemPool(pool, same<CUmemLocation>(location), static_cast<CUmemAllocationType>(type)));
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  RUNTIME_CALL(cuMemGetMemPool(pool, same<CUmemLocation>(location), static_cast<CUmemAllocationType>(type)));
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  RUNTIME_CALL(cuMemSetMemPool(same<CUmemLocation>(location), static_cast<CUmemAllocationType>(type), pool));
}
#endif

}  // extern "C"
