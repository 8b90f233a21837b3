// Copies and fills. This file is compiled twice, the second time for the per-thread default stream (runtime.hpp).
#include "common/runtime/devices.hpp"
#include "common/runtime/formats.hpp"
#include "common/runtime/modules.hpp"

namespace runtime {
namespace {

// A call without a stream works in the default stream and waits, where it must. In the legacy stream, the driver's own
// synchronous functions do that. For the per-thread stream, the asynchronous ones are called, and the stream waited
// for.
#ifdef RUNTIME_PER_THREAD
#define RUNTIME_SYNCHRONOUS(synchronous, asynchronous) finished(driver().asynchronous)
cudaError_t finished(CUresult result) {
  return code(result != CUDA_SUCCESS ? result : driver().cuStreamSynchronize(CU_STREAM_PER_THREAD));
}
#else
#define RUNTIME_SYNCHRONOUS(synchronous, asynchronous) code(driver().synchronous)
#endif
constexpr cudaStream_t kDefault = nullptr;

bool is_kind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return RUNTIME_SYNCHRONOUS(cuMemcpyHtoD(address(to), from, bytes),
                                 cuMemcpyHtoDAsync(address(to), from, bytes, stream_of(kDefault)));
    case cudaMemcpyDeviceToHost:
      return RUNTIME_SYNCHRONOUS(cuMemcpyDtoH(to, address(from), bytes),
                                 cuMemcpyDtoHAsync(to, address(from), bytes, stream_of(kDefault)));
    case cudaMemcpyDeviceToDevice:
      return RUNTIME_SYNCHRONOUS(cuMemcpyDtoD(address(to), address(from), bytes),
                                 cuMemcpyDtoDAsync(address(to), address(from), bytes, stream_of(kDefault)));
    default:
      return RUNTIME_SYNCHRONOUS(cuMemcpy(address(to), address(from), bytes),
                                 cuMemcpyAsync(address(to), address(from), bytes, stream_of(kDefault)));
  }
}

cudaError_t copy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t in) {
  const CUstream stream = stream_of(in);
  switch (kind) {
    case cudaMemcpyHostToDevice: return code(driver().cuMemcpyHtoDAsync(address(to), from, bytes, stream));
    case cudaMemcpyDeviceToHost: return code(driver().cuMemcpyDtoHAsync(to, address(from), bytes, stream));
    case cudaMemcpyDeviceToDevice: return code(driver().cuMemcpyDtoDAsync(address(to), address(from), bytes, stream));
    default: return code(driver().cuMemcpyAsync(address(to), address(from), bytes, stream));
  }
}

struct Plane {  // one end of a copy of two dimensions
  const void* pointer = nullptr;
  std::size_t pitch = 0;
  CUarray array = nullptr;
  std::size_t x = 0, y = 0;  // in an array
};

CUDA_MEMCPY2D described(const Plane& to, const Plane& from, std::size_t width, std::size_t height,
                        cudaMemcpyKind kind) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = from.array != nullptr ? CU_MEMORYTYPE_ARRAY : memory_type(kind, true);
  copy.srcHost = from.pointer;
  copy.srcDevice = address(from.pointer);
  copy.srcArray = from.array;
  copy.srcPitch = from.pitch;
  copy.srcXInBytes = from.x;
  copy.srcY = from.y;
  copy.dstMemoryType = to.array != nullptr ? CU_MEMORYTYPE_ARRAY : memory_type(kind, false);
  copy.dstHost = const_cast<void*>(to.pointer);
  copy.dstDevice = address(to.pointer);
  copy.dstArray = to.array;
  copy.dstPitch = to.pitch;
  copy.dstXInBytes = to.x;
  copy.dstY = to.y;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

// Without a pitch on one side, that side is an array.
cudaError_t copy_plane(const Plane& to, const Plane& from, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                       bool wait, cudaStream_t stream) {
  RUNTIME_REQUIRE(is_kind(kind), cudaErrorInvalidMemcpyDirection);
  RUNTIME_TRY(ready());
  if (width == 0 || height == 0) return cudaSuccess;
  // libcudart 13.0 has another error if there is only one row.
  const cudaError_t too_long = height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
  RUNTIME_REQUIRE(to.array != nullptr || width <= to.pitch, too_long);
  RUNTIME_REQUIRE(from.array != nullptr || width <= from.pitch, too_long);
  const CUDA_MEMCPY2D copy = described(to, from, width, height, kind);
  if (!wait) return kept(driver().cuMemcpy2DAsync(&copy, stream_of(stream)));
  return kept(RUNTIME_SYNCHRONOUS(cuMemcpy2DUnaligned(&copy), cuMemcpy2DAsync(&copy, stream_of(kDefault))));
}

