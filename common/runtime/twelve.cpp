// What only CUDA 12 has, or has with other arguments, for libcudart.so.12. This file is compiled twice, the second time
// for the per-thread default stream. It is compiled with CUDA 13's headers, like all others, so the names of CUDA 12
// are given to the linker alone.
#include "common/runtime/devices.hpp"
#include "common/runtime/modules.hpp"

#include <cstring>

using namespace runtime;

#ifdef RUNTIME_PER_THREAD
#define NAME_OF_12(name) __asm__(name "_ptsz")
#else
#define NAME_OF_12(name) __asm__(name)
#endif

extern "C" {

// CUDA 12 names a device by its number, and the host by -1.
static cudaMemLocation location_of(int device) {
  cudaMemLocation location{};
  location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device < 0 ? 0 : device;
  return location;
}

cudaError_t prefetch_12(const void* pointer, std::size_t bytes, int device, cudaStream_t stream)
    NAME_OF_12("cudaMemPrefetchAsync");
cudaError_t prefetch_12(const void* pointer, std::size_t bytes, int device, cudaStream_t stream) {
  const cudaMemLocation location = location_of(device);
  RUNTIME_CALL(
      cuMemPrefetchAsync(address(pointer), bytes, *same<const CUmemLocation>(&location), 0, stream_of(stream)));
}

cudaError_t capture_info_12(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id)
    NAME_OF_12("cudaStreamGetCaptureInfo");
cudaError_t capture_info_12(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  RUNTIME_CALL(cuStreamGetCaptureInfo(stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status),
                                      reinterpret_cast<cuuint64_t*>(id), nullptr, nullptr, nullptr, nullptr));
}

cudaError_t capture_info_12_2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                              cudaGraph_t* graph, const cudaGraphNode_t** nodes, std::size_t* count)
    NAME_OF_12("cudaStreamGetCaptureInfo_v2");
cudaError_t capture_info_12_2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                              cudaGraph_t* graph, const cudaGraphNode_t** nodes, std::size_t* count) {
  RUNTIME_CALL(cuStreamGetCaptureInfo(stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status),
                                      reinterpret_cast<cuuint64_t*>(id), graph, nodes, nullptr, count));
}

cudaError_t update_dependencies_12(cudaStream_t stream, cudaGraphNode_t* nodes, std::size_t count, unsigned flags)
    NAME_OF_12("cudaStreamUpdateCaptureDependencies");
cudaError_t update_dependencies_12(cudaStream_t stream, cudaGraphNode_t* nodes, std::size_t count, unsigned flags) {
  RUNTIME_CALL(cuStreamUpdateCaptureDependencies(stream_of(stream), nodes, nullptr, count, flags));
}

// In CUDA 12.8, these two also reported which of the copies was wrong.
cudaError_t copy_batch_12(void** to, void** from, std::size_t* sizes, std::size_t count,
                          cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t attribute_count,
                          std::size_t* failed, cudaStream_t stream) NAME_OF_12("cudaMemcpyBatchAsync");
cudaError_t copy_batch_12(void** to, void** from, std::size_t* sizes, std::size_t count,
                          cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t attribute_count,
                          std::size_t* failed, cudaStream_t stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  RUNTIME_CALL(cuMemcpyBatchAsync(reinterpret_cast<CUdeviceptr*>(to), reinterpret_cast<CUdeviceptr*>(from), sizes,
                                  count, same<CUmemcpyAttributes>(attributes), indices, attribute_count,
                                  stream_of(stream)));
}

cudaError_t copy_batch_3d_12(std::size_t count, cudaMemcpy3DBatchOp* list, std::size_t* failed,
                             unsigned long long flags, cudaStream_t stream) NAME_OF_12("cudaMemcpy3DBatchAsync");
cudaError_t copy_batch_3d_12(std::size_t count, cudaMemcpy3DBatchOp* list, std::size_t* failed,
                             unsigned long long flags, cudaStream_t stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  RUNTIME_CALL(cuMemcpy3DBatchAsync(count, same<CUDA_MEMCPY3D_BATCH_OP>(list), flags, stream_of(stream)));
}

#ifndef RUNTIME_PER_THREAD

cudaError_t advise_12(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device)
    NAME_OF_12("cudaMemAdvise");
cudaError_t advise_12(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device) {
  const cudaMemLocation location = location_of(device);
  RUNTIME_CALL(
      cuMemAdvise(address(pointer), bytes, static_cast<CUmem_advise>(advice), *same<const CUmemLocation>(&location)));
}

// ---- Graphs without data of their edges
// ------------------------------------------------------------------------------

cudaError_t edges_12(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count)
    NAME_OF_12("cudaGraphGetEdges");
cudaError_t edges_12(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count) {
  RUNTIME_CALL(cuGraphGetEdges(graph, from, to, nullptr, count));
}
cudaError_t dependencies_12(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count)
    NAME_OF_12("cudaGraphNodeGetDependencies");
cudaError_t dependencies_12(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count) {
  RUNTIME_CALL(cuGraphNodeGetDependencies(node, nodes, nullptr, count));
}
cudaError_t dependents_12(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count)
    NAME_OF_12("cudaGraphNodeGetDependentNodes");
