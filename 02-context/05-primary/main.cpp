// Retains and releases the primary context of a device, and shows after every call whether it lives and is current.
#include "common/cu.hpp"

int main() {
  CUdevice device;
  CUcontext first, second, current;
  CUdeviceptr memory;
  unsigned flags;
  int active;

  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));

  auto row = [&](const char* call, CUresult answer) {
    CU_CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CU_CHECK(cuCtxGetCurrent(&current));
    std::printf("%-28s| %-32s| %-5s | %5u | %s\n", call, cu::name(answer), active ? "lives" : "-", flags,
                !current ? "none"
                : active ? "the primary"
                         : "one that has ended");
  };

  std::printf("call                        | answer                          | state | flags | current\n");
  row("(nothing yet)", CUDA_SUCCESS);
  row("cuDevicePrimaryCtxSetFlags",
      CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC)));
  row("cuDevicePrimaryCtxRetain", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&first, device)));
  row("cuMemAlloc", CU_EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4)));
  row("cuCtxSetCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxSetCurrent(first)));
  row("cuMemAlloc", CU_EXPECT(CUDA_SUCCESS, cuMemAlloc(&memory, 4)));

  // Somebody else in this process does the same.
  row("cuDevicePrimaryCtxRetain", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&second, device)));
  if (second != first) return 1;
  row("cuCtxDestroy", CU_EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(second)));
  row("cuDevicePrimaryCtxRelease", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRelease(device)));
  row("cuMemFree", CU_EXPECT(CUDA_SUCCESS, cuMemFree(memory)));

  row("cuDevicePrimaryCtxRelease", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRelease(device)));
  row("cuMemAlloc", CU_EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&memory, 4)));
  row("cuDevicePrimaryCtxRelease", CU_EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device)));
  row("cuCtxPopCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxPopCurrent(&current)));
  return current == nullptr && !active ? 0 : 1;
}
