// Memory of two devices: copies between them, with and without peer access. On the simulator there are two for these
// cases; on a machine with one GPU they are skipped.
#include "tests/conformance/scenario.hpp"

namespace {

bool two_devices() {
  int count = 0;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGetCount(&count));
  return count >= 2;
}

}  // namespace

FRESH_CASE("Bytes move from one device to another", "[peer][alone]", {"CUDASIM_DEVICES", "2"}) {
  if (!two_devices()) SKIP_TEST("needs two devices");
  CUcontext first = nullptr, second = nullptr, x = nullptr;
  CUdeviceptr a = 0, b = 0;
  CU_CHECK(cuCtxCreate(&first, nullptr, 0, 0));
  CU_CHECK(cuMemAlloc(&a, 4096));
  CU_CHECK(cuMemsetD32(a, 77, 1024));
  CU_CHECK(cuCtxSynchronize());
  CU_CHECK(cuCtxCreate(&second, nullptr, 0, 1));
  CU_CHECK(cuMemAlloc(&b, 4096));

  int ordinal = -1;
  ANSWERS(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a), CUDA_SUCCESS);
  CHECK(ordinal == 0);
  ANSWERS(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, b), CUDA_SUCCESS);
  CHECK(ordinal == 1);
  ANSWERS(cuMemcpyPeer(b, second, a, first, 4096), CUDA_SUCCESS);
  unsigned got = 0;
  ANSWERS(cuMemcpyDtoH(&got, b + 4092, 4), CUDA_SUCCESS);
  CHECK(got == 77);
  ANSWERS(cuMemcpyPeerAsync(b, second, a, first, 4096, 0), CUDA_SUCCESS);
  ANSWERS(cuMemcpyPeer(b, second, a, first, 4097), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);

  // Each device has memory of its own.
  std::size_t free_before = 0, free_after = 0, total = 0;
  CU_CHECK(cuMemGetInfo(&free_before, &total));
  CU_CHECK(cuCtxPopCurrent(&x));
  CUdeviceptr big = 0;
  CU_CHECK(cuMemAlloc(&big, 64 << 20));
  CU_CHECK(cuCtxPushCurrent(second));
  CU_CHECK(cuMemGetInfo(&free_after, &total));
  if (conformance::on_simulator()) CHECK(free_before == free_after);
}

// The call is deprecated, but exported by every driver.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
FRESH_CASE("One call launches a kernel on each device, behind the streams of all of them", "[peer]",
           {"CUDASIM_DEVICES", "2"}) {
  if (!two_devices()) SKIP_TEST("needs two devices");
  CUDA_LAUNCH_PARAMS launches[2] = {};
  CUdeviceptr counters[2] = {};
  CUcontext contexts[2] = {};
  for (int i = 0; i < 2; ++i) {
    CUmodule mod = nullptr;
    CU_CHECK(cuCtxCreate(&contexts[i], nullptr, 0, i));
    CU_CHECK(cuModuleLoadData(&mod, conformance::image().c_str()));
    CU_CHECK(cuModuleGetGlobal(&counters[i], nullptr, mod, "counter"));
    CU_CHECK(cuMemsetD32(counters[i], 0, 1));
    CU_CHECK(cuCtxSynchronize());  // the streams below do not wait for it
    CU_CHECK(cuModuleGetFunction(&launches[i].function, mod, "inc"));
    CU_CHECK(cuStreamCreate(&launches[i].hStream, CU_STREAM_NON_BLOCKING));
    launches[i].gridDimX = 3;
    launches[i].gridDimY = launches[i].gridDimZ = 1;
    launches[i].blockDimX = launches[i].blockDimY = launches[i].blockDimZ = 1;
  }
  ANSWERS(cuLaunchCooperativeKernelMultiDevice(launches, 2, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchCooperativeKernelMultiDevice(launches, 2,
                                               CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC |
                                                   CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC),
          CUDA_SUCCESS);
  ANSWERS(cuLaunchCooperativeKernelMultiDevice(launches, 2, 8), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchCooperativeKernelMultiDevice(nullptr, 2, 0), CUDA_ERROR_INVALID_VALUE);
  launches[1].gridDimX = 2;
  ANSWERS(cuLaunchCooperativeKernelMultiDevice(launches, 2, 0), CUDA_ERROR_INVALID_VALUE);
  for (int i = 0; i < 2; ++i) {
    unsigned count = 0;
    CU_CHECK(cuCtxSetCurrent(contexts[i]));
    CU_CHECK(cuCtxSynchronize());
    CU_CHECK(cuMemcpyDtoH(&count, counters[i], 4));
    CHECK(count == 6);
  }
}
#pragma GCC diagnostic pop
