// The first versions of calls, of the time when device pointers and sizes had 32 bits. They want a context that was
// made by a program of that time; there are none on a driver of 64 bits, which answers so (driver 580).
//
// cuda.h is left out on purpose: it gives these names to the second versions.
#include "common/simulator/api/guard.hpp"

namespace cudasim {
namespace {

int no_such_context(const char* name) {
  return run_call(
      {name, "", nullptr, 0, WhenLocked::waits},
      [](void*) -> CUresult {
        require_calls_permitted();
        return CUDA_ERROR_INVALID_CONTEXT;
      },
      nullptr);
}

}  // namespace
}  // namespace cudasim

#define FIRST_VERSION(symbol, name)                                                        \
  extern "C" __attribute__((visibility("default"))) int first_##symbol() __asm__(#symbol); \
  int first_##symbol() { return cudasim::no_such_context(name); }

FIRST_VERSION(cuArray3DCreate, "cuArray3DCreate")
FIRST_VERSION(cuArray3DGetDescriptor, "cuArray3DGetDescriptor")
FIRST_VERSION(cuArrayCreate, "cuArrayCreate")
FIRST_VERSION(cuArrayGetDescriptor, "cuArrayGetDescriptor")
FIRST_VERSION(cuMemAlloc, "cuMemAlloc")
FIRST_VERSION(cuMemAllocHost, "cuMemAllocHost")
FIRST_VERSION(cuMemAllocPitch, "cuMemAllocPitch")
FIRST_VERSION(cuMemFree, "cuMemFree")
FIRST_VERSION(cuMemGetAddressRange, "cuMemGetAddressRange")
FIRST_VERSION(cuMemGetInfo, "cuMemGetInfo")
FIRST_VERSION(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer")
FIRST_VERSION(cuMemHostRegister, "cuMemHostRegister")
FIRST_VERSION(cuMemcpy2D, "cuMemcpy2D")
FIRST_VERSION(cuMemcpy2DAsync, "cuMemcpy2DAsync")
FIRST_VERSION(cuMemcpy2DUnaligned, "cuMemcpy2DUnaligned")
FIRST_VERSION(cuMemcpy3D, "cuMemcpy3D")
FIRST_VERSION(cuMemcpy3DAsync, "cuMemcpy3DAsync")
FIRST_VERSION(cuMemcpyAtoA, "cuMemcpyAtoA")
FIRST_VERSION(cuMemcpyAtoD, "cuMemcpyAtoD")
FIRST_VERSION(cuMemcpyAtoH, "cuMemcpyAtoH")
FIRST_VERSION(cuMemcpyAtoHAsync, "cuMemcpyAtoHAsync")
FIRST_VERSION(cuMemcpyDtoA, "cuMemcpyDtoA")
FIRST_VERSION(cuMemcpyDtoD, "cuMemcpyDtoD")
FIRST_VERSION(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync")
FIRST_VERSION(cuMemcpyDtoH, "cuMemcpyDtoH")
FIRST_VERSION(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync")
FIRST_VERSION(cuMemcpyHtoA, "cuMemcpyHtoA")
FIRST_VERSION(cuMemcpyHtoAAsync, "cuMemcpyHtoAAsync")
FIRST_VERSION(cuMemcpyHtoD, "cuMemcpyHtoD")
FIRST_VERSION(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync")
FIRST_VERSION(cuModuleGetGlobal, "cuModuleGetGlobal")
