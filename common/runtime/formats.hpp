// Conversions between the two APIs' descriptions of elements, copies and textures.
#pragma once
#include "common/runtime/runtime.hpp"

namespace runtime {

// How the driver describes the elements of an array.
struct Format {
  CUarray_format format;
  unsigned channels;
};

cudaError_t driver_format(const cudaChannelFormatDesc& desc, Format* format);
cudaChannelFormatDesc runtime_format(CUarray_format format, unsigned channels);
// The size of an element of an array; 0 for formats in blocks.
std::size_t element_bytes(CUarray_format format, unsigned channels);

// The memory at one end of a copy, its source or its destination, as far as the direction determines it.
CUmemorytype memory_type(cudaMemcpyKind kind, bool source);

// A copy of three dimensions as the driver describes it, and back.
cudaError_t driver_copy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to);
cudaError_t runtime_copy(const CUDA_MEMCPY3D& from, cudaMemcpy3DParms* to);

cudaError_t driver_resource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to);
cudaError_t runtime_resource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to);

}  // namespace runtime
