// Makes the same calls without a context, with a context that is not current, and with a current context.
#include "common/cu.hpp"

constexpr CUresult kRefused = CUDA_ERROR_INVALID_CONTEXT;

// The smallest possible module, as PTX. It contains no kernel.
const char* const kEmptyModule = ".version 7.0\n.target sm_75\n.address_size 64\n";

void row(const char* call, CUresult result) { std::printf("  %-22s| %s\n", call, cu::name(result)); }

int main() {
  CU_CHECK(cuInit(0));
  std::printf("no context exists\n");
  CUdevice device, same;
  row("cuDeviceGet", CU_EXPECT(CUDA_SUCCESS, cuDeviceGet(&device, 0)));
  std::size_t bytes, total;
  row("cuDeviceTotalMem", CU_EXPECT(CUDA_SUCCESS, cuDeviceTotalMem(&bytes, device)));
  CUcontext current, popped;
  row("cuCtxGetCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxGetCurrent(&current)));
  if (current != nullptr) return 1;
  row("cuMemFree(0)", CU_EXPECT(CUDA_SUCCESS, cuMemFree(0)));
  row("cuCtxGetDevice", CU_EXPECT(kRefused, cuCtxGetDevice(&same)));
  row("cuMemGetInfo", CU_EXPECT(kRefused, cuMemGetInfo(&bytes, &total)));
  CUdeviceptr memory;
  row("cuMemAlloc", CU_EXPECT(kRefused, cuMemAlloc(&memory, 4)));
  void* pinned;
  row("cuMemHostAlloc", CU_EXPECT(kRefused, cuMemHostAlloc(&pinned, 4, 0)));
  CUstream stream;
  row("cuStreamCreate", CU_EXPECT(kRefused, cuStreamCreate(&stream, 0)));
  CUmodule module;
  row("cuModuleLoadData", CU_EXPECT(kRefused, cuModuleLoadData(&module, kEmptyModule)));
  row("cuCtxSynchronize", CU_EXPECT(kRefused, cuCtxSynchronize()));
  row("cuCtxPopCurrent", CU_EXPECT(kRefused, cuCtxPopCurrent(&popped)));

  std::printf("a context exists, but is not current\n");
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  CU_CHECK(cuCtxPopCurrent(&popped));
  row("cuMemAlloc", CU_EXPECT(kRefused, cuMemAlloc(&memory, 4)));
  row("cuCtxSynchronize", CU_EXPECT(kRefused, cuCtxSynchronize()));

  std::printf("the context is current\n");
  CU_CHECK(cuCtxPushCurrent(context));
  row("cuCtxGetDevice", CU_EXPECT(CUDA_SUCCESS, cuCtxGetDevice(&same)));
  row("cuMemAlloc", CU_EXPECT(CUDA_SUCCESS, cuMemAlloc(&memory, 4)));
  row("cuModuleLoadData", CU_EXPECT(CUDA_SUCCESS, cuModuleLoadData(&module, kEmptyModule)));
  row("cuCtxSynchronize", CU_EXPECT(CUDA_SUCCESS, cuCtxSynchronize()));

  CU_CHECK(cuModuleUnload(module));
  CU_CHECK(cuMemFree(memory));
  CU_CHECK(cuCtxDestroy(context));
  return same == device ? 0 : 1;
}