Plane linear(const void* pointer, std::size_t pitch) { return {pointer, pitch}; }
Plane in_array(cudaArray_const_t array, std::size_t x, std::size_t y) {
  return {nullptr, 0, driver_array(array), x, y};
}

// The old copies from and to arrays take a number of bytes that may run over the end of a row into the next one.
cudaError_t copy_rows(cudaArray_const_t array, std::size_t x, std::size_t y, const void* memory, std::size_t bytes,
                      cudaMemcpyKind kind, bool into, bool wait, cudaStream_t stream) {
  RUNTIME_REQUIRE(array != nullptr, cudaErrorInvalidResourceHandle);
  RUNTIME_TRY(ready());
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  RUNTIME_TRY(driver().cuArray3DGetDescriptor(&desc, driver_array(array)));
  const std::size_t row = desc.Width * element_bytes(desc.Format, desc.NumChannels);
  RUNTIME_REQUIRE(row != 0 && x < row, cudaErrorInvalidValue);
  const char* at = static_cast<const char*>(memory);
  while (bytes != 0) {
    // A part of the first row, as many whole rows as there are, a part of the last.
    const bool whole = x == 0 && bytes >= row;
    const std::size_t width = whole ? row : bytes < row - x ? bytes : row - x;
    const std::size_t height = whole ? bytes / row : 1;
    const Plane memory_plane = linear(at, width), array_plane = in_array(array, x, y);
    const cudaError_t error = into ? copy_plane(array_plane, memory_plane, width, height, kind, wait, stream)
                                   : copy_plane(memory_plane, array_plane, width, height, kind, wait, stream);
    if (error != cudaSuccess) return error;
    bytes -= width * height;
    at += width * height;
    y += height;
    x = 0;
  }
  return cudaSuccess;
}

cudaError_t symbol_place(const void* symbol, std::size_t count, std::size_t offset, cudaMemcpyKind kind,
                         cudaMemcpyKind other, void** place) {
  Variable variable;
  const cudaError_t error = find_variable(symbol, &variable);
  if (error != cudaSuccess) return error;
  if (count == 0) return cudaSuccess;
  if (offset > variable.bytes || count > variable.bytes - offset) return cudaErrorInvalidValue;
  if (kind != other && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  *place = reinterpret_cast<void*>(variable.place + offset);
  return cudaSuccess;
}

bool is_empty(const cudaExtent& extent) { return extent.width == 0 || extent.height == 0 || extent.depth == 0; }

cudaError_t peer_copy_of(const cudaMemcpy3DPeerParms* from, CUDA_MEMCPY3D_PEER* to) {
  if (from == nullptr) return cudaErrorInvalidValue;
  cudaMemcpy3DParms plain{};
  plain.srcArray = from->srcArray;
  plain.srcPos = from->srcPos;
  plain.srcPtr = from->srcPtr;
  plain.dstArray = from->dstArray;
  plain.dstPos = from->dstPos;
  plain.dstPtr = from->dstPtr;
  plain.extent = from->extent;
  plain.kind = cudaMemcpyDefault;
  CUDA_MEMCPY3D copy;
  const cudaError_t error = driver_copy(plain, &copy);
  if (error != cudaSuccess) return error;
  *to = {};
  to->srcXInBytes = copy.srcXInBytes, to->srcY = copy.srcY, to->srcZ = copy.srcZ;
  to->srcMemoryType = copy.srcMemoryType, to->srcHost = copy.srcHost, to->srcDevice = copy.srcDevice;
  to->srcArray = copy.srcArray, to->srcPitch = copy.srcPitch, to->srcHeight = copy.srcHeight;
  to->dstXInBytes = copy.dstXInBytes, to->dstY = copy.dstY, to->dstZ = copy.dstZ;
  to->dstMemoryType = copy.dstMemoryType, to->dstHost = copy.dstHost, to->dstDevice = copy.dstDevice;
  to->dstArray = copy.dstArray, to->dstPitch = copy.dstPitch, to->dstHeight = copy.dstHeight;
  to->WidthInBytes = copy.WidthInBytes, to->Height = copy.Height, to->Depth = copy.Depth;
  if (from->srcDevice < 0 || from->srcDevice >= device_count()) return cudaErrorInvalidDevice;
  if (from->dstDevice < 0 || from->dstDevice >= device_count()) return cudaErrorInvalidDevice;
  to->srcContext = primary_context(from->srcDevice);
  to->dstContext = primary_context(from->dstDevice);
  return cudaSuccess;
}

}  // namespace
}  // namespace runtime

using namespace runtime;

extern "C" {

// ---- One dimension -------------------------------------------------------------------------------------------------

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  RUNTIME_TRY(ready());
  if (bytes == 0) return cudaSuccess;
  RUNTIME_REQUIRE(is_kind(kind), cudaErrorInvalidMemcpyDirection);
  return kept(copy(to, from, bytes, kind));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  RUNTIME_TRY(ready());
  if (bytes == 0) return cudaSuccess;
  RUNTIME_REQUIRE(is_kind(kind), cudaErrorInvalidMemcpyDirection);
  return kept(copy_async(to, from, bytes, kind, stream));
}

