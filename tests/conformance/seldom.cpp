// What few programs call: core dumps, news of the driver, writes from network cards, multicast.
#include "tests/conformance/scenario.hpp"

#include <filesystem>

#if CUDA_VERSION >= 12010
FRESH_CASE("The simulator writes no core dumps, and says so", "[seldom]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver writes core dumps");
  bool flag = true;
  std::size_t size = sizeof flag;
  ANSWERS(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &flag, &size), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &flag, &size), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &flag, &size), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &flag, &size), CUDA_ERROR_NOT_SUPPORTED);
}

FRESH_CASE("A context can be made with the flags for core dumps", "[seldom]") {
  const auto made = conformance::context();
  char folder[] = "/tmp/conformanceXXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  REQUIRE(chdir(folder) == 0);  // a GPU's driver leaves a pipe there
  CUcontext dumping = nullptr;
  unsigned flags = 0;
  int active = 0;
  for (const unsigned wanted : {CU_CTX_COREDUMP_ENABLE, CU_CTX_USER_COREDUMP_ENABLE}) {
    ANSWERS(cuCtxCreate(&dumping, nullptr, wanted, made.dev), CUDA_SUCCESS);
    ANSWERS(cuCtxGetFlags(&flags), CUDA_SUCCESS);
    CHECK(flags == CU_CTX_COREDUMP_ENABLE);
    ANSWERS(cuCtxDestroy(dumping), CUDA_SUCCESS);
  }
  CU_CHECK(cuCtxSetCurrent(made.ctx));
  ANSWERS(cuCtxSetFlags(CU_CTX_COREDUMP_ENABLE), CUDA_SUCCESS);  // too late
  ANSWERS(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  CHECK(flags == 0);
  ANSWERS(cuDevicePrimaryCtxSetFlags(made.dev, CU_CTX_COREDUMP_ENABLE), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxGetState(made.dev, &flags, &active), CUDA_SUCCESS);
  CHECK(flags == CU_CTX_COREDUMP_ENABLE);
  std::filesystem::remove_all(folder);
}

FRESH_CASE("No multicast object can be made on a device without the attribute", "[seldom]") {
  const auto made = conformance::context();
  if (!conformance::on_simulator()) {  // on a shared host it could stop the work of all its users
    SKIP_TEST("a multicast object takes the switch between the GPUs, which a test leaves alone");
  }
  int supported = 1;
  CU_CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, made.dev));
  CHECK(supported == 0);
  CUmulticastObjectProp wanted{};
  wanted.numDevices = 2;
  wanted.size = 2 << 20;
  std::size_t granularity = 0;
  CUmemGenericAllocationHandle object = 0;
  ANSWERS(cuMulticastCreate(nullptr, &wanted), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMulticastCreate(&object, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMulticastGetGranularity(&granularity, nullptr, CU_MULTICAST_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMulticastGetGranularity(&granularity, &wanted, CU_MULTICAST_GRANULARITY_MINIMUM), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMulticastCreate(&object, &wanted), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMulticastAddDevice(object, made.dev), CUDA_ERROR_INVALID_VALUE);
}
#endif

#if CUDA_VERSION >= 12000
FRESH_CASE("A tensor map is of kinds that there are", "[seldom]") {
  const auto made = conformance::context();
  int major = 0;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, made.dev));
  if (major < 9) SKIP_TEST("tensor maps are for compute capability 9.0 and later");
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 1 << 16));
  CUtensorMap map;
  const cuuint64_t size[] = {64, 64}, pitch[] = {256};
  const cuuint32_t box[] = {16, 8}, step[] = {1, 1};
  const auto make = [&](int swizzle, int promotion, int fill) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(p), size, pitch,
                                  box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(swizzle),
                                  static_cast<CUtensorMapL2promotion>(promotion),
                                  static_cast<CUtensorMapFloatOOBfill>(fill));
  };
  for (int promotion = 0; promotion < 4; ++promotion) ANSWERS(make(3, promotion, promotion % 2), CUDA_SUCCESS);
  ANSWERS(make(9, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(make(0, 9, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(make(0, 0, 9), CUDA_ERROR_INVALID_VALUE);
}
#endif

FRESH_CASE("Writes from network cards can be waited for, by the current context", "[seldom]") {
  conformance::context();
  const auto here = CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
  ANSWERS(cuFlushGPUDirectRDMAWrites(here, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER), CUDA_SUCCESS);
  ANSWERS(cuFlushGPUDirectRDMAWrites(here, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES), CUDA_SUCCESS);
  ANSWERS(cuFlushGPUDirectRDMAWrites(here, static_cast<CUflushGPUDirectRDMAWritesScope>(7)), CUDA_ERROR_INVALID_VALUE);
}

#if CUDA_VERSION >= 12040
FRESH_CASE("News of a device is asked for, and no longer", "[seldom]") {
  conformance::context();
  const auto listen = [](CUasyncNotificationInfo*, void*, CUasyncCallbackHandle) {};
  CUasyncCallbackHandle first = nullptr, second = nullptr;
  ANSWERS(cuDeviceRegisterAsyncNotification(0, listen, nullptr, &first), CUDA_SUCCESS);
  ANSWERS(cuDeviceRegisterAsyncNotification(0, listen, nullptr, &second), CUDA_SUCCESS);
  CHECK(first != second);
  ANSWERS(cuDeviceRegisterAsyncNotification(0, nullptr, nullptr, &second), CUDA_ERROR_INVALID_VALUE);
  if (conformance::on_simulator()) {  // a GPU's driver crashes
    ANSWERS(cuDeviceRegisterAsyncNotification(0, listen, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  }
  ANSWERS(cuDeviceRegisterAsyncNotification(99, listen, nullptr, &second), CUDA_ERROR_INVALID_DEVICE);
  ANSWERS(cuDeviceUnregisterAsyncNotification(0, first), CUDA_SUCCESS);
}
#endif

FRESH_CASE("Streams of two contexts do not share attributes", "[stream]") {
  const auto made = conformance::context();
  CUstream s = nullptr, t = nullptr, u = nullptr;
  CUcontext other = nullptr;
  CU_CHECK(cuStreamCreate(&s, 0));
  CU_CHECK(cuStreamCreate(&t, 0));
  CU_CHECK(cuCtxCreate(&other, nullptr, 0, made.dev));
  CU_CHECK(cuStreamCreate(&u, 0));
  ANSWERS(cuStreamCopyAttributes(t, s), CUDA_SUCCESS);
  ANSWERS(cuStreamCopyAttributes(u, s), CUDA_ERROR_INVALID_VALUE);
}

#if CUDA_VERSION >= 13000
FRESH_CASE("What atomic operations the link to the host has is asked by the operations' names", "[device]") {
  const auto made = conformance::device();
  unsigned capabilities[2] = {};
  CUatomicOperation operations[2] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_MAX};
  ANSWERS(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 1, made.dev), CUDA_SUCCESS);
  ANSWERS(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, made.dev), CUDA_ERROR_INVALID_VALUE);
}
#endif

#if CUDA_VERSION >= 13000
FRESH_CASE("What is null, or nothing, is refused by calls that are seldom made", "[seldom]") {
  const auto made = conformance::context();
  CUgraph g = nullptr;
  CUgraphNode n = nullptr;
  CUgraphExec e = nullptr;
  CUdeviceptr memory = 0, managed = 0;
  CUevent event = nullptr;
  const char* name = nullptr;
  char bus[32];
  int value = 0;
  std::size_t size = 0, offset = 0;
  CU_CHECK(cuGraphCreate(&g, 0));
  CU_CHECK(cuMemAlloc(&memory, 4096));
  CU_CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CU_CHECK(cuEventCreate(&event, 0));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = memory;
  fill.elementSize = 1;
  fill.height = 1;
  ANSWERS(cuGraphAddMemsetNode(&n, g, nullptr, 0, &fill, made.ctx), CUDA_ERROR_INVALID_VALUE);
  fill.width = 16;
  fill.height = 0;
  ANSWERS(cuGraphAddMemsetNode(&n, g, nullptr, 0, &fill, made.ctx), CUDA_ERROR_INVALID_VALUE);
  fill.height = 2;
  ANSWERS(cuGraphAddMemsetNode(&n, g, nullptr, 0, &fill, made.ctx), CUDA_ERROR_INVALID_VALUE);
  fill.pitch = 512;
  ANSWERS(cuGraphAddMemsetNode(&n, g, nullptr, 0, &fill, made.ctx), CUDA_SUCCESS);
  ANSWERS(cuGraphAddEventRecordNode(&n, g, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphAddEventWaitNode(&n, g, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuGraphInstantiateWithFlags(&e, g, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuKernelGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuFuncGetParamInfo(nullptr, 0, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxRecordEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxWaitEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuDeviceGetPCIBusId(bus, 5, made.dev), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceGetP2PAttribute(nullptr, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, made.dev, 99),
          CUDA_ERROR_INVALID_VALUE);
  CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_HOST_NUMA, -1};
  ANSWERS(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemPrefetchAsync(managed, 4096, nowhere, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUexecAffinityParam affinity{};
  ANSWERS(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT), CUDA_SUCCESS);
  CU_CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, made.dev));
  CHECK(affinity.param.smCount.val == static_cast<unsigned>(value));
}
#endif

#if CUDA_VERSION >= 12080
FRESH_CASE("Tensor maps are made where a context is, interleaved ones and those of whole widths, too", "[seldom]") {
  const CUdevice dev = conformance::device().dev;
  int major = 0, minor = 0;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
  CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev));
  if (major != 9 || minor != 0) SKIP_TEST("the results are those of compute capability 9.0");
  CUtensorMap map;
  const cuuint64_t size[] = {64, 64, 64, 64}, stride[] = {128, 128 * 64, 128 * 64 * 64};
  const cuuint32_t box[] = {32, 8, 8, 8}, step[] = {1, 1, 1, 1};
  void* const nobodys = reinterpret_cast<void*>(0x7f0000000000);
  const auto tiled = [&](CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, nobodys, size, stride, box, step,
                                  interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  const auto wide = [&](CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle) {
    return cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, nobodys, size, stride, -1, 1, 32, 32,
                                       step, CU_TENSOR_MAP_INTERLEAVE_NONE, mode, swizzle,
                                       CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  ANSWERS(tiled(CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext ctx = nullptr;
  CU_CHECK(cuCtxCreate(&ctx, nullptr, 0, dev));
  ANSWERS(tiled(CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_SUCCESS);
  ANSWERS(tiled(CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(tiled(CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(tiled(CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_SUCCESS);
  ANSWERS(tiled(CU_TENSOR_MAP_INTERLEAVE_32B, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_SUCCESS);
  ANSWERS(tiled(CU_TENSOR_MAP_INTERLEAVE_32B, CU_TENSOR_MAP_SWIZZLE_32B), CUDA_SUCCESS);
  ANSWERS(wide(CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_128B), CUDA_SUCCESS);
  ANSWERS(wide(CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128, CU_TENSOR_MAP_SWIZZLE_128B), CUDA_SUCCESS);
  ANSWERS(wide(CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_SUCCESS);
}

FRESH_CASE("A copy with a tensor map that is not simulated stops with a report", "[seldom]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("a GPU copies");
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 128 * 64 * 64 * 64));
  CUtensorMap map;
  const cuuint64_t size[] = {64, 64, 64, 64}, stride[] = {128, 128 * 64, 128 * 64 * 64};
  const cuuint32_t box[] = {32, 1, 1, 1}, step[] = {1, 1, 1, 1};
  CU_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, reinterpret_cast<void*>(p), size, stride,
                                  box, step, CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  CUmodule mod = nullptr;
  CUfunction copies = nullptr;
  CU_CHECK(cuModuleLoadData(&mod, R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry copies(.param .align 64 .b8 map[128]) {
  .shared .align 128 .b8 box[2048];
  .shared .b64 arrived;
  .reg .b32 %r<2>; .reg .b64 %rd<1>;
  mov.u32 %r0, box; mov.u32 %r1, arrived; mov.b64 %rd0, map; cvta.param.u64 %rd0, %rd0;
  mbarrier.init.shared.b64 [%r1], 1;
  cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {0, 0, 0, 0}], [%r1];
  ret;
}
)"));
  CU_CHECK(cuModuleGetFunction(&copies, mod, "copies"));
  void* a[] = {&map};
  ANSWERS(cuLaunchKernel(copies, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_INSTRUCTION);
}
#endif
