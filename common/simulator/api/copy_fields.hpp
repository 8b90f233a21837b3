// The fields that the driver's descriptions of copies have in common: CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER,
// and their first versions.
#pragma once

namespace cudasim {

template <class To, class From>
To with_rows_of(const From& from) {
  To to{};
  to.srcXInBytes = from.srcXInBytes, to.srcY = from.srcY, to.srcMemoryType = from.srcMemoryType;
  to.srcHost = from.srcHost, to.srcDevice = from.srcDevice, to.srcArray = from.srcArray, to.srcPitch = from.srcPitch;
  to.dstXInBytes = from.dstXInBytes, to.dstY = from.dstY, to.dstMemoryType = from.dstMemoryType;
  to.dstHost = from.dstHost, to.dstDevice = from.dstDevice, to.dstArray = from.dstArray, to.dstPitch = from.dstPitch;
  to.WidthInBytes = from.WidthInBytes, to.Height = from.Height;
  return to;
}

template <class To, class From>
To with_slices_of(const From& from) {
  auto to = with_rows_of<To>(from);
  to.srcZ = from.srcZ, to.srcLOD = from.srcLOD, to.srcHeight = from.srcHeight;
  to.dstZ = from.dstZ, to.dstLOD = from.dstLOD, to.dstHeight = from.dstHeight;
  to.Depth = from.Depth;
  return to;
}

}  // namespace cudasim
