// What events and streams are made with, and what is asked of them and set on them.
#include "tests/conformance/recorded.hpp"

namespace {

std::string number(long long value) { return std::to_string(value); }

}  // namespace

RECORDED_CASE("Events have flags that go together", "[streams]") {
  conformance::context();
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  for (const unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 16u, 32u, 0x80000000u}) {
    CUevent e = nullptr;
    const CUresult made = cuEventCreate(&e, flags);
    SAY_AS("cuEventCreate " + number(flags), made);
    if (made != CUDA_SUCCESS) continue;
    float ms = 0;
    SAY(cuEventQuery(e));
    SAY(cuEventSynchronize(e));
    SAY(cuEventElapsedTime(&ms, e, e));
    for (const unsigned how : {0u, 1u, 2u})
      SAY_AS("cuEventRecordWithFlags " + number(how), cuEventRecordWithFlags(e, s, how));
    SAY(cuEventSynchronize(e));
    SAY(cuEventElapsedTime(&ms, e, e));
    CUipcEventHandle handle{};
    SAY(cuIpcGetEventHandle(&handle, e));
    SAY(cuEventDestroy(e));
  }
  SAY(cuEventCreate(nullptr, 0));
}

// A table: one row after the other.
RECORDED_CASE("Events are asked, recorded and waited for in any order", "[streams]") {
  const auto F = conformance::context();
  CUstream s = nullptr, t = nullptr;
  CUevent e = nullptr, f = nullptr, silent = nullptr;
  float ms = 0;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&e, 0));
  CU_CHECK(cuEventCreate(&f, 0));
  CU_CHECK(cuEventCreate(&silent, CU_EVENT_DISABLE_TIMING));
  SAY(cuEventElapsedTime(&ms, e, f));
  SAY(cuEventRecord(e, s));
  SAY(cuEventSynchronize(e));
  SAY(cuEventElapsedTime(&ms, e, f));
  SAY(cuEventElapsedTime(&ms, f, e));
  SAY(cuEventElapsedTime(&ms, e, e));
  SHOW(ms);
  SAY(cuEventRecord(f, t));
  SAY(cuEventSynchronize(f));
  SAY(cuEventElapsedTime(&ms, e, f));
  SHOW((ms >= 0));
  SAY(cuEventElapsedTime(&ms, f, e));
  SHOW((ms <= 0));
  SAY(cuEventElapsedTime(nullptr, e, f));
  SAY(cuEventElapsedTime(&ms, e, silent));
  SAY(cuEventRecord(silent, s));
  SAY(cuEventSynchronize(silent));
  SAY(cuEventElapsedTime(&ms, e, silent));
  SAY(cuEventElapsedTime(&ms, nullptr, e));
  SAY(cuEventElapsedTime(&ms, e, nullptr));
  SAY(cuEventRecord(nullptr, s));
  SAY(cuEventQuery(nullptr));
  SAY(cuEventSynchronize(nullptr));
  SAY(cuEventDestroy(nullptr));
  SAY(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
  SAY(cuEventRecordWithFlags(e, s, 4));
  for (const unsigned flags : {0u, 1u, 2u, 4u})
    SAY_AS("cuStreamWaitEvent " + number(flags), cuStreamWaitEvent(t, e, flags));
  SAY(cuStreamWaitEvent(t, nullptr, 0));
  SAY(cuStreamWaitEvent(nullptr, e, 0));
  SAY(cuStreamWaitEvent(CU_STREAM_LEGACY, e, 0));
  SAY(cuStreamWaitEvent(CU_STREAM_PER_THREAD, e, 0));
  CUcontext second = nullptr;
  CUevent other = nullptr;
  CUstream its = nullptr;
  CU_CHECK(cuCtxCreate(&second, nullptr, 0, F.dev));
  CU_CHECK(cuEventCreate(&other, 0));
  CU_CHECK(cuStreamCreate(&its, 0));
  SAY(cuEventRecord(other, s));
  SAY(cuEventRecord(e, its));
  SAY(cuEventRecord(e, nullptr));
  SAY(cuEventRecord(other, nullptr));
  SAY(cuStreamWaitEvent(its, e, 0));
  SAY(cuEventSynchronize(other));
  SAY(cuEventElapsedTime(&ms, e, other));
  SAY(cuCtxRecordEvent(F.ctx, e));
  SAY(cuCtxRecordEvent(F.ctx, other));
  SAY(cuCtxRecordEvent(nullptr, e));
  SAY(cuCtxRecordEvent(F.ctx, nullptr));
  SAY(cuCtxWaitEvent(F.ctx, other));
  SAY(cuCtxWaitEvent(second, e));
  SAY(cuCtxWaitEvent(F.ctx, nullptr));
}