#ifndef RUNTIME_PER_THREAD
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(to_device >= 0 && to_device < device_count(), cudaErrorInvalidDevice);
  RUNTIME_REQUIRE(from_device >= 0 && from_device < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuMemcpyPeer(address(to), primary_context(to_device), address(from),
                                    primary_context(from_device), bytes));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(to_device >= 0 && to_device < device_count(), cudaErrorInvalidDevice);
  RUNTIME_REQUIRE(from_device >= 0 && from_device < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuMemcpyPeerAsync(address(to), primary_context(to_device), address(from),
                                         primary_context(from_device), bytes, stream));
}
#endif

// ---- Symbols -------------------------------------------------------------------------------------------------------

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(symbol_place(symbol, bytes, offset, kind, cudaMemcpyHostToDevice, &place));
  return bytes == 0 ? cudaSuccess : kept(copy(place, from, bytes, kind));
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  void* place = nullptr;
  RUNTIME_TRY(symbol_place(symbol, bytes, offset, kind, cudaMemcpyDeviceToHost, &place));
  return bytes == 0 ? cudaSuccess : kept(copy(to, place, bytes, kind));
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  void* place = nullptr;
  RUNTIME_TRY(symbol_place(symbol, bytes, offset, kind, cudaMemcpyHostToDevice, &place));
  return bytes == 0 ? cudaSuccess : kept(copy_async(place, from, bytes, kind, stream));
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  void* place = nullptr;
  RUNTIME_TRY(symbol_place(symbol, bytes, offset, kind, cudaMemcpyDeviceToHost, &place));
  return bytes == 0 ? cudaSuccess : kept(copy_async(to, place, bytes, kind, stream));
}

// ---- Two dimensions ------------------------------------------------------------------------------------------------

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  return copy_plane(linear(to, to_pitch), linear(from, from_pitch), width, height, kind, true, kDefault);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_plane(linear(to, to_pitch), linear(from, from_pitch), width, height, kind, false, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  RUNTIME_REQUIRE(to != nullptr, cudaErrorInvalidResourceHandle);
  return copy_plane(in_array(to, x, y), linear(from, pitch), width, height, kind, true, kDefault);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  RUNTIME_REQUIRE(to != nullptr, cudaErrorInvalidResourceHandle);
  return copy_plane(in_array(to, x, y), linear(from, pitch), width, height, kind, false, stream);
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
                                  std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  RUNTIME_REQUIRE(from != nullptr, cudaErrorInvalidResourceHandle);
  return copy_plane(linear(to, pitch), in_array(from, x, y), width, height, kind, true, kDefault);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  RUNTIME_REQUIRE(from != nullptr, cudaErrorInvalidResourceHandle);
  return copy_plane(linear(to, pitch), in_array(from, x, y), width, height, kind, false, stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                     std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind) {
  RUNTIME_REQUIRE(to != nullptr && from != nullptr, cudaErrorInvalidResourceHandle);
  return copy_plane(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, kind, true, kDefault);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  return copy_rows(to, x, y, from, bytes, kind, true, true, kDefault);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t bytes,
                                cudaMemcpyKind kind) {
  return copy_rows(from, x, y, to, bytes, kind, false, true, kDefault);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(to, x, y, from, bytes, kind, true, false, stream);
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(from, x, y, to, bytes, kind, false, false, stream);
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                   std::size_t from_x, std::size_t from_y, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, bytes, 1, kind);
}

// ---- Three dimensions ----------------------------------------------------------------------------------------------

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  if (is_empty(parameters->extent)) return cudaSuccess;
  CUDA_MEMCPY3D copy;
  RUNTIME_TRY(driver_copy(*parameters, &copy));
  return kept(RUNTIME_SYNCHRONOUS(cuMemcpy3D(&copy), cuMemcpy3DAsync(&copy, stream_of(kDefault))));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(parameters != nullptr, cudaErrorInvalidValue);
  if (is_empty(parameters->extent)) return cudaSuccess;
  CUDA_MEMCPY3D copy;
  RUNTIME_TRY(driver_copy(*parameters, &copy));
  return kept(driver().cuMemcpy3DAsync(&copy, stream_of(stream)));
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  RUNTIME_TRY(ready());
  CUDA_MEMCPY3D_PEER copy;
  RUNTIME_TRY(peer_copy_of(parameters, &copy));
  return kept(RUNTIME_SYNCHRONOUS(cuMemcpy3DPeer(&copy), cuMemcpy3DPeerAsync(&copy, stream_of(kDefault))));
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  RUNTIME_TRY(ready());
  CUDA_MEMCPY3D_PEER copy;
  RUNTIME_TRY(peer_copy_of(parameters, &copy));
  return kept(driver().cuMemcpy3DPeerAsync(&copy, stream_of(stream)));
}

