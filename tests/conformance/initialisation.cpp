// What works before cuInit, which devices a process sees, and what a forked child may do.
#include "tests/conformance/scenario.hpp"

FRESH_CASE("Before cuInit, only the version and the error names can be queried", "[init]") {
  int v = 0, c = 0;
  CUdevice d = 0;
  CUcontext x = nullptr;
  CUdeviceptr p = 0;
  void* h = nullptr;
  const char* s = nullptr;
  ANSWERS(cuDriverGetVersion(&v), CUDA_SUCCESS);
  NOTES("version " << v);
  CHECK(v >= 12000);
  ANSWERS(cuDeviceGetCount(&c), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuDeviceGet(&d, 0), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuMemAlloc(&p, 16), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuGetErrorName(CUDA_ERROR_UNKNOWN, &s), CUDA_SUCCESS);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuDevicePrimaryCtxRetain(&x, 0), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuMemHostAlloc(&h, 16, 0), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuModuleLoadData((CUmodule*)&x, "x"), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuMemFree(0), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceGetCount(&c), CUDA_ERROR_NOT_INITIALIZED);
  ANSWERS(cuInit(0), CUDA_SUCCESS);
  ANSWERS(cuInit(0), CUDA_SUCCESS);
  ANSWERS(cuInit(7), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("An empty CUDA_VISIBLE_DEVICES hides every device", "[init]", {"CUDA_VISIBLE_DEVICES", ""}) {
  int c = -1;
  ANSWERS(cuInit(0), CUDA_ERROR_NO_DEVICE);
  ANSWERS(cuDeviceGetCount(&c), CUDA_ERROR_NOT_INITIALIZED);
  SHOWS("-1", c);
}

FRESH_CASE("CUDA_VISIBLE_DEVICES=-1 hides every device", "[init]", {"CUDA_VISIBLE_DEVICES", "-1"}) {
  int c = -1;
  ANSWERS(cuInit(0), CUDA_ERROR_NO_DEVICE);
  ANSWERS(cuDeviceGetCount(&c), CUDA_ERROR_NOT_INITIALIZED);
  SHOWS("-1", c);
}

FRESH_CASE("CUDA_VISIBLE_DEVICES ends at the first entry that names no device", "[init]",
           {"CUDA_VISIBLE_DEVICES", "0,999,0"}) {
  int c = -1;
  ANSWERS(cuInit(0), CUDA_SUCCESS);
  ANSWERS(cuDeviceGetCount(&c), CUDA_SUCCESS);
  SHOWS("1", c);
}

FRESH_CASE("CUDA_VISIBLE_DEVICES that names a device twice is an error of its own", "[init]",
           {"CUDA_VISIBLE_DEVICES", "0,0"}) {
  ANSWERS(cuInit(0), CUDA_ERROR_INVALID_DEVICE);
}

// CUDASIM_DEVICES means nothing to a GPU's driver, which is asked for its first device only.
FRESH_CASE("CUDA_VISIBLE_DEVICES puts devices into an order of its own", "[init]", {"CUDASIM_DEVICES", "4"},
           {"CUDA_VISIBLE_DEVICES", "2,0"}) {
  const CUresult initialised = cuInit(0);  // a GPU's driver may see none
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  REQUIRE(initialised == CUDA_SUCCESS);
  int c = -1;
  char bus[32] = {};
  ANSWERS(cuDeviceGetCount(&c), CUDA_SUCCESS);
  SHOWS("2", c);
  ANSWERS(cuDeviceGetPCIBusId(bus, 32, 0), CUDA_SUCCESS);
  SHOWS("0000:00:08.0", bus);
  CUdevice d = -1;
  ANSWERS(cuDeviceGetByPCIBusId(&d, "0000:00:06.0"), CUDA_SUCCESS);
  SHOWS("1", d);
  ANSWERS(cuDeviceGetByPCIBusId(&d, "0000:00:07.0"), CUDA_ERROR_INVALID_DEVICE);
}

FRESH_CASE("A forked child has no driver", "[init]") {
  const CUdevice dev = conformance::device().dev;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    int c = 0;
    CUcontext x = nullptr;
    const bool right = cuDeviceGetCount(&c) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuCtxCreate(&x, nullptr, 0, dev) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
