// Contexts: each thread's stack of them, calls with a destroyed one, primary contexts, limits.
#include "tests/conformance/scenario.hpp"

#include <thread>

FRESH_CASE("Without a context, calls that need one say so", "[context]") {
  conformance::device();
  CUcontext x = nullptr;
  CUdeviceptr p = 0;
  CUdevice d = 0;
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUmodule m = nullptr;
  void* h = nullptr;
  std::size_t f = 0, t = 0;
  unsigned v = 0;
  const std::string k = conformance::image();
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur null 1", "cur null " << (x == nullptr));
  ANSWERS(cuMemAlloc(&p, 16), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxGetDevice(&d), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemHostAlloc(&h, 16, 0), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemAllocHost(&h, 16), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuStreamCreate(&s, 0), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuEventCreate(&e, 0), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuModuleLoadData(&m, k.c_str()), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemGetInfo(&f, &t), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxGetApiVersion(nullptr, &v), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFree(0), CUDA_SUCCESS);
  ANSWERS(cuMemFreeHost(nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoD(0, &f, 0), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuEventDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

FRESH_CASE("Contexts are on a stack: create and push put one on top, pop takes it off", "[context]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext a = nullptr, b = nullptr, c = nullptr, x = nullptr;
  ANSWERS(cuCtxCreate(&a, nullptr, 0, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxCreate(&b, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur==b 1", "cur==b " << (x == b));
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
  SHOWS("popped b 1", "popped b " << (x == b));
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur==a 1", "cur==a " << (x == a));
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur null 1", "cur null " << (x == nullptr));
  ANSWERS(cuCtxPopCurrent(&x), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxPushCurrent(a), CUDA_SUCCESS);
  ANSWERS(cuCtxPushCurrent(a), CUDA_SUCCESS);
  ANSWERS(cuCtxPushCurrent(b), CUDA_SUCCESS);
  ANSWERS(cuCtxSetCurrent(a), CUDA_SUCCESS);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
  SHOWS("a 1", "a " << (x == a));
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("a 1", "a " << (x == a));
  ANSWERS(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("after set null: a 1 null 0", "after set null: a " << (x == a) << " null " << (x == nullptr));
  ANSWERS(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("null 1", "null " << (x == nullptr));
  ANSWERS(cuCtxPopCurrent(&x), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxDestroy(b), CUDA_SUCCESS);
  ANSWERS(cuCtxDestroy(a), CUDA_SUCCESS);
  ANSWERS(cuCtxPushCurrent(a), CUDA_SUCCESS);
  // A dead handle: the same driver returned one when recorded, and the other here.
  const std::string again = conformance::answer("cuCtxDestroy(a)", cuCtxDestroy(a));
  CAPTURE(again);
  CHECK((again == "CUDA_ERROR_INVALID_CONTEXT" || again == "CUDA_ERROR_CONTEXT_IS_DESTROYED"));
  ANSWERS(cuCtxCreate(&c, nullptr, 0x100, dev), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxCreate(&c, nullptr, 0x80000000, dev), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxCreate(&c, nullptr, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  ANSWERS(cuCtxCreate(nullptr, nullptr, 0, dev), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxCreate(&c, nullptr, CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST, dev), CUDA_SUCCESS);
  unsigned f = 0, av = 0;
  unsigned long long id = 0;
  ANSWERS(cuCtxGetFlags(&f), CUDA_SUCCESS);
  SHOWS("flags 9", "flags " << f);
  ANSWERS(cuCtxGetId(c, &id), CUDA_SUCCESS);
  ANSWERS(cuCtxGetApiVersion(c, &av), CUDA_SUCCESS);
  SHOWS("api 3020", "api " << av);
}

FRESH_CASE("Destroying the current context uncovers the one below it", "[context]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext a = nullptr, b = nullptr, c = nullptr, d = nullptr, x = nullptr;
  CUdeviceptr p = 0;
  ANSWERS(cuCtxCreate(&a, nullptr, 0, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxCreate(&b, nullptr, 0, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxDestroy(b), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur==a 1 null 0", "cur==a " << (x == a) << " null " << (x == nullptr));
  ANSWERS(cuCtxPushCurrent(b), CUDA_SUCCESS);
  ANSWERS(cuCtxDestroy(a), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("null 0", "null " << (x == nullptr));
  ANSWERS(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxCreate(&c, nullptr, 0, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxCreate(&d, nullptr, 0, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxDestroy(c), CUDA_SUCCESS);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
  SHOWS("d 1", "d " << (x == d));
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur c 1 null 0", "cur c " << (x == c) << " null " << (x == nullptr));
  ANSWERS(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
}

FRESH_CASE("A context that another thread destroys stays current, destroyed", "[context]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext a = nullptr, x = nullptr;
  CUdeviceptr p = 0;
  ANSWERS(cuCtxCreate(&a, nullptr, 0, dev), CUDA_SUCCESS);
  std::string destroyed;
  std::thread([&] { destroyed = conformance::answer("cuCtxDestroy(a)", cuCtxDestroy(a)); }).join();
  CHECK(destroyed == "CUDA_SUCCESS");
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur==a 1 null 0", "cur==a " << (x == a) << " null " << (x == nullptr));
  ANSWERS(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
}

FRESH_CASE("Each thread has a stack of its own; a context may be current on several", "[context]") {
  const CUcontext ctx = conformance::context().ctx;
  CUcontext x = nullptr;
  CUdeviceptr p = 0;
  // Catch2 counts assertions in one thread only: the other one keeps what it hears.
  std::vector<std::string> heard;
  std::thread([&] {
    CUcontext y = nullptr;
    const auto note = [&](const char* call, CUresult result) { heard.push_back(conformance::answer(call, result)); };
    note("cuCtxGetCurrent(&y)", cuCtxGetCurrent(&y));
    heard.push_back(y == nullptr ? "null" : "not null");
    note("cuMemAlloc(&p,4)", cuMemAlloc(&p, 4));
    note("cuCtxSetCurrent(ctx)", cuCtxSetCurrent(ctx));
    note("cuMemAlloc(&p,4)", cuMemAlloc(&p, 4));
    note("cuMemFree(p)", cuMemFree(p));
  }).join();
  CHECK(heard == std::vector<std::string>{"CUDA_SUCCESS", "null", "CUDA_ERROR_INVALID_CONTEXT", "CUDA_SUCCESS",
                                          "CUDA_SUCCESS", "CUDA_SUCCESS"});
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("same 1", "same " << (x == ctx));
  ANSWERS(cuCtxPushCurrent(ctx), CUDA_SUCCESS);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
}

FRESH_CASE("The primary context is counted, and its handle stays the same", "[context]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext p = nullptr, q = nullptr, x = nullptr;
  CUdeviceptr d = 0;
  unsigned f = 9;
  int act = 9;
  ANSWERS(cuDevicePrimaryCtxGetState(dev, &f, &act), CUDA_SUCCESS);
  SHOWS("f 0 act 0", "f " << f << " act " << act);
  ANSWERS(cuDevicePrimaryCtxRelease(dev), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuDevicePrimaryCtxSetFlags(dev, CU_CTX_SCHED_BLOCKING_SYNC), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxRetain(&p, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur null 1", "cur null " << (x == nullptr));
  ANSWERS(cuDevicePrimaryCtxRetain(&q, dev), CUDA_SUCCESS);
  SHOWS("same 1", "same " << (p == q));
  ANSWERS(cuDevicePrimaryCtxGetState(dev, &f, &act), CUDA_SUCCESS);
  SHOWS("f 4 act 1", "f " << f << " act " << act);
  ANSWERS(cuDevicePrimaryCtxSetFlags(dev, CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  ANSWERS(cuCtxDestroy(p), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxPushCurrent(p), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&d, 4), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxRelease(dev), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&d, 4), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxRelease(dev), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxGetState(dev, &f, &act), CUDA_SUCCESS);
  SHOWS("f 0 act 0", "f " << f << " act " << act);
  ANSWERS(cuMemAlloc(&d, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("cur p 1 null 0", "cur p " << (x == p) << " null " << (x == nullptr));
  ANSWERS(cuDevicePrimaryCtxRelease(dev), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuDevicePrimaryCtxReset(dev), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxRetain(&q, dev), CUDA_SUCCESS);
  SHOWS("same handle again 1", "same handle again " << (p == q));
  ANSWERS(cuMemAlloc(&d, 4), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxReset(dev), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&d, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuDevicePrimaryCtxRetain(&q, 99), CUDA_ERROR_INVALID_DEVICE);
}

FRESH_CASE("A primary context that is current has its device, retained or not", "[context]") {
  CUcontext p = nullptr;
  CUdevice d = -1;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDevicePrimaryCtxRetain(&p, 0));
  ANSWERS(cuCtxSetCurrent(p), CUDA_SUCCESS);
  ANSWERS(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  ANSWERS(cuCtxGetDevice(&d), CUDA_SUCCESS);
  SHOWS("d 0", "d " << d);
}

FRESH_CASE("A primary context always maps host memory, and is not asked to", "[context]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext primary = nullptr;
  unsigned told = 0, state = 0;
  int active = 0;
  ANSWERS(cuDevicePrimaryCtxSetFlags(dev, CU_CTX_MAP_HOST), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDevicePrimaryCtxRetain(&primary, dev), CUDA_SUCCESS);
  ANSWERS(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  for (const unsigned flags : {0u, 1u, 4u, 16u}) {
    CAPTURE(flags);
    ANSWERS(cuDevicePrimaryCtxSetFlags(dev, flags), CUDA_SUCCESS);
    ANSWERS(cuCtxGetFlags(&told), CUDA_SUCCESS);
    CHECK(told == (flags | CU_CTX_MAP_HOST));
    ANSWERS(cuDevicePrimaryCtxGetState(dev, &state, &active), CUDA_SUCCESS);
    CHECK(state == flags);
  }
  ANSWERS(cuDevicePrimaryCtxRelease(dev), CUDA_SUCCESS);
}

FRESH_CASE("A destroyed context that is current still has its device", "[context]") {
  CUcontext c = nullptr;
  CUdevice d = -1;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuCtxCreate(&c, nullptr, 0, 0));
  ANSWERS(cuCtxPushCurrent(c), CUDA_SUCCESS);
  ANSWERS(cuCtxDestroy(c), CUDA_SUCCESS);
  ANSWERS(cuCtxGetDevice(&d), CUDA_SUCCESS);
  SHOWS("d 0", "d " << d);
  unsigned flags = 7, version = 0;
  ANSWERS(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  SHOWS("flags 0", "flags " << flags);
  ANSWERS(cuCtxGetApiVersion(c, &version), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxGetApiVersion(nullptr, &version), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

FRESH_CASE("A context's limits have the recorded values, and can be set where the device allows", "[context]") {
  conformance::context();
  std::size_t v = 0;
  ANSWERS(cuCtxGetLimit(&v, CU_LIMIT_PRINTF_FIFO_SIZE), CUDA_SUCCESS);
  SHOWS("fifo 8650752", "fifo " << v);
  ANSWERS(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  SHOWS("stack 1024", "stack " << v);
  ANSWERS(cuCtxGetLimit(&v, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
  SHOWS("heap 8388608", "heap " << v);
  ANSWERS(cuCtxGetLimit(&v, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH), CUDA_ERROR_UNSUPPORTED_LIMIT);
  ANSWERS(cuCtxGetLimit(&v, (CUlimit)99), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 8192), CUDA_SUCCESS);
  ANSWERS(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  SHOWS("stack 8192", "stack " << v);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
}

FRESH_CASE("A limit is rounded, and never below what the driver needs for itself", "[context]") {
  conformance::context();
  const auto set = [](CUlimit limit, std::size_t value) {
    CU_CHECK(cuCtxSetLimit(limit, value));
    CU_CHECK(cuCtxGetLimit(&value, limit));
    return value;
  };
  CHECK(set(CU_LIMIT_STACK_SIZE, 1000) == 1008);
  CHECK(set(CU_LIMIT_STACK_SIZE, 262144) == 262144);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 524288), CUDA_ERROR_INVALID_VALUE);
  CHECK(set(CU_LIMIT_PRINTF_FIFO_SIZE, 1000) == 524288);
  CHECK(set(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20) == 1 << 20);
  CHECK(set(CU_LIMIT_MALLOC_HEAP_SIZE, 0) == 4 << 20);
  CHECK(set(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20) == 64 << 20);
  CHECK(set(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 0) == 32);
  CHECK(set(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1000) == 1000);
}

namespace {

constexpr const char* kAllocates = R"(
.version 6.0
.target sm_60
.address_size 64
.extern .func (.param .b64 address) malloc (.param .b64 bytes);
.extern .func free (.param .b64 address);
.visible .entry allocates() {
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 64;
  {
    .param .b64 bytes;
    .param .b64 address;
    st.param.b64 [bytes], %rd1;
    call (address), malloc, (bytes);
    ld.param.b64 %rd1, [address];
  }
  {
    .param .b64 address;
    st.param.b64 [address], %rd1;
    call free, (address);
  }
  ret;
}
)";

}  // namespace

FRESH_CASE("Room that a launched kernel prints into, or allocates from, is no longer changed", "[context]") {
  const auto F = conformance::module();
  ANSWERS(cuLaunchKernel(F("empty_k"), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20), CUDA_SUCCESS);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20), CUDA_SUCCESS);
  CUmodule allocating = nullptr;
  CUfunction allocates = nullptr;
  CU_CHECK(cuModuleLoadData(&allocating, kAllocates));
  CU_CHECK(cuModuleGetFunction(&allocates, allocating, "allocates"));
  int x = 5;
  float f = 2.5f;
  void* a[] = {&x, &f};
  ANSWERS(cuLaunchKernel(F("printf_k"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(allocates, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4 << 20), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20), CUDA_ERROR_INVALID_VALUE);
  std::size_t v = 0;
  ANSWERS(cuCtxGetLimit(&v, CU_LIMIT_PRINTF_FIFO_SIZE), CUDA_SUCCESS);
  SHOWS("fifo 2097152", "fifo " << v);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), CUDA_SUCCESS);
}

FRESH_CASE("Streams and events of a destroyed context say so; its modules and memory are nothing any more",
           "[context]") {
  const conformance::Context alive = conformance::context();
  CUcontext gone = nullptr, x = nullptr;
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUdeviceptr p = 0;
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  void* h = nullptr;
  unsigned flags = 0;
  CU_CHECK(cuCtxCreate(&gone, nullptr, 0, alive.dev));
  CU_CHECK(cuStreamCreate(&s, 0));
  CU_CHECK(cuEventCreate(&e, 0));
  CU_CHECK(cuMemAlloc(&p, 4096));
  CU_CHECK(cuMemHostAlloc(&h, 4096, 0));
  CU_CHECK(cuModuleLoadData(&m, conformance::image().c_str()));
  CU_CHECK(cuCtxDestroy(gone));
  ANSWERS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFreeHost(h), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostGetFlags(&flags, h), CUDA_ERROR_INVALID_VALUE);
  // A real driver follows these handles: it returned these results once, and crashed another time.
  if (!conformance::on_simulator()) return;
  ANSWERS(cuStreamQuery(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuStreamSynchronize(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuStreamGetCtx(s, &x), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuStreamDestroy(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuEventQuery(e), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuEventRecord(e, 0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuEventDestroy(e), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ANSWERS(cuModuleGetFunction(&f, m, "vadd"), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
}

FRESH_CASE("Freeing needs no context, for the address tells the owner; using does", "[context]") {
  const conformance::Context made = conformance::context();
  CUcontext x = nullptr;
  CUdeviceptr p = 0;
  void* h = nullptr;
  unsigned word = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  CU_CHECK(cuMemHostAlloc(&h, 4096, 0));
  CU_CHECK(cuCtxPopCurrent(&x));
  ANSWERS(cuMemcpyDtoH(&word, p, 4), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemsetD8(p, 1, 4), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemFree(p), CUDA_SUCCESS);
  ANSWERS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFreeHost(h), CUDA_SUCCESS);
  ANSWERS(cuMemFreeHost(h), CUDA_ERROR_INVALID_VALUE);
  CU_CHECK(cuCtxDestroy(made.ctx));
}

FRESH_CASE("A fault in one context is a fault in every other one of its device", "[context]") {
  const conformance::Context made = conformance::context();
  CUcontext other = nullptr;
  CUdeviceptr p = 0;
  CU_CHECK(cuCtxCreate(&other, nullptr, 0, made.dev));
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  void* a[] = {&p};
  CU_CHECK(cuModuleLoadData(&m, conformance::image().c_str()));
  CU_CHECK(cuModuleGetFunction(&f, m, "null_write"));
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CU_CHECK(cuCtxPopCurrent(&other));
  ANSWERS(cuMemAlloc(&p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuCtxDestroy(other), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  ANSWERS(cuCtxDestroy(made.ctx), CUDA_SUCCESS);
}

FRESH_CASE("A context has no peer on its own device", "[context]") {
  const conformance::Context made = conformance::context();
  CUcontext other = nullptr;
  CU_CHECK(cuCtxCreate(&other, nullptr, 0, made.dev));
  ANSWERS(cuCtxEnablePeerAccess(made.ctx, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  ANSWERS(cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  ANSWERS(cuCtxDisablePeerAccess(made.ctx), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

FRESH_CASE("A kernel reaches what the device's other contexts have allocated", "[context]") {
  const auto first = conformance::module();
  CUdeviceptr memory = 0, variable = 0;
  ANSWERS(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  ANSWERS(cuModuleGetGlobal(&variable, nullptr, first.mod, "counter"), CUDA_SUCCESS);
  const auto second = conformance::module();
  for (CUdeviceptr there : {memory, variable}) {
    void* arguments[] = {&there};
    ANSWERS(cuLaunchKernel(second("null_write"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
    int value = 0;
    ANSWERS(cuMemcpyDtoH(&value, there, 4), CUDA_SUCCESS);
    CHECK(value == 1);
  }
  ANSWERS(cuCtxEnablePeerAccess(first.ctx, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  ANSWERS(cuCtxDestroy(first.ctx), CUDA_SUCCESS);
  void* arguments[] = {&memory};
  ANSWERS(cuLaunchKernel(second("null_write"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("cuMemFree does not wait for a kernel of another context than the memory's", "[context]") {
  const auto owner = conformance::module();
  CUdeviceptr memory = 0;
  long long tenth_of_a_second = 100000000;
  void *wait[] = {&tenth_of_a_second}, *arguments[] = {&memory};
  CU_CHECK(cuMemAlloc(&memory, 64 << 20));
  const auto user = conformance::module();
  CU_CHECK(cuLaunchKernel(user("spin"), 1, 1, 1, 1, 1, 1, 0, nullptr, wait, nullptr));
  CU_CHECK(cuLaunchKernel(user("null_write"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxPushCurrent(owner.ctx));
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuMemFree(memory), CUDA_SUCCESS);
  CU_CHECK(cuCtxSetCurrent(user.ctx));
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("A kernel that could assert uses the room to print, a deep one raises the stack's limit", "[context]") {
  conformance::context();
  CUmodule mod = nullptr;
  CUfunction asserts = nullptr, deep = nullptr;
  CU_CHECK(cuModuleLoadData(&mod, R"(.version 7.8
.target sm_75
.address_size 64
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry asserts(.param .u32 wrong) {
  .reg .b64 %rd1; .reg .b32 %r1; .reg .pred %p1;
  .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
  ld.param.u32 %r1, [wrong]; setp.eq.u32 %p1, %r1, 0; @%p1 bra done;
  mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1;
  st.param.b64 [m], %rd1; st.param.b64 [f], %rd1; st.param.b32 [l], 1; st.param.b64 [n], %rd1; st.param.b64 [s], 1;
  call __assertfail, (m, f, l, n, s);
done: ret;
}
.visible .entry deep(.param .u64 p) {
  .local .align 4 .b8 cells[4096];
  .reg .b64 %rd<4>; .reg .b32 %r1;
  ld.param.u64 %rd1, [p]; and.b64 %rd1, %rd1, 4092;
  mov.u64 %rd2, cells; add.u64 %rd3, %rd2, %rd1;
  st.local.u32 [%rd3], 1;
  ld.local.u32 %r1, [%rd2];
  ret;
}
)"));
  CU_CHECK(cuModuleGetFunction(&asserts, mod, "asserts"));
  CU_CHECK(cuModuleGetFunction(&deep, mod, "deep"));
  unsigned long long zero = 0;
  void* a[] = {&zero};
  ANSWERS(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 50), CUDA_SUCCESS);  // not checked
  ANSWERS(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(asserts, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(deep, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  std::size_t stack = 0;
  ANSWERS(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  SHOWS("stack 4096", "stack " << stack);
}

FRESH_CASE("Whether host memory is mapped a context is made with; the rest of its flags can be set", "[context]") {
  conformance::context();
  unsigned flags = 0;
  ANSWERS(cuCtxSetFlags(CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX | 0x80), CUDA_SUCCESS);
  ANSWERS(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  SHOWS("flags 146", "flags " << flags);  // CU_CTX_SYNC_MEMOPS is 0x80
}
