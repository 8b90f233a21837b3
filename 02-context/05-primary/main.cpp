// Retains and releases the primary context of a device, and shows after every call whether it is active and current.
#include "common/cu.hpp"

struct State {
  unsigned flags;
  bool active;
  bool current;
};

State state_of(CUdevice device) {
  unsigned flags;
  int active;
  CU_CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  CUcontext current;
  CU_CHECK(cuCtxGetCurrent(&current));
  return {flags, active != 0, current != nullptr};
}

void row(CUdevice device, const char* call, CUresult result) {
  const State state = state_of(device);
  const char* const current = !state.current ? "none" : state.active ? "the primary context" : "a destroyed context";
  std::printf("%-27s| %-32s| %-8s | %5u | %s\n", call, cu::name(result), state.active ? "active" : "inactive",
              state.flags, current);
}

int main() {
  CU_CHECK(cuInit(0));
  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));

  std::printf("call                       | result                          | state    | flags | current context\n");
  row(device, "(start)", CUDA_SUCCESS);
  row(device, "cuDevicePrimaryCtxSetFlags",
      CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC)));
  CUcontext first;
  row(device, "cuDevicePrimaryCtxRetain", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&first, device)));
  CUdeviceptr memory;
  row(device, "cuMemAlloc", CU_EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4)));
  row(device, "cuCtxSetCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxSetCurrent(first)));
  row(device, "cuMemAlloc", CU_EXPECT(CUDA_SUCCESS, cuMemAlloc(&memory, 4)));

  // Another part of the program retains the context, too.
  CUcontext second;
  row(device, "cuDevicePrimaryCtxRetain", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&second, device)));
  if (second != first) return 1;
  row(device, "cuCtxDestroy", CU_EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(second)));
  row(device, "cuDevicePrimaryCtxRelease", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRelease(device)));
  row(device, "cuMemFree", CU_EXPECT(CUDA_SUCCESS, cuMemFree(memory)));

  row(device, "cuDevicePrimaryCtxRelease", CU_EXPECT(CUDA_SUCCESS, cuDevicePrimaryCtxRelease(device)));
  row(device, "cuMemAlloc", CU_EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&memory, 4)));
  row(device, "cuDevicePrimaryCtxRelease", CU_EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device)));
  CUcontext popped;
  row(device, "cuCtxPopCurrent", CU_EXPECT(CUDA_SUCCESS, cuCtxPopCurrent(&popped)));
  const State end = state_of(device);
  return end.active || end.current ? 1 : 0;
}
