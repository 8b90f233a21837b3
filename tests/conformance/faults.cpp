// Faults: found when they happen, reported by the next call, and by every one after it until the context is gone.
#include "tests/conformance/scenario.hpp"

namespace {

// What follows a fault, whatever it was. `s`, `e`, `ok` were made before it.
struct Belongings {
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUdeviceptr ok = 0;
  Belongings() {
    CU_CHECK(cuStreamCreate(&s, 0));
    CU_CHECK(cuEventCreate(&e, 0));
    CU_CHECK(cuMemAlloc(&ok, 4096));
  }
};

void everything_answers(const char* fault, const conformance::Module& F, Belongings& own) {
  const auto FAULTS = [&](const char* call, CUresult result) {
    CAPTURE(call);
    CHECK(conformance::answer(call, result) == fault);
  };
  CUdeviceptr p = 0;
  CUcontext x = nullptr, n = nullptr;
  char h[16];
  int c = 0;
  FAULTS("cuCtxSynchronize()", cuCtxSynchronize());
  FAULTS("cuCtxSynchronize()", cuCtxSynchronize());
  FAULTS("cuMemAlloc(&p,16)", cuMemAlloc(&p, 16));
  FAULTS("cuMemcpyDtoH(h,ok,16)", cuMemcpyDtoH(h, own.ok, 16));
  FAULTS("cuMemFree(ok)", cuMemFree(own.ok));
  FAULTS("cuStreamQuery(s)", cuStreamQuery(own.s));
  FAULTS("cuEventRecord(e,s)", cuEventRecord(own.e, own.s));
  CUfunction empty = nullptr;
  cuModuleGetFunction(&empty, F.mod, "empty_k");
  FAULTS("cuModuleUnload(mod)", cuModuleUnload(F.mod));
  FAULTS("cuStreamDestroy(s)", cuStreamDestroy(own.s));
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  FAULTS("cuCtxCreate(&n,nullptr,0,dev)", cuCtxCreate(&n, nullptr, 0, F.dev));
  FAULTS("cuMemAlloc(&p,16)", cuMemAlloc(&p, 16));
  ANSWERS(cuCtxDestroy(F.ctx), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&p, 16), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuDeviceGetCount(&c), CUDA_SUCCESS);
  // The process keeps the fault, whatever becomes of the context: only a new process has the device again.
  CUcontext fresh = nullptr;
  FAULTS("cuCtxCreate(&fresh,nullptr,0,dev)", cuCtxCreate(&fresh, nullptr, 0, F.dev));
  ANSWERS(cuMemAlloc(&p, 16), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace

FRESH_CASE("A fault poisons every context of the process on its device", "[fault]") {
  const auto F = conformance::module();
  CUcontext other = nullptr, fresh = nullptr;
  CUdeviceptr p = 0, kept = 0;
  std::size_t free = 0, total = 0;
  ANSWERS(cuCtxCreate(&other, nullptr, 0, F.dev), CUDA_SUCCESS);
  CU_CHECK(cuMemAlloc(&kept, 16));
  ANSWERS(cuCtxPushCurrent(F.ctx), CUDA_SUCCESS);
  void* a[] = {&p};
  ANSWERS(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuCtxPushCurrent(other), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&p, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuMemsetD8(kept, 0, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuMemGetInfo(&free, &total), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuCtxDestroy(F.ctx), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuCtxCreate(&fresh, nullptr, 0, F.dev), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuDevicePrimaryCtxRetain(&fresh, F.dev), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuCtxDestroy(other), CUDA_SUCCESS);
}

FRESH_CASE("A store through a null pointer poisons its context", "[fault]") {
  const auto F = conformance::module();
  Belongings own;
  CUdeviceptr null = 0;
  void* a[] = {&null};
  ANSWERS(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  everything_answers("CUDA_ERROR_ILLEGAL_ADDRESS", F, own);
}

FRESH_CASE("A store far past an allocation poisons its context", "[fault]") {
  const auto F = conformance::module();
  Belongings own;
  long long offset = 1ll << 36;
  void* a[] = {&own.ok, &offset};
  ANSWERS(cuLaunchKernel(F("oob_write"), 1, 1, 1, 32, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  everything_answers("CUDA_ERROR_ILLEGAL_ADDRESS", F, own);
}

FRESH_CASE("A misaligned store poisons its context", "[fault]") {
  const auto F = conformance::module();
  Belongings own;
  void* a[] = {&own.ok};
  ANSWERS(cuLaunchKernel(F("misaligned"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  everything_answers("CUDA_ERROR_MISALIGNED_ADDRESS", F, own);
}

FRESH_CASE("A trap poisons its context", "[fault]") {
  const auto F = conformance::module();
  Belongings own;
  ANSWERS(cuLaunchKernel(F("trap_k"), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), CUDA_SUCCESS);
  everything_answers("CUDA_ERROR_LAUNCH_FAILED", F, own);
}

FRESH_CASE("A failed device assertion poisons its context", "[fault]") {
  const auto F = conformance::module();
  Belongings own;
  int x = 1;
  void* a[] = {&x};
  ANSWERS(cuLaunchKernel(F("assert_k"), 1, 1, 1, 2, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  everything_answers("CUDA_ERROR_ASSERT", F, own);
}

FRESH_CASE("A store a little past an allocation is found by the simulator only", "[fault]") {
  const auto F = conformance::module();
  Belongings own;
  long long offset = 1024;
  void* a[] = {&own.ok, &offset};
  ANSWERS(cuLaunchKernel(F("oob_write"), 1, 1, 1, 32, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  DIFFERS("a GPU maps whole pages; the simulator knows each allocation", cuCtxSynchronize(), CUDA_SUCCESS,
          CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("A store past shared memory faults", "[fault]") {
  const auto F = conformance::module();
  int index = 1 << 20;
  void* a[] = {&index};
  ANSWERS(cuLaunchKernel(F("shared_oob"), 1, 1, 1, 32, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("With CUDA_LAUNCH_BLOCKING the launch itself answers with the fault", "[fault]",
           {"CUDA_LAUNCH_BLOCKING", "1"}) {
  const auto F = conformance::module();
  CUdeviceptr null = 0;
  void* a[] = {&null};
  ANSWERS(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("Pageable host memory is out of a kernel's reach", "[fault]") {
  const auto F = conformance::module();
  int attribute = -1;
  ANSWERS(cuDeviceGetAttribute(&attribute, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, F.dev), CUDA_SUCCESS);
  if (attribute != 0) return;  // a machine where it is within
  int local = 0;
  int* address = &local;
  void* a[] = {&address};
  ANSWERS(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(local == 0);
}
