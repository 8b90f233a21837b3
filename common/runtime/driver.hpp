// The driver's functions that the runtime calls. They are looked up when the first of them is needed, and not linked:
// a program that finds no driver must start all the same, because it may have a way to do without.
#pragma once
#include <cuda.h>
#include <cudaProfiler.h>

// In the order of the manual's chapters. cuda.h replaces a name with that of its newest version, and so does this list.
#define RUNTIME_DRIVER_FUNCTIONS(F)                                                                                   \
  F(cuInit) F(cuDriverGetVersion) F(cuGetErrorString)                                                                 \
  F(cuDeviceGet) F(cuDeviceGetCount) F(cuDeviceGetName) F(cuDeviceGetUuid) F(cuDeviceGetLuid) F(cuDeviceTotalMem)     \
  F(cuDeviceGetTexture1DLinearMaxWidth) F(cuDeviceGetAttribute) F(cuDeviceGetNvSciSyncAttributes)                     \
  F(cuDeviceSetMemPool) F(cuDeviceGetMemPool) F(cuDeviceGetDefaultMemPool) F(cuFlushGPUDirectRDMAWrites)              \
  F(cuDeviceGetHostAtomicCapabilities) F(cuDeviceGetByPCIBusId) F(cuDeviceGetPCIBusId)                                \
  F(cuDeviceRegisterAsyncNotification) F(cuDeviceUnregisterAsyncNotification)                                         \
  F(cuDevicePrimaryCtxRetain) F(cuDevicePrimaryCtxSetFlags) F(cuDevicePrimaryCtxGetState) F(cuDevicePrimaryCtxReset)  \
  F(cuDevicePrimaryCtxRelease)                                                                                        \
  F(cuCtxSetCurrent) F(cuCtxGetCurrent) F(cuCtxGetDevice) F(cuCtxGetFlags) F(cuCtxSetFlags) F(cuCtxSynchronize)       \
  F(cuCtxSetLimit) F(cuCtxGetLimit) F(cuCtxGetCacheConfig) F(cuCtxSetCacheConfig) F(cuCtxGetStreamPriorityRange)      \
  F(cuCtxResetPersistingL2Cache) F(cuCtxGetSharedMemConfig) F(cuCtxSetSharedMemConfig)                                \
  F(cuCtxEnablePeerAccess) F(cuCtxDisablePeerAccess) F(cuDeviceCanAccessPeer) F(cuDeviceGetP2PAttribute)              \
  F(cuDeviceGetP2PAtomicCapabilities)                                                                                 \
  F(cuLinkCreate) F(cuLinkAddData) F(cuLinkAddFile) F(cuLinkComplete) F(cuLinkDestroy)                                \
  F(cuLibraryLoadData) F(cuLibraryLoadFromFile) F(cuLibraryUnload) F(cuLibraryGetKernel) F(cuLibraryGetKernelCount)   \
  F(cuLibraryEnumerateKernels) F(cuLibraryGetModule) F(cuKernelGetFunction) F(cuKernelGetLibrary)                     \
  F(cuLibraryGetGlobal) F(cuLibraryGetManaged) F(cuLibraryGetUnifiedFunction) F(cuKernelSetAttribute)                 \
  F(cuKernelGetName)                                                                                                  \
  F(cuMemGetInfo) F(cuMemAlloc) F(cuMemAllocPitch) F(cuMemFree) F(cuMemGetAddressRange) F(cuMemAllocHost)             \
  F(cuMemFreeHost) F(cuMemHostAlloc) F(cuMemHostGetDevicePointer) F(cuMemHostGetFlags) F(cuMemAllocManaged)           \
  F(cuMemHostRegister) F(cuMemHostUnregister) F(cuIpcGetEventHandle) F(cuIpcOpenEventHandle) F(cuIpcGetMemHandle)     \
  F(cuIpcOpenMemHandle) F(cuIpcCloseMemHandle)                                                                        \
  F(cuMemcpy) F(cuMemcpyPeer) F(cuMemcpyHtoD) F(cuMemcpyDtoH) F(cuMemcpyDtoD) F(cuMemcpy2DUnaligned) F(cuMemcpy3D)    \
  F(cuMemcpy3DPeer) F(cuMemcpyAsync) F(cuMemcpyPeerAsync) F(cuMemcpyHtoDAsync) F(cuMemcpyDtoHAsync)                   \
  F(cuMemcpyDtoDAsync) F(cuMemcpy2DAsync) F(cuMemcpy3DAsync) F(cuMemcpy3DPeerAsync) F(cuMemcpyBatchAsync)             \
  F(cuMemcpy3DBatchAsync) F(cuMemsetD8) F(cuMemsetD2D8) F(cuMemsetD8Async) F(cuMemsetD2D8Async)                       \
  F(cuArray3DCreate) F(cuArray3DGetDescriptor) F(cuArrayDestroy) F(cuArrayGetPlane) F(cuArrayGetSparseProperties)     \
  F(cuArrayGetMemoryRequirements) F(cuMipmappedArrayCreate) F(cuMipmappedArrayGetLevel) F(cuMipmappedArrayDestroy)    \
  F(cuMipmappedArrayGetSparseProperties) F(cuMipmappedArrayGetMemoryRequirements)                                     \
  F(cuMemAllocAsync) F(cuMemFreeAsync) F(cuMemPoolTrimTo) F(cuMemPoolSetAttribute) F(cuMemPoolGetAttribute)           \
  F(cuMemPoolSetAccess) F(cuMemPoolGetAccess) F(cuMemPoolCreate) F(cuMemPoolDestroy) F(cuMemAllocFromPoolAsync)       \
  F(cuMemPoolExportToShareableHandle) F(cuMemPoolImportFromShareableHandle) F(cuMemPoolExportPointer)                 \
  F(cuMemPoolImportPointer) F(cuMemGetDefaultMemPool) F(cuMemGetMemPool) F(cuMemSetMemPool)                           \
  F(cuPointerGetAttribute) F(cuPointerGetAttributes) F(cuMemPrefetchAsync) F(cuMemAdvise)                             \
  F(cuMemPrefetchBatchAsync) F(cuMemDiscardBatchAsync) F(cuMemDiscardAndPrefetchBatchAsync)                           \
  F(cuMemRangeGetAttribute) F(cuMemRangeGetAttributes)                                                                \
  F(cuStreamCreateWithPriority) F(cuStreamGetPriority) F(cuStreamGetDevice) F(cuStreamGetFlags) F(cuStreamGetId)      \
  F(cuStreamGetCtx) F(cuStreamWaitEvent) F(cuStreamAddCallback) F(cuStreamBeginCapture)                               \
  F(cuStreamBeginCaptureToGraph) F(cuThreadExchangeStreamCaptureMode) F(cuStreamEndCapture) F(cuStreamIsCapturing)    \
  F(cuStreamGetCaptureInfo) F(cuStreamUpdateCaptureDependencies) F(cuStreamAttachMemAsync) F(cuStreamQuery)           \
  F(cuStreamSynchronize) F(cuStreamDestroy) F(cuStreamCopyAttributes) F(cuStreamGetAttribute) F(cuStreamSetAttribute) \
  F(cuEventCreate) F(cuEventRecord) F(cuEventRecordWithFlags) F(cuEventQuery) F(cuEventSynchronize) F(cuEventDestroy) \
  F(cuEventElapsedTime)                                                                                               \
  F(cuImportExternalMemory) F(cuExternalMemoryGetMappedBuffer) F(cuExternalMemoryGetMappedMipmappedArray)             \
  F(cuDestroyExternalMemory) F(cuImportExternalSemaphore) F(cuSignalExternalSemaphoresAsync)                          \
  F(cuWaitExternalSemaphoresAsync) F(cuDestroyExternalSemaphore)                                                      \
  F(cuFuncGetAttribute) F(cuFuncSetAttribute) F(cuFuncSetCacheConfig) F(cuFuncGetModule) F(cuFuncGetName)             \
  F(cuFuncGetParamInfo) F(cuFuncSetSharedMemConfig) F(cuLaunchKernel) F(cuLaunchKernelEx)                             \
  F(cuLaunchCooperativeKernel) F(cuLaunchCooperativeKernelMultiDevice) F(cuLaunchHostFunc)                            \
  F(cuGraphCreate) F(cuGraphAddKernelNode) F(cuGraphKernelNodeGetParams) F(cuGraphKernelNodeSetParams)                \
  F(cuGraphAddMemcpyNode) F(cuGraphMemcpyNodeGetParams) F(cuGraphMemcpyNodeSetParams) F(cuGraphAddMemsetNode)         \
  F(cuGraphMemsetNodeGetParams) F(cuGraphMemsetNodeSetParams) F(cuGraphAddHostNode) F(cuGraphHostNodeGetParams)       \
  F(cuGraphHostNodeSetParams) F(cuGraphAddChildGraphNode) F(cuGraphChildGraphNodeGetGraph) F(cuGraphAddEmptyNode)     \
  F(cuGraphAddEventRecordNode) F(cuGraphEventRecordNodeGetEvent) F(cuGraphEventRecordNodeSetEvent)                    \
  F(cuGraphAddEventWaitNode) F(cuGraphEventWaitNodeGetEvent) F(cuGraphEventWaitNodeSetEvent)                          \
  F(cuGraphAddExternalSemaphoresSignalNode) F(cuGraphExternalSemaphoresSignalNodeGetParams)                           \
  F(cuGraphExternalSemaphoresSignalNodeSetParams) F(cuGraphAddExternalSemaphoresWaitNode)                             \
  F(cuGraphExternalSemaphoresWaitNodeGetParams) F(cuGraphExternalSemaphoresWaitNodeSetParams)                         \
  F(cuGraphAddMemAllocNode) F(cuGraphMemAllocNodeGetParams) F(cuGraphAddMemFreeNode) F(cuGraphMemFreeNodeGetParams)   \
  F(cuDeviceGraphMemTrim) F(cuDeviceGetGraphMemAttribute) F(cuDeviceSetGraphMemAttribute) F(cuGraphClone)             \
  F(cuGraphNodeFindInClone) F(cuGraphNodeGetType) F(cuGraphGetNodes) F(cuGraphGetRootNodes) F(cuGraphGetEdges)        \
  F(cuGraphNodeGetDependencies) F(cuGraphNodeGetDependentNodes) F(cuGraphAddDependencies)                             \
  F(cuGraphRemoveDependencies) F(cuGraphDestroyNode) F(cuGraphInstantiateWithFlags) F(cuGraphInstantiateWithParams)   \
  F(cuGraphExecGetFlags) F(cuGraphExecKernelNodeSetParams) F(cuGraphExecMemcpyNodeSetParams)                          \
  F(cuGraphExecMemsetNodeSetParams) F(cuGraphExecHostNodeSetParams) F(cuGraphExecChildGraphNodeSetParams)             \
  F(cuGraphExecEventRecordNodeSetEvent) F(cuGraphExecEventWaitNodeSetEvent)                                           \
  F(cuGraphExecExternalSemaphoresSignalNodeSetParams) F(cuGraphExecExternalSemaphoresWaitNodeSetParams)               \
  F(cuGraphNodeSetEnabled) F(cuGraphNodeGetEnabled) F(cuGraphUpload) F(cuGraphLaunch) F(cuGraphExecDestroy)           \
  F(cuGraphDestroy) F(cuGraphExecUpdate) F(cuGraphKernelNodeCopyAttributes) F(cuGraphKernelNodeGetAttribute)          \
  F(cuGraphKernelNodeSetAttribute) F(cuGraphDebugDotPrint) F(cuUserObjectCreate) F(cuUserObjectRetain)                \
  F(cuUserObjectRelease) F(cuGraphRetainUserObject) F(cuGraphReleaseUserObject) F(cuGraphAddNode)                     \
  F(cuGraphNodeSetParams) F(cuGraphExecNodeSetParams) F(cuGraphConditionalHandleCreate)                               \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) F(cuOccupancyAvailableDynamicSMemPerBlock)                  \
  F(cuOccupancyMaxPotentialClusterSize) F(cuOccupancyMaxActiveClusters)                                               \
  F(cuTexObjectCreate) F(cuTexObjectDestroy) F(cuTexObjectGetResourceDesc) F(cuTexObjectGetTextureDesc)               \
  F(cuTexObjectGetResourceViewDesc) F(cuSurfObjectCreate) F(cuSurfObjectDestroy) F(cuSurfObjectGetResourceDesc)       \
  F(cuGraphicsUnregisterResource) F(cuGraphicsSubResourceGetMappedArray)                                              \
  F(cuGraphicsResourceGetMappedMipmappedArray) F(cuGraphicsResourceGetMappedPointer)                                  \
  F(cuGraphicsResourceSetMapFlags) F(cuGraphicsMapResources) F(cuGraphicsUnmapResources)                              \
  F(cuProfilerStart) F(cuProfilerStop) F(cuGetExportTable)                                                            \
  F(cuLogsRegisterCallback) F(cuLogsUnregisterCallback) F(cuLogsCurrent) F(cuLogsDumpToFile) F(cuLogsDumpToMemory)

namespace runtime {

struct Driver {
  bool found;  // whether there is a libcuda.so.1
#define RUNTIME_MEMBER(function) decltype(&::function) function;
  RUNTIME_DRIVER_FUNCTIONS(RUNTIME_MEMBER)
#undef RUNTIME_MEMBER
  decltype(&::cuGetProcAddress) cuGetProcAddress;
};

// A function that the driver lacks returns what means cudaErrorCallRequiresNewerDriver to the runtime's caller.
const Driver& driver();

}  // namespace runtime
