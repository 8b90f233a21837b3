// What the first versions of the driver's functions take: device pointers and sizes of 32 bits. cuda.h declares these
// types for the driver only.
#pragma once
#include <cuda.h>

namespace cudasim {

using FirstPointer = unsigned int;

struct FirstArray {  // CUDA_ARRAY_DESCRIPTOR_v1
  unsigned int Width, Height;
  CUarray_format Format;
  unsigned int NumChannels;
};

struct FirstArray3D {  // CUDA_ARRAY3D_DESCRIPTOR_v1
  unsigned int Width, Height, Depth;
  CUarray_format Format;
  unsigned int NumChannels, Flags;
};

struct FirstCopy2D {  // CUDA_MEMCPY2D_v1
  unsigned int srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  FirstPointer srcDevice;
  CUarray srcArray;
  unsigned int srcPitch;
  unsigned int dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void* dstHost;
  FirstPointer dstDevice;
  CUarray dstArray;
  unsigned int dstPitch;
  unsigned int WidthInBytes, Height;
};

struct FirstCopy3D {  // CUDA_MEMCPY3D_v1
  unsigned int srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  FirstPointer srcDevice;
  CUarray srcArray;
  void* reserved0;
  unsigned int srcPitch, srcHeight;
  unsigned int dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void* dstHost;
  FirstPointer dstDevice;
  CUarray dstArray;
  void* reserved1;
  unsigned int dstPitch, dstHeight;
  unsigned int WidthInBytes, Height, Depth;
};

}  // namespace cudasim
