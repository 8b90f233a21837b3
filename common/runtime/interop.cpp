// What other APIs share with this one: memory and semaphores from outside, graphics, and the driver's log.
#include "common/runtime/formats.hpp"

using namespace runtime;

extern "C" {

// ---- External memory and semaphores
// ----------------------------------------------------------------------------------

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t* memory, const cudaExternalMemoryHandleDesc* desc) {
  RUNTIME_CALL(
      cuImportExternalMemory(handle<CUexternalMemory*>(memory), same<const CUDA_EXTERNAL_MEMORY_HANDLE_DESC>(desc)));
}
cudaError_t cudaExternalMemoryGetMappedBuffer(void** pointer, cudaExternalMemory_t memory,
                                              const cudaExternalMemoryBufferDesc* desc) {
  RUNTIME_CALL(cuExternalMemoryGetMappedBuffer(reinterpret_cast<CUdeviceptr*>(pointer),
                                               handle<CUexternalMemory>(memory),
                                               same<const CUDA_EXTERNAL_MEMORY_BUFFER_DESC>(desc)));
}
cudaError_t cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t* array, cudaExternalMemory_t memory,
                                                      const cudaExternalMemoryMipmappedArrayDesc* desc) {
  RUNTIME_REQUIRE(desc != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  Format format{};
  RUNTIME_TRY(driver_format(desc->formatDesc, &format));
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC wanted{};
  wanted.offset = desc->offset;
  wanted.arrayDesc.Width = desc->extent.width;
  wanted.arrayDesc.Height = desc->extent.height;
  wanted.arrayDesc.Depth = desc->extent.depth;
  wanted.arrayDesc.Format = format.format;
  wanted.arrayDesc.NumChannels = format.channels;
  wanted.arrayDesc.Flags = desc->flags;
  wanted.numLevels = desc->numLevels;
  return kept(driver().cuExternalMemoryGetMappedMipmappedArray(reinterpret_cast<CUmipmappedArray*>(array),
                                                               handle<CUexternalMemory>(memory), &wanted));
}
cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory) {
  RUNTIME_CALL(cuDestroyExternalMemory(handle<CUexternalMemory>(memory)));
}
cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t* semaphore,
                                        const cudaExternalSemaphoreHandleDesc* desc) {
  RUNTIME_CALL(cuImportExternalSemaphore(handle<CUexternalSemaphore*>(semaphore),
                                         same<const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>(desc)));
}
cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore) {
  RUNTIME_CALL(cuDestroyExternalSemaphore(handle<CUexternalSemaphore>(semaphore)));
}

// ---- Graphics ------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource) {
  RUNTIME_CALL(cuGraphicsUnregisterResource(reinterpret_cast<CUgraphicsResource>(resource)));
}
cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned flags) {
  RUNTIME_CALL(cuGraphicsResourceSetMapFlags(reinterpret_cast<CUgraphicsResource>(resource), flags));
}
cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream) {
  RUNTIME_CALL(cuGraphicsMapResources(count, reinterpret_cast<CUgraphicsResource*>(resources), stream));
}
cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream) {
  RUNTIME_CALL(cuGraphicsUnmapResources(count, reinterpret_cast<CUgraphicsResource*>(resources), stream));
}
cudaError_t cudaGraphicsResourceGetMappedPointer(void** pointer, std::size_t* bytes, cudaGraphicsResource_t resource) {
  RUNTIME_CALL(cuGraphicsResourceGetMappedPointer(reinterpret_cast<CUdeviceptr*>(pointer), bytes,
                                                  reinterpret_cast<CUgraphicsResource>(resource)));
}
cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t* array, cudaGraphicsResource_t resource, unsigned index,
                                                  unsigned level) {
  RUNTIME_CALL(cuGraphicsSubResourceGetMappedArray(reinterpret_cast<CUarray*>(array),
                                                   reinterpret_cast<CUgraphicsResource>(resource), index, level));
}
cudaError_t cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t* array, cudaGraphicsResource_t resource) {
  RUNTIME_CALL(cuGraphicsResourceGetMappedMipmappedArray(reinterpret_cast<CUmipmappedArray*>(array),
                                                         reinterpret_cast<CUgraphicsResource>(resource)));
}

// ---- The driver's log ----------------------------------------------------------------------------------------------

#if RUNTIME_MAJOR >= 13
cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t function, void* data, cudaLogsCallbackHandle* handle) {
  RUNTIME_TRY(started());
  return kept(driver().cuLogsRegisterCallback(reinterpret_cast<CUlogsCallback>(function), data,
                                              reinterpret_cast<CUlogsCallbackHandle*>(handle)));
}
cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle) {
  RUNTIME_TRY(started());
  return kept(driver().cuLogsUnregisterCallback(reinterpret_cast<CUlogsCallbackHandle>(handle)));
}
cudaError_t cudaLogsCurrent(cudaLogIterator* iterator, unsigned flags) {
  RUNTIME_TRY(started());
  return kept(driver().cuLogsCurrent(iterator, flags));
}
cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* file, unsigned flags) {
  RUNTIME_TRY(started());
  return kept(driver().cuLogsDumpToFile(iterator, file, flags));
}
cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, std::size_t* bytes, unsigned flags) {
  RUNTIME_TRY(started());
  return kept(driver().cuLogsDumpToMemory(iterator, buffer, bytes, flags));
}
#endif

// Private tables of one library or another. There are none here.
cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t* id) {
  RUNTIME_REQUIRE(table != nullptr && id != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuGetExportTable(table, same<const CUuuid>(id)));
}

}  // extern "C"
