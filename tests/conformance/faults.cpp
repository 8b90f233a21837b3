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

// As a C library's strlen does: of a variable, a constant, and what malloc gave, 3 bytes each.
static const char* const kLastWords = R"(.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.global .align 8 .b8 text[3] = {65, 66, 67};
.const .align 8 .b8 kept[3] = {68, 69, 70};
.visible .entry last_words(.param .u64 out) {
  .reg .u64 %out, %bytes, %heap;
  .reg .u64 %r<3>;
  ld.param.u64 %out, [out];
  { .param .b64 bytes; .param .b64 result;
    mov.u64 %bytes, 3;
    st.param.b64 [bytes], %bytes;
    call.uni (result), malloc, (bytes);
    ld.param.b64 %heap, [result]; }
  st.u8 [%heap], 71;
  st.u8 [%heap + 1], 72;
  st.u8 [%heap + 2], 73;
  ld.global.u64 %r0, [text];
  ld.const.u64 %r1, [kept];
  ld.u64 %r2, [%heap];
  st.global.u64 [%out], %r0;
  st.global.u64 [%out + 8], %r1;
  st.global.u64 [%out + 16], %r2;
  ret;
}
)";

FRESH_CASE("The word that a string ends in may be read whole", "[fault]") {
  conformance::context();
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr out = 0;
  CU_CHECK(cuModuleLoadData(&module, kLastWords));
  CU_CHECK(cuModuleGetFunction(&kernel, module, "last_words"));
  CU_CHECK(cuMemAlloc(&out, 24));
  void* arguments[] = {&out};
  ANSWERS(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  char words[24] = {};
  ANSWERS(cuMemcpyDtoH(words, out, 24), CUDA_SUCCESS);
  CHECK(std::string(words, 3) == "ABC");
  CHECK(std::string(words + 8, 3) == "DEF");
  CHECK(std::string(words + 16, 3) == "GHI");
}

FRESH_CASE("A store past shared memory faults", "[fault]") {
  const auto F = conformance::module();
  int index = 1 << 20;
  void* a[] = {&index};
  ANSWERS(cuLaunchKernel(F("shared_oob"), 1, 1, 1, 32, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("With CUDA_LAUNCH_BLOCKING the launch itself returns the fault", "[fault]", {"CUDA_LAUNCH_BLOCKING", "1"}) {
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
