// Included last by runtime.hpp when libcudart.so.12 is compiled: what CUDA 13 calls cudaGraphAddNode was
// cudaGraphAddNode_v2 in CUDA 12, and so on. twelve.cpp defines the functions of CUDA 12 that have the short names.
#pragma once

#undef cudaStreamGetCaptureInfo
#undef cudaStreamUpdateCaptureDependencies
#undef cudaMemPrefetchAsync
#undef cudaSignalExternalSemaphoresAsync
#undef cudaWaitExternalSemaphoresAsync
#ifdef RUNTIME_PER_THREAD
#define RUNTIME_TWELVE(name) name##_ptsz
#else
#define RUNTIME_TWELVE(name) name
#endif
#define cudaStreamGetCaptureInfo RUNTIME_TWELVE(cudaStreamGetCaptureInfo_v3)
#define cudaStreamUpdateCaptureDependencies RUNTIME_TWELVE(cudaStreamUpdateCaptureDependencies_v2)
#define cudaMemPrefetchAsync RUNTIME_TWELVE(cudaMemPrefetchAsync_v2)
#define cudaSignalExternalSemaphoresAsync RUNTIME_TWELVE(cudaSignalExternalSemaphoresAsync_v2)
#define cudaWaitExternalSemaphoresAsync RUNTIME_TWELVE(cudaWaitExternalSemaphoresAsync_v2)
#define cudaMemAdvise cudaMemAdvise_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#define cudaGraphAddNode cudaGraphAddNode_v2
// Its arguments had the other order.
#define cudaGraphKernelNodeCopyAttributes runtime_copy_node_attributes