cudaError_t dependents_12(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count) {
  RUNTIME_CALL(cuGraphNodeGetDependentNodes(node, nodes, nullptr, count));
}
cudaError_t add_dependencies_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                std::size_t count) NAME_OF_12("cudaGraphAddDependencies");
cudaError_t add_dependencies_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                std::size_t count) {
  RUNTIME_CALL(cuGraphAddDependencies(graph, from, to, nullptr, count));
}
cudaError_t remove_dependencies_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   std::size_t count) NAME_OF_12("cudaGraphRemoveDependencies");
cudaError_t remove_dependencies_12(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   std::size_t count) {
  RUNTIME_CALL(cuGraphRemoveDependencies(graph, from, to, nullptr, count));
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters);
cudaError_t add_node_12(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                        cudaGraphNodeParams* parameters) NAME_OF_12("cudaGraphAddNode");
cudaError_t add_node_12(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                        cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, after, nullptr, count, parameters);
}
cudaError_t copy_attributes_12(cudaGraphNode_t from, cudaGraphNode_t to)
    NAME_OF_12("cudaGraphKernelNodeCopyAttributes");
cudaError_t copy_attributes_12(cudaGraphNode_t from, cudaGraphNode_t to) {
  RUNTIME_CALL(cuGraphKernelNodeCopyAttributes(to, from));
}

cudaError_t elapsed_12(float* milliseconds, cudaEvent_t from, cudaEvent_t to) NAME_OF_12("cudaEventElapsedTime_v2");
cudaError_t elapsed_12(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}

// ---- Functions that CUDA 13 has dropped
// ------------------------------------------------------------------------------

cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
// They rounded numbers for devices without double precision, of which there are none any more.
cudaError_t cudaSetDoubleForDevice(double*) { return cudaSuccess; }
cudaError_t cudaSetDoubleForHost(double*) { return cudaSuccess; }

// ---- cudaDeviceProp, with the order of members of CUDA 12
// --------------------------------------------------------------

namespace {

// Members that both versions have, from one to another, and what CUDA 12 alone has after them. A run that begins with a
// size_t begins at a multiple of 8 in both; no other member of a run is a size_t that may be padded differently.
struct Run {
  std::size_t from, bytes, alignment;  // in the structure of CUDA 13
  CUdevice_attribute then;
};
#define RUN(first, last, then)                                                                      \
  {offsetof(cudaDeviceProp, first),                                                                 \
   offsetof(cudaDeviceProp, last) + sizeof(cudaDeviceProp::last) - offsetof(cudaDeviceProp, first), \
   alignof(decltype(cudaDeviceProp::first)), then}
constexpr auto kNone = static_cast<CUdevice_attribute>(0);
constexpr Run kRuns[] = {
    RUN(name, maxGridSize, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
    RUN(totalConstMem, minor, kNone),
    RUN(textureAlignment, texturePitchAlignment, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP),
    RUN(multiProcessorCount, multiProcessorCount, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT),
    RUN(integrated, canMapHostMemory, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE),
    RUN(maxTexture1D, maxTexture1DMipmap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
    RUN(maxTexture2D, maxSurfaceCubemapLayered, kNone),
    RUN(surfaceAlignment, unifiedAddressing, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
    RUN(memoryBusWidth, localL1CacheSupported, kNone),
    RUN(sharedMemPerMultiprocessor, hostNativeAtomicSupported,
        CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
    RUN(pageableMemoryAccess, cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH),
    RUN(sharedMemPerBlockOptin, accessPolicyMaxWindowSize, kNone),
    RUN(reservedSharedMemPerBlock, unifiedFunctionPointers, kNone),
};
#undef RUN
constexpr std::size_t kBytes12 = 1032;
}  // namespace

cudaError_t properties_12(void* properties, int device) NAME_OF_12("cudaGetDeviceProperties_v2");
cudaError_t properties_12(void* properties, int device) {
  RUNTIME_REQUIRE(properties != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(known_driver());
  cudaDeviceProp found;
  RUNTIME_TRY(device_properties(&found, device));
  char* const to = static_cast<char*>(properties);
  std::memset(to, 0, kBytes12);
  std::size_t at = 0;
  for (const Run& run : kRuns) {
    at = (at + run.alignment - 1) / run.alignment * run.alignment;
    std::memcpy(to + at, reinterpret_cast<const char*>(&found) + run.from, run.bytes);
    at += run.bytes;
    if (run.then == kNone) continue;
    int value = 0;
    driver().cuDeviceGetAttribute(&value, run.then, device);
    std::memcpy(to + at, &value, sizeof value);
    at += sizeof value;
  }
  return cudaSuccess;
}

// Programs of CUDA 11 had a shorter structure under this name.
cudaError_t properties_11(void* properties, int device) NAME_OF_12("cudaGetDeviceProperties");
cudaError_t properties_11(void* properties, int device) { return properties_12(properties, device); }

struct cudaLaunchParams {
  void* func;
  dim3 gridDim, blockDim;
  void** args;
  std::size_t sharedMem;
  cudaStream_t stream;
};

// One launch for each device; they are independent of each other here, as kernels of CUDA 12 must be.
cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams* list, unsigned count, unsigned) {
  RUNTIME_REQUIRE(list != nullptr && count > 0, cudaErrorInvalidValue);
  for (unsigned i = 0; i < count; ++i) {
    RUNTIME_TRY(cudaLaunchCooperativeKernel(list[i].func, list[i].gridDim, list[i].blockDim, list[i].args,
                                            list[i].sharedMem, list[i].stream));
  }
  return cudaSuccess;
}
#endif

}  // extern "C"
