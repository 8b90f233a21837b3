// The first versions of the functions that deal with memory, from the time when device pointers and sizes had 32 bits.
// Programs of today reach them by their bare names, through dlsym or ctypes: cuMemAlloc, not cuMemAlloc_v2. Driver 580
// serves them for 64-bit programs as well: a context of cuCtxCreate, the bare name, has its memory below 4 GiB.
//
// Each converts its arguments and does what the second version does. exports.cpp has asked for such a context before.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/allocations.hpp"

#include <algorithm>

namespace cudasim {
namespace {

unsigned narrow(u64 value) { return static_cast<unsigned>(std::min<u64>(value, ~0u)); }

// Stores a result of 64 bits where a program expects 32.
template <class Call>
CUresult into_pointer(FirstPointer* out, Call&& call) {
  CUdeviceptr wide = 0;
  const CUresult result = call(out == nullptr ? nullptr : &wide);
  if (result == CUDA_SUCCESS && out != nullptr) *out = narrow(wide);
  return result;
}

template <class To, class From>
To with_pitches(const From& from) {
  To to{};
  to.srcXInBytes = from.srcXInBytes, to.srcY = from.srcY, to.srcMemoryType = from.srcMemoryType;
  to.srcHost = from.srcHost, to.srcDevice = from.srcDevice, to.srcArray = from.srcArray, to.srcPitch = from.srcPitch;
  to.dstXInBytes = from.dstXInBytes, to.dstY = from.dstY, to.dstMemoryType = from.dstMemoryType;
  to.dstHost = from.dstHost, to.dstDevice = from.dstDevice, to.dstArray = from.dstArray, to.dstPitch = from.dstPitch;
  to.WidthInBytes = from.WidthInBytes, to.Height = from.Height;
  return to;
}

CUDA_MEMCPY3D wide(const FirstCopy3D& from) {
  auto to = with_pitches<CUDA_MEMCPY3D>(from);
  to.srcZ = from.srcZ, to.srcLOD = from.srcLOD, to.srcHeight = from.srcHeight, to.reserved0 = from.reserved0;
  to.dstZ = from.dstZ, to.dstLOD = from.dstLOD, to.dstHeight = from.dstHeight, to.reserved1 = from.reserved1;
  to.Depth = from.Depth;
  return to;
}

CUDA_MEMCPY2D wide(const FirstCopy2D& from) { return with_pitches<CUDA_MEMCPY2D>(from); }

CUDA_ARRAY_DESCRIPTOR wide(const FirstArray& from) { return {from.Width, from.Height, from.Format, from.NumChannels}; }

CUDA_ARRAY3D_DESCRIPTOR wide(const FirstArray3D& from) {
  return {from.Width, from.Height, from.Depth, from.Format, from.NumChannels, from.Flags};
}

// f(what the description says, in 64 bits).
template <class T, class Call>
CUresult described(const T* description, Call&& call) {
  require(description != nullptr);
  const auto converted = wide(*description);
  return call(&converted);
}

}  // namespace

// ---- Memory

CUresult driver::call_cuMemAlloc(FirstPointer* pointer, unsigned int bytes) {
  return into_pointer(pointer, [&](CUdeviceptr* out) { return call_cuMemAlloc_v2(out, bytes); });
}

CUresult driver::call_cuMemAllocPitch(FirstPointer* pointer, unsigned int* pitch, unsigned int width,
                                      unsigned int height, unsigned int element) {
  size_t wide = 0;
  const CUresult result = into_pointer(pointer, [&](CUdeviceptr* out) {
    return call_cuMemAllocPitch_v2(out, pitch == nullptr ? nullptr : &wide, width, height, element);
  });
  if (result == CUDA_SUCCESS) *pitch = narrow(wide);
  return result;
}

CUresult driver::call_cuMemFree(FirstPointer pointer) { return call_cuMemFree_v2(pointer); }

CUresult driver::call_cuMemGetInfo(unsigned int* free, unsigned int* total) {
  size_t wide_free = 0, wide_total = 0;
  const CUresult result = call_cuMemGetInfo_v2(&wide_free, &wide_total);
  if (free != nullptr) *free = narrow(wide_free);
  if (total != nullptr) *total = narrow(wide_total);
  return result;
}

CUresult driver::call_cuMemGetAddressRange(FirstPointer* base, unsigned int* size, FirstPointer pointer) {
  size_t bytes = 0;
  const CUresult result =
      into_pointer(base, [&](CUdeviceptr* out) { return call_cuMemGetAddressRange_v2(out, &bytes, pointer); });
  if (result == CUDA_SUCCESS && size != nullptr) *size = narrow(bytes);
  return result;
}

CUresult driver::call_cuMemAllocHost(void** pointer, unsigned int bytes) {
  return call_cuMemAllocHost_v2(pointer, bytes);
}

CUresult driver::call_cuMemHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return call_cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult driver::call_cuMemHostGetDevicePointer(FirstPointer* pointer, void* host, unsigned int flags) {
  CUdeviceptr wide = 0;
  const CUresult result = call_cuMemHostGetDevicePointer_v2(pointer == nullptr ? nullptr : &wide, host, flags);
  if (result != CUDA_SUCCESS) return result;
  require(wide <= ~0u, CUDA_ERROR_NOT_SUPPORTED, [] { return "the memory has an address of more than 32 bits"; });
  *pointer = narrow(wide);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleGetGlobal(FirstPointer* pointer, unsigned int* bytes, CUmodule module, const char* name) {
  size_t size = 0;
  const CUresult result = into_pointer(pointer, [&](CUdeviceptr* out) {
    return call_cuModuleGetGlobal_v2(out, bytes == nullptr ? nullptr : &size, module, name);
  });
  if (result == CUDA_SUCCESS && bytes != nullptr) *bytes = narrow(size);
  return result;
}

// ---- Copies

CUresult driver::call_cuMemcpyHtoD(FirstPointer to, const void* from, unsigned int bytes) {
  return call_cuMemcpyHtoD_v2(to, from, bytes);
}
CUresult driver::call_cuMemcpyDtoH(void* to, FirstPointer from, unsigned int bytes) {
  return call_cuMemcpyDtoH_v2(to, from, bytes);
}
CUresult driver::call_cuMemcpyDtoD(FirstPointer to, FirstPointer from, unsigned int bytes) {
  return call_cuMemcpyDtoD_v2(to, from, bytes);
}
CUresult driver::call_cuMemcpyDtoA(CUarray to, unsigned int offset, FirstPointer from, unsigned int bytes) {
  return call_cuMemcpyDtoA_v2(to, offset, from, bytes);
}
CUresult driver::call_cuMemcpyAtoD(FirstPointer to, CUarray from, unsigned int offset, unsigned int bytes) {
  return call_cuMemcpyAtoD_v2(to, from, offset, bytes);
}
CUresult driver::call_cuMemcpyHtoA(CUarray to, unsigned int offset, const void* from, unsigned int bytes) {
  return call_cuMemcpyHtoA_v2(to, offset, from, bytes);
}
CUresult driver::call_cuMemcpyAtoH(void* to, CUarray from, unsigned int offset, unsigned int bytes) {
  return call_cuMemcpyAtoH_v2(to, from, offset, bytes);
}
CUresult driver::call_cuMemcpyAtoA(CUarray to, unsigned int to_offset, CUarray from, unsigned int from_offset,
                                   unsigned int bytes) {
  return call_cuMemcpyAtoA_v2(to, to_offset, from, from_offset, bytes);
}
CUresult driver::call_cuMemcpyHtoAAsync(CUarray to, unsigned int offset, const void* from, unsigned int bytes,
                                        CUstream stream) {
  return call_cuMemcpyHtoAAsync_v2(to, offset, from, bytes, stream);
}
CUresult driver::call_cuMemcpyAtoHAsync(void* to, CUarray from, unsigned int offset, unsigned int bytes,
                                        CUstream stream) {
  return call_cuMemcpyAtoHAsync_v2(to, from, offset, bytes, stream);
}
CUresult driver::call_cuMemcpyHtoDAsync(FirstPointer to, const void* from, unsigned int bytes, CUstream stream) {
  return call_cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
}
CUresult driver::call_cuMemcpyDtoHAsync(void* to, FirstPointer from, unsigned int bytes, CUstream stream) {
  return call_cuMemcpyDtoHAsync_v2(to, from, bytes, stream);
}
CUresult driver::call_cuMemcpyDtoDAsync(FirstPointer to, FirstPointer from, unsigned int bytes, CUstream stream) {
  return call_cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
CUresult driver::call_cuMemcpy2D(const FirstCopy2D* copy) {
  return described(copy, [](const CUDA_MEMCPY2D* wide) { return call_cuMemcpy2D_v2(wide); });
}
CUresult driver::call_cuMemcpy2DUnaligned(const FirstCopy2D* copy) {
  return described(copy, [](const CUDA_MEMCPY2D* wide) { return call_cuMemcpy2DUnaligned_v2(wide); });
}
CUresult driver::call_cuMemcpy2DAsync(const FirstCopy2D* copy, CUstream stream) {
  return described(copy, [&](const CUDA_MEMCPY2D* wide) { return call_cuMemcpy2DAsync_v2(wide, stream); });
}
CUresult driver::call_cuMemcpy3D(const FirstCopy3D* copy) {
  return described(copy, [](const CUDA_MEMCPY3D* wide) { return call_cuMemcpy3D_v2(wide); });
}
CUresult driver::call_cuMemcpy3DAsync(const FirstCopy3D* copy, CUstream stream) {
  return described(copy, [&](const CUDA_MEMCPY3D* wide) { return call_cuMemcpy3DAsync_v2(wide, stream); });
}

// ---- Fills

CUresult driver::call_cuMemsetD8(FirstPointer to, unsigned char value, unsigned int count) {
  return call_cuMemsetD8_v2(to, value, count);
}
CUresult driver::call_cuMemsetD16(FirstPointer to, unsigned short value, unsigned int count) {
  return call_cuMemsetD16_v2(to, value, count);
}
CUresult driver::call_cuMemsetD32(FirstPointer to, unsigned int value, unsigned int count) {
  return call_cuMemsetD32_v2(to, value, count);
}
CUresult driver::call_cuMemsetD2D8(FirstPointer to, unsigned int pitch, unsigned char value, unsigned int width,
                                   unsigned int height) {
  return call_cuMemsetD2D8_v2(to, pitch, value, width, height);
}
CUresult driver::call_cuMemsetD2D16(FirstPointer to, unsigned int pitch, unsigned short value, unsigned int width,
                                    unsigned int height) {
  return call_cuMemsetD2D16_v2(to, pitch, value, width, height);
}
CUresult driver::call_cuMemsetD2D32(FirstPointer to, unsigned int pitch, unsigned int value, unsigned int width,
                                    unsigned int height) {
  return call_cuMemsetD2D32_v2(to, pitch, value, width, height);
}

// ---- Arrays and texture references

CUresult driver::call_cuArrayCreate(CUarray* array, const FirstArray* description) {
  return described(description, [&](const CUDA_ARRAY_DESCRIPTOR* wide) { return call_cuArrayCreate_v2(array, wide); });
}
CUresult driver::call_cuArray3DCreate(CUarray* array, const FirstArray3D* description) {
  return described(description,
                   [&](const CUDA_ARRAY3D_DESCRIPTOR* wide) { return call_cuArray3DCreate_v2(array, wide); });
}
CUresult driver::call_cuArrayGetDescriptor(FirstArray* description, CUarray array) {
  CUDA_ARRAY_DESCRIPTOR known{};
  const CUresult result = call_cuArrayGetDescriptor_v2(description == nullptr ? nullptr : &known, array);
  if (result == CUDA_SUCCESS)
    *description = {narrow(known.Width), narrow(known.Height), known.Format, known.NumChannels};
  return result;
}
CUresult driver::call_cuArray3DGetDescriptor(FirstArray3D* description, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR known{};
  const CUresult result = call_cuArray3DGetDescriptor_v2(description == nullptr ? nullptr : &known, array);
  if (result == CUDA_SUCCESS) {
    *description = {narrow(known.Width), narrow(known.Height), narrow(known.Depth),
                    known.Format,        known.NumChannels,    known.Flags};
  }
  return result;
}
CUresult driver::call_cuTexRefSetAddress(unsigned int* offset, CUtexref reference, FirstPointer pointer,
                                         unsigned int bytes) {
  size_t wide = 0;
  const CUresult result = call_cuTexRefSetAddress_v2(offset == nullptr ? nullptr : &wide, reference, pointer, bytes);
  if (result == CUDA_SUCCESS && offset != nullptr) *offset = narrow(wide);
  return result;
}
CUresult driver::call_cuTexRefSetAddress2D(CUtexref reference, const FirstArray* description, FirstPointer pointer,
                                           unsigned int pitch) {
  return described(description, [&](const CUDA_ARRAY_DESCRIPTOR* wide) {
    return call_cuTexRefSetAddress2D_v3(reference, wide, pointer, pitch);
  });
}
CUresult driver::call_cuTexRefGetAddress(FirstPointer* pointer, CUtexref reference) {
  return into_pointer(pointer, [&](CUdeviceptr* out) { return call_cuTexRefGetAddress_v2(out, reference); });
}

}  // namespace cudasim