RECORDED_CASE("Streams have flags and priorities", "[streams]") {
  conformance::context();
  for (const unsigned flags : {0u, 1u, 2u, 3u, 4u, 0x80000000u}) {
    CUstream s = nullptr;
    const CUresult made = cuStreamCreate(&s, flags);
    SAY_AS("cuStreamCreate " + number(flags), made);
    if (made != CUDA_SUCCESS) continue;
    unsigned got = 99;
    int priority = 99;
    SAY(cuStreamGetFlags(s, &got));
    SHOW(got);
    SAY(cuStreamGetPriority(s, &priority));
    SHOW(priority);
    SAY(cuStreamDestroy(s));
  }
  for (const int priority : {-100, -6, -5, -3, -1, 0, 1, 100}) {
    CUstream s = nullptr;
    int got = 99;
    SAY_AS("cuStreamCreateWithPriority " + number(priority),
           cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, priority));
    SAY(cuStreamGetPriority(s, &got));
    SHOW(got);
  }
  CUstream s = nullptr;
  SAY(cuStreamCreate(nullptr, 0));
  SAY(cuStreamCreateWithPriority(&s, 2, 0));
  unsigned flags = 99;
  int priority = 99, least = 9, greatest = 9;
  unsigned long long id = 0, again = 0;
  CUcontext context = nullptr;
  CUdevice device = 9;
  for (const CUstream which : {CUstream{nullptr}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    const std::string of = " of " + number(reinterpret_cast<long long>(which));
    SAY_AS("cuStreamGetFlags" + of, cuStreamGetFlags(which, &flags));
    SHOW(flags);
    SAY_AS("cuStreamGetPriority" + of, cuStreamGetPriority(which, &priority));
    SHOW(priority);
    SAY_AS("cuStreamGetId" + of, cuStreamGetId(which, &id));
    SHOW_AS("small", (id < 100));
    SAY_AS("cuStreamGetCtx" + of, cuStreamGetCtx(which, &context));
    SAY_AS("cuStreamGetDevice" + of, cuStreamGetDevice(which, &device));
    SAY_AS("cuStreamQuery" + of, cuStreamQuery(which));
    SAY_AS("cuStreamSynchronize" + of, cuStreamSynchronize(which));
    SAY_AS("cuStreamDestroy" + of, cuStreamDestroy(which));
  }
  SAY(cuStreamGetId(nullptr, &id));
  SAY(cuStreamGetId(CU_STREAM_LEGACY, &again));
  SHOW((id == again));
  SAY(cuStreamGetFlags(nullptr, nullptr));
  SAY(cuStreamGetPriority(nullptr, nullptr));
  SAY(cuStreamGetId(nullptr, nullptr));
  SAY(cuStreamGetCtx(nullptr, nullptr));
  SAY(cuStreamGetDevice(nullptr, nullptr));
  SAY(cuCtxGetStreamPriorityRange(&least, &greatest));
  SHOW(least << " " << greatest);
  SAY(cuCtxGetStreamPriorityRange(nullptr, nullptr));
}