// ---- Fills ---------------------------------------------------------------------------------------------------------

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  RUNTIME_TRY(ready());
  if (bytes == 0) return cudaSuccess;
  const auto byte = static_cast<unsigned char>(value);
  return kept(RUNTIME_SYNCHRONOUS(cuMemsetD8(address(to), byte, bytes),
                                  cuMemsetD8Async(address(to), byte, bytes, stream_of(kDefault))));
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  RUNTIME_TRY(ready());
  if (bytes == 0) return cudaSuccess;
  return kept(driver().cuMemsetD8Async(address(to), static_cast<unsigned char>(value), bytes, stream_of(stream)));
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  RUNTIME_TRY(ready());
  if (width == 0 || height == 0) return cudaSuccess;
  const auto byte = static_cast<unsigned char>(value);
  return kept(RUNTIME_SYNCHRONOUS(cuMemsetD2D8(address(to), pitch, byte, width, height),
                                  cuMemsetD2D8Async(address(to), pitch, byte, width, height, stream_of(kDefault))));
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  RUNTIME_TRY(ready());
  if (width == 0 || height == 0) return cudaSuccess;
  return kept(driver().cuMemsetD2D8Async(address(to), pitch, static_cast<unsigned char>(value), width, height,
                                         stream_of(stream)));
}

// If the planes have no gaps between them, all rows are one plane; otherwise there is one fill per plane.
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  RUNTIME_TRY(ready());
  if (is_empty(extent)) return cudaSuccess;
  const auto byte = static_cast<unsigned char>(value);
  const CUdeviceptr first = address(to.ptr);
  if (extent.depth == 1 || to.ysize == extent.height) {
    return kept(driver().cuMemsetD2D8Async(first, to.pitch, byte, extent.width, extent.height * extent.depth,
                                           stream_of(stream)));
  }
  RUNTIME_REQUIRE(to.ysize >= extent.height, cudaErrorInvalidValue);
  for (std::size_t z = 0; z < extent.depth; ++z) {
    RUNTIME_TRY(driver().cuMemsetD2D8Async(first + z * to.pitch * to.ysize, to.pitch, byte, extent.width, extent.height,
                                           stream_of(stream)));
  }
  return cudaSuccess;
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  const cudaError_t error = cudaMemset3DAsync(to, value, extent, kDefault);
  if (error != cudaSuccess || is_empty(extent)) return error;
  return kept(driver().cuStreamSynchronize(stream_of(kDefault)));
}

// ---- Batches -------------------------------------------------------------------------------------------------------

#if RUNTIME_MAJOR >= 13
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
                                 cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t attribute_count,
                                 cudaStream_t stream) {
  RUNTIME_CALL(cuMemcpyBatchAsync(reinterpret_cast<CUdeviceptr*>(const_cast<void**>(to)),
                                  reinterpret_cast<CUdeviceptr*>(const_cast<void**>(from)),
                                  const_cast<std::size_t*>(sizes), count, same<CUmemcpyAttributes>(attributes), indices,
                                  attribute_count, stream_of(stream)));
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count, cudaMemLocation* places,
                                      std::size_t* indices, std::size_t place_count, unsigned long long flags,
                                      cudaStream_t stream) {
  RUNTIME_CALL(cuMemPrefetchBatchAsync(reinterpret_cast<CUdeviceptr*>(pointers), sizes, count,
                                       same<CUmemLocation>(places), indices, place_count, flags, stream_of(stream)));
}
cudaError_t cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
  RUNTIME_CALL(
      cuMemDiscardBatchAsync(reinterpret_cast<CUdeviceptr*>(pointers), sizes, count, flags, stream_of(stream)));
}
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                                cudaMemLocation* places, std::size_t* indices, std::size_t place_count,
                                                unsigned long long flags, cudaStream_t stream) {
  RUNTIME_CALL(cuMemDiscardAndPrefetchBatchAsync(reinterpret_cast<CUdeviceptr*>(pointers), sizes, count,
                                                 same<CUmemLocation>(places), indices, place_count, flags,
                                                 stream_of(stream)));
}

cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* list, unsigned long long flags,
                                   cudaStream_t stream) {
  RUNTIME_CALL(cuMemcpy3DBatchAsync(count, same<CUDA_MEMCPY3D_BATCH_OP>(list), flags, stream_of(stream)));
}
#endif

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  RUNTIME_CALL(cuMemPrefetchAsync(address(pointer), bytes, *same<CUmemLocation>(&location), flags, stream_of(stream)));
}

}  // extern "C"
