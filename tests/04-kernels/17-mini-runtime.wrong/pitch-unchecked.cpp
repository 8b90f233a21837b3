// Rejected with: "a row longer than its pitch is rejected"
// The driver rejects it as well, but with cudaErrorInvalidValue, and not with the error that the manual promises.
#include <cuda.h>
#include <cuda_runtime_api.h>

// Copies `height` rows of `width` bytes; rows begin `to_pitch` and `from_pitch` bytes apart. What cudaMemcpy2D's manual
// says: a row longer than either pitch is cudaErrorInvalidPitchValue, a direction that does not exist is
// cudaErrorInvalidMemcpyDirection, and any other error of the driver is returned. cudaMemcpyDefault leaves it to
// the driver to find out where the two ends lie (CU_MEMORYTYPE_UNIFIED).
cudaError_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                    std::size_t height, cudaMemcpyKind kind) {
  CUmemorytype source, destination;
  switch (kind) {
    case cudaMemcpyHostToHost: source = destination = CU_MEMORYTYPE_HOST; break;
    case cudaMemcpyHostToDevice: source = CU_MEMORYTYPE_HOST, destination = CU_MEMORYTYPE_DEVICE; break;
    case cudaMemcpyDeviceToHost: source = CU_MEMORYTYPE_DEVICE, destination = CU_MEMORYTYPE_HOST; break;
    case cudaMemcpyDeviceToDevice: source = destination = CU_MEMORYTYPE_DEVICE; break;
    case cudaMemcpyDefault: source = destination = CU_MEMORYTYPE_UNIFIED; break;
    default: return cudaErrorInvalidMemcpyDirection;
  }
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = source;
  copy.srcHost = from;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  copy.srcPitch = from_pitch;
  copy.dstMemoryType = destination;
  copy.dstHost = to;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return static_cast<cudaError_t>(cuMemcpy2D(&copy));
}