RECORDED_CASE("Stream attributes have ids and ranges", "[streams]") {
  conformance::context();
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  const auto words = [](const CUstreamAttrValue& value) {
    int four[4];
    std::memcpy(four, &value, sizeof four);
    return number(four[0]) + " " + number(four[1]) + " " + number(four[2]) + " " + number(four[3]);
  };
  for (int id = 0; id < 20; ++id) {
    CUstreamAttrValue value{};
    const CUresult got = cuStreamGetAttribute(s, static_cast<CUstreamAttrID>(id), &value);
    SAY_AS("get " + number(id), got);
    if (got == CUDA_SUCCESS && id != 10) SHOW_AS("it is", words(value));
    value = {};
    SAY_AS("set " + number(id) + " to 0", cuStreamSetAttribute(s, static_cast<CUstreamAttrID>(id), &value));
  }
  CUstreamAttrValue value{};
  for (const int policy : {-1, 0, 1, 2, 3, 4, 5}) {
    value.syncPolicy = static_cast<CUsynchronizationPolicy>(policy);
    SAY_AS("policy " + number(policy), cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    SAY(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    SHOW(value.syncPolicy);
  }
  for (const int priority : {-100, -5, -1, 0, 1, 100}) {
    value = {};
    value.priority = priority;
    int got = 99;
    SAY_AS("priority " + number(priority), cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    SAY(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    SHOW(value.priority);
    SAY(cuStreamGetPriority(s, &got));
    SHOW(got);
  }
  for (const auto& [own, remote] : {std::pair{0, 0}, {0, 1}, {1, 0}, {3, 3}, {4, 0}, {0, 4}, {200, 200}}) {
    value = {};
    value.memSyncDomainMap.default_ = static_cast<unsigned char>(own);
    value.memSyncDomainMap.remote = static_cast<unsigned char>(remote);
    SAY_AS("domains " + number(own) + " " + number(remote),
           cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
    SAY(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
    SHOW(int{value.memSyncDomainMap.default_} << " " << int{value.memSyncDomainMap.remote});
  }
  for (const int domain : {0, 1, 2, 3, -1}) {
    value = {};
    value.memSyncDomain = static_cast<CUlaunchMemSyncDomain>(domain);
    SAY_AS("domain " + number(domain), cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    SAY(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    SHOW(value.memSyncDomain);
  }
}

RECORDED_CASE("A window of persisting accesses lies in memory", "[streams]") {
  conformance::context();
  CUstream s = nullptr;
  CUdeviceptr p = 0;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemAlloc(&p, 1 << 20));
  const auto window = [&](CUdeviceptr base, std::size_t bytes, float ratio, int hit, int miss) {
    CUstreamAttrValue value{};
    value.accessPolicyWindow.base_ptr = reinterpret_cast<void*>(base);
    value.accessPolicyWindow.num_bytes = bytes;
    value.accessPolicyWindow.hitRatio = ratio;
    value.accessPolicyWindow.hitProp = static_cast<CUaccessProperty>(hit);
    value.accessPolicyWindow.missProp = static_cast<CUaccessProperty>(miss);
    return cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
  };
  SAY(window(p, 1 << 20, 1, 2, 1));
  SAY(window(p, 1 << 20, 0.5f, 2, 1));
  SAY(window(p, 1 << 20, 0, 2, 1));
  SAY(window(p, 1 << 20, 1.5f, 2, 1));
  SAY(window(p, 1 << 20, -1, 2, 1));
  SAY(window(p, 0, 1, 2, 1));
  SAY(window(0, 0, 0, 0, 0));
  SAY(window(0, 1 << 20, 1, 2, 1));
  SAY(window(p, std::size_t{1} << 40, 1, 2, 1));
  SAY(window(p, 256 << 20, 1, 2, 1));
  SAY(window(p + 1, 1 << 10, 1, 2, 1));
  SAY(window(p, 1 << 20, 1, 2, 2));
  SAY(window(p, 1 << 20, 1, 0, 0));
  SAY(window(p, 1 << 20, 1, 1, 1));
  SAY(window(p, 1 << 20, 1, 3, 1));
  SAY(window(p, 1 << 20, 1, 2, 3));
  SAY(window(p, 1 << 20, 1, -1, 1));
  SAY(window(1234, 1 << 10, 1, 2, 1));
}

RECORDED_CASE("Attributes are copied from stream to stream", "[streams]") {
  conformance::context();
  CUstream s = nullptr, t = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreateWithPriority(&t, CU_STREAM_NON_BLOCKING, -2));
  CUstreamAttrValue value{};
  int priority = 9;
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  SAY(cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  SAY(cuStreamCopyAttributes(t, s));
  SAY(cuStreamGetAttribute(t, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  SHOW(value.syncPolicy);
  SAY(cuStreamGetPriority(t, &priority));
  SHOW(priority);
  SAY(cuStreamGetAttribute(t, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  SHOW(value.priority);
  SAY(cuStreamCopyAttributes(s, s));
  SAY(cuStreamCopyAttributes(nullptr, s));
  SAY(cuStreamCopyAttributes(s, nullptr));
  SAY(cuStreamCopyAttributes(CU_STREAM_PER_THREAD, s));
  SAY(cuStreamCopyAttributes(CU_STREAM_LEGACY, CU_STREAM_PER_THREAD));
  SAY(cuStreamGetAttribute(nullptr, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  SAY(cuStreamSetAttribute(nullptr, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  SAY(cuStreamGetAttribute(CU_STREAM_LEGACY, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  SAY(cuStreamGetAttribute(CU_STREAM_PER_THREAD, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
}
