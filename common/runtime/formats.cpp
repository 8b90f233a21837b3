#include "common/runtime/formats.hpp"

#include <algorithm>

namespace runtime {
namespace {

struct Named {
  cudaChannelFormatKind kind;
  CUarray_format format;
  unsigned channels;
  int bits;  // of each channel that there is
};

// The kinds that name their format, in the order of both headers.
constexpr Named kNamed[] = {
    {cudaChannelFormatKindUnsignedNormalized8X1, CU_AD_FORMAT_UNORM_INT8X1, 1, 8},
    {cudaChannelFormatKindUnsignedNormalized8X2, CU_AD_FORMAT_UNORM_INT8X2, 2, 8},
    {cudaChannelFormatKindUnsignedNormalized8X4, CU_AD_FORMAT_UNORM_INT8X4, 4, 8},
    {cudaChannelFormatKindUnsignedNormalized16X1, CU_AD_FORMAT_UNORM_INT16X1, 1, 16},
    {cudaChannelFormatKindUnsignedNormalized16X2, CU_AD_FORMAT_UNORM_INT16X2, 2, 16},
    {cudaChannelFormatKindUnsignedNormalized16X4, CU_AD_FORMAT_UNORM_INT16X4, 4, 16},
    {cudaChannelFormatKindSignedNormalized8X1, CU_AD_FORMAT_SNORM_INT8X1, 1, 8},
    {cudaChannelFormatKindSignedNormalized8X2, CU_AD_FORMAT_SNORM_INT8X2, 2, 8},
    {cudaChannelFormatKindSignedNormalized8X4, CU_AD_FORMAT_SNORM_INT8X4, 4, 8},
    {cudaChannelFormatKindSignedNormalized16X1, CU_AD_FORMAT_SNORM_INT16X1, 1, 16},
    {cudaChannelFormatKindSignedNormalized16X2, CU_AD_FORMAT_SNORM_INT16X2, 2, 16},
    {cudaChannelFormatKindSignedNormalized16X4, CU_AD_FORMAT_SNORM_INT16X4, 4, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed1, CU_AD_FORMAT_BC1_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed1SRGB, CU_AD_FORMAT_BC1_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed2, CU_AD_FORMAT_BC2_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed2SRGB, CU_AD_FORMAT_BC2_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed3, CU_AD_FORMAT_BC3_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed3SRGB, CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed4, CU_AD_FORMAT_BC4_UNORM, 1, 8},
    {cudaChannelFormatKindSignedBlockCompressed4, CU_AD_FORMAT_BC4_SNORM, 1, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed5, CU_AD_FORMAT_BC5_UNORM, 2, 8},
    {cudaChannelFormatKindSignedBlockCompressed5, CU_AD_FORMAT_BC5_SNORM, 2, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed6H, CU_AD_FORMAT_BC6H_UF16, 3, 16},
    {cudaChannelFormatKindSignedBlockCompressed6H, CU_AD_FORMAT_BC6H_SF16, 3, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed7, CU_AD_FORMAT_BC7_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed7SRGB, CU_AD_FORMAT_BC7_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindNV12, CU_AD_FORMAT_NV12, 3, 8},
};

struct Plain {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};

constexpr Plain kPlain[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

cudaChannelFormatDesc desc_of(int bits, unsigned channels, cudaChannelFormatKind kind) {
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

}  // namespace

cudaError_t driver_format(const cudaChannelFormatDesc& desc, Format* format) {
  for (const Named& named : kNamed) {
    if (named.kind == desc.f) {
      *format = {named.format, named.channels};
      return cudaSuccess;
    }
  }
  const int bits[] = {desc.x, desc.y, desc.z, desc.w};
  unsigned channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  for (unsigned i = 0; i < 4; ++i) {
    if (bits[i] != (i < channels ? desc.x : 0)) return cudaErrorInvalidChannelDescriptor;
  }
  if (channels == 0 || channels == 3) return cudaErrorInvalidChannelDescriptor;
  for (const Plain& plain : kPlain) {
    if (plain.kind == desc.f && plain.bits == desc.x) {
      *format = {plain.format, channels};
      return cudaSuccess;
    }
  }
  return cudaErrorInvalidChannelDescriptor;
}

cudaChannelFormatDesc runtime_format(CUarray_format format, unsigned channels) {
  for (const Plain& plain : kPlain) {
    if (plain.format == format) return desc_of(plain.bits, channels, plain.kind);
  }
  for (const Named& named : kNamed) {
    if (named.format == format) return desc_of(named.bits, named.channels, named.kind);
  }
  return desc_of(0, 0, cudaChannelFormatKindNone);
}

std::size_t element_bytes(CUarray_format format, unsigned channels) {
  for (const Plain& plain : kPlain) {
    if (plain.format == format) return plain.bits / 8 * channels;
  }
  for (const Named& named : kNamed) {
    const bool blocks = named.kind >= cudaChannelFormatKindUnsignedBlockCompressed1;
    if (named.format == format && !blocks) return named.bits / 8 * named.channels;
  }
  return 0;
}

// ---- Copies --------------------------------------------------------------------------------------------------------

namespace {

cudaError_t bytes_in(CUarray array, std::size_t* bytes) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  const cudaError_t error = code(driver().cuArray3DGetDescriptor(&desc, array));
  *bytes = element_bytes(desc.Format, desc.NumChannels);
  return error;
}

// Whether a box is within the rows and planes of its memory, in the order and with the errors of libcudart 13.0: the
// first question is asked only if there is more than one row, and compares the number of elements, not of bytes.
cudaError_t check_pitch(const cudaPitchedPtr& memory, const cudaExtent& extent, std::size_t row_end, std::size_t y) {
  const bool rows = extent.height > 1 || extent.depth > 1;
  if (rows && extent.width > memory.pitch) return cudaErrorInvalidPitchValue;
  if (extent.depth > 1 && extent.height > memory.ysize) return cudaErrorInvalidPitchValue;
  const bool too_wide = row_end > memory.pitch && (rows || memory.pitch != 0);
  const bool too_high = y + extent.height > memory.ysize && (extent.depth > 1 || memory.ysize != 0);
  return too_wide || too_high ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

CUmemorytype memory_type(cudaMemcpyKind kind, bool source) {
  switch (kind) {
    case cudaMemcpyHostToHost: return CU_MEMORYTYPE_HOST;
    case cudaMemcpyHostToDevice: return source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    case cudaMemcpyDeviceToHost: return source ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    case cudaMemcpyDeviceToDevice: return CU_MEMORYTYPE_DEVICE;
    default: return CU_MEMORYTYPE_UNIFIED;
  }
}

cudaError_t driver_copy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to) {
  *to = {};
  const bool array_in = from.srcArray != nullptr, array_out = from.dstArray != nullptr;
  // Each end is an array or a pointer, and not both.
  if (array_in == (from.srcPtr.ptr != nullptr) || array_out == (from.dstPtr.ptr != nullptr)) {
    return cudaErrorInvalidValue;
  }
  if (from.kind < cudaMemcpyHostToHost || from.kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;

  // With an array at either end, widths and positions at both ends count its elements; otherwise bytes.
  std::size_t in_bytes = 1, out_bytes = 1;
  if (array_in) {
    const cudaError_t error = bytes_in(driver_array(from.srcArray), &in_bytes);
    if (error != cudaSuccess) return error;
  }
  if (array_out) {
    const cudaError_t error = bytes_in(driver_array(from.dstArray), &out_bytes);
    if (error != cudaSuccess) return error;
  }
  if (array_in && array_out && in_bytes != out_bytes) return cudaErrorInvalidValue;
  const std::size_t unit = array_in ? in_bytes : out_bytes;

  to->srcXInBytes = from.srcPos.x * unit;
  to->srcY = from.srcPos.y;
  to->srcZ = from.srcPos.z;
  to->dstXInBytes = from.dstPos.x * unit;
  to->dstY = from.dstPos.y;
  to->dstZ = from.dstPos.z;
  if (array_in) {
    to->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    to->srcArray = driver_array(from.srcArray);
  } else {
    to->srcMemoryType = memory_type(from.kind, true);
    to->srcHost = from.srcPtr.ptr;
    to->srcDevice = address(from.srcPtr.ptr);
    to->srcPitch = from.srcPtr.pitch;
    to->srcHeight = from.srcPtr.ysize;
  }
  if (array_out) {
    to->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    to->dstArray = driver_array(from.dstArray);
  } else {
    to->dstMemoryType = memory_type(from.kind, false);
    to->dstHost = from.dstPtr.ptr;
    to->dstDevice = address(from.dstPtr.ptr);
    to->dstPitch = from.dstPtr.pitch;
    to->dstHeight = from.dstPtr.ysize;
  }
  to->WidthInBytes = from.extent.width * unit;
  to->Height = from.extent.height;
  to->Depth = from.extent.depth;
  if (!array_in) {
    const cudaError_t error = check_pitch(from.srcPtr, from.extent, to->srcXInBytes + to->WidthInBytes, to->srcY);
    if (error != cudaSuccess) return error;
  }
  return array_out ? cudaSuccess : check_pitch(from.dstPtr, from.extent, to->dstXInBytes + to->WidthInBytes, to->dstY);
}

cudaError_t runtime_copy(const CUDA_MEMCPY3D& from, cudaMemcpy3DParms* to) {
  *to = {};
  std::size_t unit = 1;
  const auto host = [](CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; };
  if (from.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    const cudaError_t error = bytes_in(from.srcArray, &unit);
    if (error != cudaSuccess) return error;
    to->srcArray = reinterpret_cast<cudaArray_t>(from.srcArray);
  } else {
    void* pointer =
        host(from.srcMemoryType) ? const_cast<void*>(from.srcHost) : reinterpret_cast<void*>(from.srcDevice);
    to->srcPtr = {pointer, from.srcPitch, from.srcPitch, from.srcHeight};
  }
  if (from.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    const cudaError_t error = bytes_in(from.dstArray, &unit);
    if (error != cudaSuccess) return error;
    to->dstArray = reinterpret_cast<cudaArray_t>(from.dstArray);
  } else {
    void* pointer = host(from.dstMemoryType) ? from.dstHost : reinterpret_cast<void*>(from.dstDevice);
    to->dstPtr = {pointer, from.dstPitch, from.dstPitch, from.dstHeight};
  }
  to->srcPos = {from.srcXInBytes / unit, from.srcY, from.srcZ};
  to->dstPos = {from.dstXInBytes / unit, from.dstY, from.dstZ};
  to->extent = {from.WidthInBytes / unit, from.Height, from.Depth};
  if (from.srcMemoryType == CU_MEMORYTYPE_UNIFIED || from.dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
    to->kind = cudaMemcpyDefault;
  } else if (host(from.srcMemoryType)) {
    to->kind = host(from.dstMemoryType) ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  } else {
    to->kind = host(from.dstMemoryType) ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
  }
  return cudaSuccess;
}

// ---- Resources of textures and surfaces ----------------------------------------------------------------------------

cudaError_t driver_resource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  *to = {};
  Format format{};
  switch (from.resType) {
    case cudaResourceTypeArray:
      to->resType = CU_RESOURCE_TYPE_ARRAY;
      to->res.array.hArray = driver_array(from.res.array.array);
      break;
    case cudaResourceTypeMipmappedArray:
      to->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      to->res.mipmap.hMipmappedArray = driver_array(from.res.mipmap.mipmap);
      break;
    case cudaResourceTypeLinear: {
      const cudaError_t error = driver_format(from.res.linear.desc, &format);
      if (error != cudaSuccess) return error;
      to->resType = CU_RESOURCE_TYPE_LINEAR;
      to->res.linear = {address(from.res.linear.devPtr), format.format, format.channels, from.res.linear.sizeInBytes};
      break;
    }
    case cudaResourceTypePitch2D: {
      const auto& plane = from.res.pitch2D;
      const cudaError_t error = driver_format(plane.desc, &format);
      if (error != cudaSuccess) return error;
      to->resType = CU_RESOURCE_TYPE_PITCH2D;
      to->res.pitch2D = {address(plane.devPtr), format.format, format.channels,
                         plane.width,           plane.height,  plane.pitchInBytes};
      break;
    }
    default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t runtime_resource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to) {
  *to = {};
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to->resType = cudaResourceTypeArray;
      to->res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to->resType = cudaResourceTypeMipmappedArray;
      to->res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& line = from.res.linear;
      to->resType = cudaResourceTypeLinear;
      to->res.linear.devPtr = reinterpret_cast<void*>(line.devPtr);
      to->res.linear.desc = runtime_format(line.format, line.numChannels);
      to->res.linear.sizeInBytes = line.sizeInBytes;
      break;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& plane = from.res.pitch2D;
      to->resType = cudaResourceTypePitch2D;
      to->res.pitch2D.devPtr = reinterpret_cast<void*>(plane.devPtr);
      to->res.pitch2D.desc = runtime_format(plane.format, plane.numChannels);
      to->res.pitch2D.width = plane.width;
      to->res.pitch2D.height = plane.height;
      to->res.pitch2D.pitchInBytes = plane.pitchInBytes;
      break;
    }
    default: return cudaErrorUnknown;
  }
  return cudaSuccess;
}

}  // namespace runtime
