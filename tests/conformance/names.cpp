// The library's names: what it exports, what cuGetProcAddress finds, what error codes are called.
#include "tests/conformance/scenario.hpp"

#include <dlfcn.h>

namespace {

const char* const kExportedNames[] = {
#include "tests/conformance/exported_names.inc"
};

}  // namespace

FRESH_CASE("Every name of the recorded driver is exported", "[names]") {
  // This program is linked with the library, so the global scope holds its names.
  for (const char* const name : kExportedNames) {
    CAPTURE(name);
    CHECK(dlsym(RTLD_DEFAULT, name) != nullptr);
  }
}

FRESH_CASE("Error codes have names and sentences, unknown ones have none", "[names]") {
  const char* s = "";
  ANSWERS(cuGetErrorName((CUresult)0, &s), CUDA_SUCCESS);
  CHECK(std::string(s) == "CUDA_SUCCESS");
  ANSWERS(cuGetErrorName((CUresult)12345, &s), CUDA_ERROR_INVALID_VALUE);
  SHOWS("ptr null? 1", "ptr null? " << (s == nullptr));
  ANSWERS(cuGetErrorString((CUresult)700, &s), CUDA_SUCCESS);
  SHOWS("an illegal memory access was encountered", s);
  ANSWERS(cuGetErrorString((CUresult)3, &s), CUDA_SUCCESS);
  SHOWS("initialization error", s);
  ANSWERS(cuGetErrorString((CUresult)12345, &s), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("cuGetProcAddress finds public names, at versions that have them", "[names]") {
  conformance::context();
  void* f = nullptr;
  CUdriverProcAddressQueryResult q{};
  int version = 0;  // the driver's own: it knows no later ones
  ANSWERS(cuDriverGetVersion(&version), CUDA_SUCCESS);
  ANSWERS(cuGetProcAddress("cuMemAlloc", &f, version, 0, &q), CUDA_SUCCESS);
  SHOWS("f 1 q 0", "f " << (f != nullptr) << " q " << q);
  ANSWERS(cuGetProcAddress("cuNope", &f, version, 0, &q), CUDA_SUCCESS);
  SHOWS("f 0 q 1", "f " << (f != nullptr) << " q " << q);
  ANSWERS(cuGetProcAddress("cuMemAllocAsync", &f, 10000, 0, &q), CUDA_SUCCESS);
  SHOWS("f 0 q 2", "f " << (f != nullptr) << " q " << q);
  ANSWERS(cuGetProcAddress("cuMemAlloc_v2", &f, version, 0, &q), CUDA_SUCCESS);
  SHOWS("f 0 q 1", "f " << (f != nullptr) << " q " << q);
}

FRESH_CASE("cuGetProcAddress gives the form that the version asks for", "[names]") {
  conformance::context();
  const auto found = [](const char* name, int version, cuuint64_t flags) {
    void* f = nullptr;
    CHECK(cuGetProcAddress(name, &f, version, flags, nullptr) == CUDA_SUCCESS);
    return f;
  };
  const auto exported = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  const cuuint64_t legacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  const cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

  CHECK(found("cuCtxCreate", 2000, 0) == exported("cuCtxCreate"));
  CHECK(found("cuCtxCreate", 3020, 0) == exported("cuCtxCreate_v2"));
  CHECK(found("cuCtxCreate", 11039, 0) == exported("cuCtxCreate_v2"));
  CHECK(found("cuCtxCreate", 11040, 0) == exported("cuCtxCreate_v3"));
  CHECK(found("cuMemcpyHtoD", 12000, 0) == exported("cuMemcpyHtoD_v2"));
  CHECK(found("cuMemcpyHtoD", 12000, legacy) == exported("cuMemcpyHtoD_v2"));
  CHECK(found("cuMemcpyHtoD", 12000, per_thread) == exported("cuMemcpyHtoD_v2_ptds"));
  CHECK(found("cuLaunchKernel", 12000, per_thread) == exported("cuLaunchKernel_ptsz"));
  CHECK(found("cuMemAlloc", 12000, per_thread) == exported("cuMemAlloc_v2"));  // no form of its own
  CHECK(found("cuGetProcAddress", 12000, 0) == exported("cuGetProcAddress_v2"));
}

FRESH_CASE("cuGetProcAddress takes the newest form, or that of per-thread streams, at their word", "[names]") {
  CU_CHECK(cuInit(0));
  const auto exported = [](const char* symbol) { return dlsym(RTLD_DEFAULT, symbol); };
  constexpr cuuint64_t own = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  constexpr cuuint64_t both = own | CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  void* f = nullptr;
  CUdriverProcAddressQueryResult found{};
  ANSWERS(cuGetProcAddress("cuMemcpyHtoD", &f, -1, 0, &found), CUDA_SUCCESS);
  CHECK(f == exported("cuMemcpyHtoD_v2"));
  ANSWERS(cuGetProcAddress("cuMemcpyHtoD", &f, 12000, both, &found), CUDA_SUCCESS);
  CHECK(f == exported("cuMemcpyHtoD_v2_ptds"));
  ANSWERS(cuGetProcAddress("cuMemcpyHtoD", &f, 6050, own, &found), CUDA_SUCCESS);
  CHECK(f == nullptr);
  CHECK(found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  ANSWERS(cuGetProcAddress("cuInit", &f, 6050, own, &found), CUDA_SUCCESS);
  CHECK(f == exported("cuInit"));
}

FRESH_CASE("cuGetProcAddress checks its arguments", "[names]") {
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver (580) ends the process here");
  conformance::context();
  void* f = nullptr;
  CUdriverProcAddressQueryResult q{};
  ANSWERS(cuGetProcAddress(nullptr, &f, 12000, 0, &q), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGetProcAddress("cuInit", nullptr, 12000, 0, &q), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGetProcAddress("cuInit", &f, 12000, 0x80, &q), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGetProcAddress("cuInit", &f, 12000, 0, nullptr), CUDA_SUCCESS);
}

// The header gives these names to the second versions, so they are asked for by text.
FRESH_CASE("First versions, with pointers of 32 bits, need a context that can no longer be made", "[names]") {
  conformance::context();
  for (const char* name : {"cuMemGetInfo", "cuMemAllocHost", "cuArrayCreate"}) {
    CAPTURE(name);
    auto* const first = reinterpret_cast<CUresult (*)(void*, void*)>(dlsym(RTLD_DEFAULT, name));
    REQUIRE(first != nullptr);
    unsigned long long room[8] = {};
    ANSWERS(first(room, room + 4), CUDA_ERROR_INVALID_CONTEXT);
  }
}

#if CUDA_VERSION >= 12090
FRESH_CASE("The driver's log lists the calls that failed, and their results", "[names]") {
  conformance::context();
  CUlogIterator from = 0;
  ANSWERS(cuLogsCurrent(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLogsCurrent(&from, 0), CUDA_SUCCESS);
  static int told = 0;
  CUlogsCallbackHandle listener = nullptr;
  ANSWERS(cuLogsRegisterCallback([](void* count, CUlogLevel, char*, size_t) { ++*static_cast<int*>(count); }, &told,
                                 &listener),
          CUDA_SUCCESS);
  ANSWERS(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE);
  char text[4096] = "";
  std::size_t size = sizeof text;
  ANSWERS(cuLogsDumpToMemory(&from, text, &size, 0), CUDA_SUCCESS);
  CAPTURE(text);
  CHECK(size == std::strlen(text));
  CHECK(std::strstr(text, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree") != nullptr);
  CHECK(told >= 1);
  size = sizeof text;
  ANSWERS(cuLogsDumpToMemory(&from, text, &size, 0), CUDA_SUCCESS);
  CHECK(size == 0);  // the iterator has moved on
  ANSWERS(cuLogsUnregisterCallback(listener), CUDA_SUCCESS);
}

FRESH_CASE("A callback of the driver's log may make calls that fail", "[names]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("not asked of a GPU's driver");
  static int told = 0;
  ANSWERS(cuLogsRegisterCallback([](void*, CUlogLevel, char*, size_t) { ++told, cuMemFree(1); }, nullptr, nullptr),
          CUDA_SUCCESS);
  ANSWERS(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE);
  CHECK(told <= 2);  // the reason and the result; not the results of the callback's own calls
}
#endif
