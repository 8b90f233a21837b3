// Makes the same calls three times: before there is a context, while there is one that is not current, and in it.
#include "common/cu.hpp"

void row(const char* call, CUresult answer) { std::printf("  %-22s| %s\n", call, cu::name(answer)); }

int main() {
  CUdevice device, same;
  CUcontext context, current;
  CUdeviceptr memory;
  CUstream stream;
  CUmodule module;
  std::size_t bytes, total;
  void* pinned;
  const char* nothing_in_it = ".version 7.0\n.target sm_75\n.address_size 64\n";  // the smallest module, as PTX
  constexpr CUresult refused = CUDA_ERROR_INVALID_CONTEXT;

  CU_CHECK(cuInit(0));
  std::printf("there is no context\n");
  row("cuDeviceGet", CU_EXPECT(CUDA_SUCCESS, cuDeviceGet(&device, 0)));
  row("cuDeviceTotalMem", CU_EXPECT(CUDA_SUCCESS, cuDeviceTotalMem(&bytes, device)));
  row("cuCtxGetCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxGetCurrent(&current)));
  if (current != nullptr) return 1;
  row("cuCtxGetDevice", CU_EXPECT(refused, cuCtxGetDevice(&same)));
  row("cuMemGetInfo", CU_EXPECT(refused, cuMemGetInfo(&bytes, &total)));
  row("cuMemAlloc", CU_EXPECT(refused, cuMemAlloc(&memory, 4)));
  row("cuMemHostAlloc", CU_EXPECT(refused, cuMemHostAlloc(&pinned, 4, 0)));
  row("cuStreamCreate", CU_EXPECT(refused, cuStreamCreate(&stream, 0)));
  row("cuModuleLoadData", CU_EXPECT(refused, cuModuleLoadData(&module, nothing_in_it)));
  row("cuCtxSynchronize", CU_EXPECT(refused, cuCtxSynchronize()));
  row("cuCtxPopCurrent", CU_EXPECT(refused, cuCtxPopCurrent(&context)));
  row("cuMemFree of nothing", CU_EXPECT(CUDA_SUCCESS, cuMemFree(0)));

  std::printf("there is one, and it is not current\n");
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  CU_CHECK(cuCtxPopCurrent(&context));
  row("cuMemAlloc", CU_EXPECT(refused, cuMemAlloc(&memory, 4)));
  row("cuCtxSynchronize", CU_EXPECT(refused, cuCtxSynchronize()));

  std::printf("it is current\n");
  CU_CHECK(cuCtxPushCurrent(context));
  row("cuCtxGetDevice", CU_EXPECT(CUDA_SUCCESS, cuCtxGetDevice(&same)));
  row("cuMemAlloc", CU_EXPECT(CUDA_SUCCESS, cuMemAlloc(&memory, 4)));
  row("cuModuleLoadData", CU_EXPECT(CUDA_SUCCESS, cuModuleLoadData(&module, nothing_in_it)));
  row("cuCtxSynchronize", CU_EXPECT(CUDA_SUCCESS, cuCtxSynchronize()));

  CU_CHECK(cuModuleUnload(module));
  CU_CHECK(cuMemFree(memory));
  CU_CHECK(cuCtxDestroy(context));
  return same == device ? 0 : 1;
}
