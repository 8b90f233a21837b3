// Streams and events: a cudaStream_t is a CUstream, and a cudaEvent_t a CUevent. Work in streams: stream_work.cpp.
#include "common/runtime/runtime.hpp"

using namespace runtime;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  RUNTIME_REQUIRE(stream != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  RUNTIME_REQUIRE(stream != nullptr, cudaErrorInvalidResourceHandle);
  RUNTIME_CALL(cuStreamDestroy(stream));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  RUNTIME_REQUIRE(mode != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  RUNTIME_REQUIRE(event != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuEventCreate(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) { RUNTIME_CALL(cuEventDestroy(event)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { RUNTIME_CALL(cuEventQuery(event)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { RUNTIME_CALL(cuEventSynchronize(event)); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  RUNTIME_REQUIRE(milliseconds != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuEventElapsedTime(milliseconds, from, to));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  RUNTIME_REQUIRE(handle != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuIpcGetEventHandle(same<CUipcEventHandle>(handle), event));
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  RUNTIME_REQUIRE(event != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuIpcOpenEventHandle(event, *same<CUipcEventHandle>(&handle)));
}

}  // extern "C"
