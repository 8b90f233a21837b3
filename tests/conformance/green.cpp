// Green contexts: parts of a device's multiprocessors. The numbers are those of compute capability 9.0.
#include "tests/conformance/scenario.hpp"

#if CUDA_VERSION >= 13000
namespace {

CUdevResource all_of(CUdevice dev) {
  CUdevResource all{};
  CU_CHECK(cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
  return all;
}

bool is_9_0(CUdevice dev) {
  int major = 0, minor = 0;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
  CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev));
  return major == 9 && minor == 0 && all_of(dev).sm.smCount == 132;
}

}  // namespace

FRESH_CASE("Multiprocessors are split in eights, or in twos", "[green]") {
  const CUdevice dev = conformance::context().dev;
  if (!is_9_0(dev)) SKIP_TEST("the numbers are an H200's");
  const CUdevResource all = all_of(dev);
  SHOWS("132 8 8", all.sm.smCount << ' ' << all.sm.minSmPartitionSize << ' ' << all.sm.smCoscheduledAlignment);
  const struct {
    unsigned wanted, flags, groups, size, rest;
  } rows[] = {{0, 0, 15, 8, 12},  {1, 1, 16, 2, 100}, {4, 1, 16, 4, 68},  {9, 0, 8, 16, 4},     {9, 1, 13, 10, 2},
              {33, 0, 3, 40, 12}, {33, 1, 3, 34, 30}, {33, 2, 3, 40, 12}, {100, 1, 1, 100, 32}, {132, 0, 1, 132, 0}};
  for (const auto& row : rows) {
    CUdevResource groups[16]{}, rest{};
    unsigned count = 16;
    CAPTURE(row.wanted, row.flags);
    ANSWERS(cuDevSmResourceSplitByCount(groups, &count, &all, &rest, row.flags, row.wanted), CUDA_SUCCESS);
    CHECK(count == row.groups);
    CHECK(groups[0].sm.smCount == row.size);
    CHECK((rest.type == CU_DEV_RESOURCE_TYPE_SM ? rest.sm.smCount : 0) == row.rest);
  }
  unsigned count = 0;
  ANSWERS(cuDevSmResourceSplitByCount(nullptr, &count, &all, nullptr, 0, 8), CUDA_SUCCESS);
  CHECK(count == 15);
  ANSWERS(cuDevSmResourceSplitByCount(nullptr, &count, &all, nullptr, 0, 133),
          CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  CUdevResource other{};
  ANSWERS(cuDeviceGetDevResource(dev, &other, CU_DEV_RESOURCE_TYPE_INVALID), CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

FRESH_CASE("Parts of splits can be put together, but are not split again", "[green]") {
  const CUdevice dev = conformance::context().dev;
  const CUdevResource all = all_of(dev);
  CUdevResource one[2]{}, other[2]{};
  CUdevResourceDesc description = nullptr;
  unsigned count = 2;
  CU_CHECK(cuDevSmResourceSplitByCount(one, &count, &all, nullptr, 0, 16));
  CU_CHECK(cuDevSmResourceSplitByCount(other, &count, &all, nullptr, 0, 16));
  ANSWERS(cuDevResourceGenerateDesc(&description, one, 2), CUDA_SUCCESS);
  CUdevResource mixed[2] = {one[0], other[1]};
  ANSWERS(cuDevResourceGenerateDesc(&description, mixed, 2), CUDA_SUCCESS);
  count = 2;
  ANSWERS(cuDevSmResourceSplitByCount(other, &count, &one[0], nullptr, 0, 8),
          CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  SHOWS("2 groups", count << " groups");
  CUdevResource none{};
  ANSWERS(cuDevSmResourceSplitByCount(other, &count, &none, nullptr, 0, 8), CUDA_ERROR_INVALID_RESOURCE_TYPE);
  ANSWERS(cuDevSmResourceSplitByCount(other, &count, &all, nullptr, 8, 8), CUDA_SUCCESS);  // a flag without a name
}

FRESH_CASE("Where a green context is current, streams are made in it, and the null stream is its own", "[green]") {
  const CUcontext plain = conformance::context().ctx;
  const CUdevResource all = all_of(0);
  CUdevResource part{};
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr, whose = nullptr;
  CUcontext as_context = nullptr, whose_context = nullptr, primary = nullptr;
  CUstream s = nullptr;
  CUevent of_plain = nullptr;
  unsigned one = 1;
  CU_CHECK(cuEventCreate(&of_plain, 0));
  CU_CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  CU_CHECK(cuDevSmResourceSplitByCount(&part, &one, &all, nullptr, 0, 8));
  CU_CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
  CU_CHECK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CU_CHECK(cuCtxFromGreenCtx(&as_context, green));
  ANSWERS(cuGreenCtxRecordEvent(green, of_plain), CUDA_ERROR_INVALID_HANDLE);
  CU_CHECK(cuCtxSetCurrent(as_context));
  ANSWERS(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  for (const CUstream stream : {s, CUstream{}}) {
    ANSWERS(cuStreamGetGreenCtx(stream, &whose), CUDA_SUCCESS);
    CHECK(whose == green);
    ANSWERS(cuStreamGetCtx_v2(stream, &whose_context, &whose), CUDA_SUCCESS);
    CHECK(whose == green);
    ANSWERS(cuStreamGetCtx(stream, &whose_context), CUDA_SUCCESS);
    CHECK(whose_context == as_context);
  }
  ANSWERS(cuStreamGetCtx_v2(CU_STREAM_PER_THREAD, &whose_context, &whose), CUDA_ERROR_INVALID_HANDLE);
  CU_CHECK(cuCtxSetCurrent(plain));
  ANSWERS(cuStreamGetCtx_v2(nullptr, &whose_context, &whose), CUDA_SUCCESS);
  CHECK(whose == nullptr);
  CHECK(whose_context == plain);
  ANSWERS(cuGreenCtxDestroy(green), CUDA_SUCCESS);
  ANSWERS(cuStreamDestroy(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

FRESH_CASE("A green context has streams of its own, in the primary context", "[green]") {
  CU_CHECK(cuInit(0));
  CUcontext primary = nullptr;
  CU_CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  CU_CHECK(cuCtxSetCurrent(primary));
  const CUdevResource all = all_of(0);
  CUdevResource part{};
  unsigned one = 1;
  CU_CHECK(cuDevSmResourceSplitByCount(&part, &one, &all, nullptr, 0, 8));
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr, whose = nullptr;
  CUcontext as_context = nullptr, regular = nullptr;
  CUstream s = nullptr, plain = nullptr;
  CUmodule mod = nullptr;
  CUfunction inc = nullptr;
  CUdeviceptr counter = 0;
  int count = 0;
  ANSWERS(cuDevResourceGenerateDesc(&description, &part, 1), CUDA_SUCCESS);
  ANSWERS(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
  ANSWERS(cuCtxFromGreenCtx(&as_context, green), CUDA_SUCCESS);
  ANSWERS(cuGreenCtxGetDevResource(green, &part, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  CHECK(part.sm.smCount >= 8);
  ANSWERS(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  ANSWERS(cuStreamGetGreenCtx(s, &whose), CUDA_SUCCESS);
  CHECK(whose == green);
  ANSWERS(cuStreamGetCtx_v2(s, &regular, &whose), CUDA_SUCCESS);
  CHECK(regular != nullptr);
  if (conformance::on_simulator()) CHECK(regular == primary);  // as documented; not measured on a GPU
  CHECK(whose == green);
  CU_CHECK(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
  ANSWERS(cuStreamGetGreenCtx(plain, &whose), CUDA_SUCCESS);
  CHECK(whose == nullptr);
  CHECK(as_context != primary);
  CUdevResource of_context{};
  ANSWERS(cuCtxGetDevResource(as_context, &of_context, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  CHECK(of_context.sm.smCount == part.sm.smCount);
  ANSWERS(cuCtxGetDevResource(primary, &of_context, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  CHECK(of_context.sm.smCount == all.sm.smCount);
  unsigned long long green_id = 0, context_id = 1;
  ANSWERS(cuGreenCtxGetId(green, &green_id), CUDA_SUCCESS);
  ANSWERS(cuCtxGetId(as_context, &context_id), CUDA_SUCCESS);
  CHECK(green_id == context_id);
  ANSWERS(cuCtxDestroy(as_context), CUDA_ERROR_INVALID_CONTEXT);
  CU_CHECK(cuCtxSetCurrent(as_context));
  CUcontext current = nullptr;
  ANSWERS(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  CHECK(current == as_context);
  const std::string image = conformance::image();
  CU_CHECK(cuModuleLoadData(&mod, image.c_str()));
  CU_CHECK(cuModuleGetFunction(&inc, mod, "inc"));
  CU_CHECK(cuModuleGetGlobal(&counter, nullptr, mod, "counter"));
  CU_CHECK(cuMemcpyHtoD(counter, &count, 4));
  ANSWERS(cuLaunchKernel(inc, 3, 1, 1, 5, 1, 1, 0, s, nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(&count, counter, 4));
  CHECK(count == 15);
  CU_CHECK(cuStreamDestroy(s));
  CU_CHECK(cuCtxSetCurrent(primary));
  ANSWERS(cuGreenCtxDestroy(green), CUDA_SUCCESS);
}

FRESH_CASE("A green context takes its streams along, and has no mark of all its work while one is captured",
           "[green]") {
  const auto made = conformance::device();
  CUdevResource all{}, part{};
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr;
  CUcontext as_context = nullptr;
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUgraph g = nullptr;
  unsigned groups = 1;
  CU_CHECK(cuDeviceGetDevResource(made.dev, &all, CU_DEV_RESOURCE_TYPE_SM));
  CU_CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 16));
  CU_CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
  CU_CHECK(cuGreenCtxCreate(&green, description, made.dev, CU_GREEN_CTX_DEFAULT_STREAM));
  CU_CHECK(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
  CU_CHECK(cuCtxFromGreenCtx(&as_context, green));
  CU_CHECK(cuCtxSetCurrent(as_context));
  CU_CHECK(cuEventCreate(&e, 0));
  ANSWERS(cuGreenCtxRecordEvent(green, e), CUDA_SUCCESS);
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ANSWERS(cuGreenCtxRecordEvent(green, e), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ANSWERS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ANSWERS(cuGreenCtxWaitEvent(green, e), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ANSWERS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ANSWERS(cuGreenCtxDestroy(green), CUDA_SUCCESS);
  ANSWERS(cuStreamQuery(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuStreamDestroy(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuGreenCtxDestroy(green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  unsigned long long id = 0;
  ANSWERS(cuGreenCtxGetId(green, &id), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxFromGreenCtx(&as_context, green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuGreenCtxGetDevResource(green, &part, CU_DEV_RESOURCE_TYPE_SM), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuGreenCtxRecordEvent(green, e), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuGreenCtxWaitEvent(green, e), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}
#endif
