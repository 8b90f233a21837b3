// Contexts (CUDA Driver API manual, "Context Management", "Context Management [DEPRECATED]").
//
// The stack holds handles, not contexts: a destroyed context stays on every stack it was pushed to, can even be pushed
// again, and every call that uses it fails with CUDA_ERROR_CONTEXT_IS_DESTROYED.
#include "common/simulator/api/call.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/contexts/context_flags.hpp"
#include "common/simulator/state/contexts/first_contexts.hpp"
#include "common/simulator/state/contexts/green.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/state/streams/capture.hpp"
#include "common/simulator/state/streams/event.hpp"
#include "common/simulator/state/streams/thread.hpp"

#include <algorithm>

namespace cudasim {

namespace {

CUresult create(CUcontext* out, unsigned flags, CUdevice dev, u32 api_version) {
  require_calls_permitted();
  require(out != nullptr);
  require_context_flags(flags);
  Device& device = device_at(dev);
  require_healthy_device(device);
  const auto context = create_context(device, flags, false, api_version);
  note_coredump_flags(flags);
  this_thread().stack.push_back(context->handle);
  *out = context->handle;
  return CUDA_SUCCESS;
}

CUresult destroy(CUcontext handle) {
  require_calls_permitted();
  require(handle != nullptr);
  const auto context = find_context(handle);
  require(context != nullptr && !context->primary, CUDA_ERROR_INVALID_CONTEXT);
  auto& stack = this_thread().stack;
  if (!stack.empty() && stack.back() == handle) stack.pop_back();
  destroy_context(context);
  return CUDA_SUCCESS;
}

CUresult push(CUcontext handle) {
  require_initialized();
  require(handle != nullptr);
  require(context_state(handle) != ContextState::unknown, CUDA_ERROR_INVALID_CONTEXT);
  this_thread().stack.push_back(handle);
  return CUDA_SUCCESS;
}

CUresult pop(CUcontext* out) {
  require_initialized();
  auto& stack = this_thread().stack;
  require(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
  if (out != nullptr) *out = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

// Null means the current one.
std::shared_ptr<Context> named_or_current(CUcontext handle) {
  if (handle == nullptr) return current_context_even_faulted();
  require_calls_permitted();
  return get_context(handle);
}

CUresult synchronize(const std::shared_ptr<Context>& context) {
  require_healthy(*context->health);
  require_no_capture(*context);
  context->synchronize();
  trim_pools(context->device);
  require_no_fault(context->health->fault);
  return CUDA_SUCCESS;
}

enum class LimitRule { unknown, unsupported, readable, settable };

LimitRule rule(CUlimit limit) {
  switch (static_cast<int>(limit)) {
    case CU_LIMIT_STACK_SIZE:
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MALLOC_HEAP_SIZE:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return LimitRule::settable;
    case 7:
    case 8: return LimitRule::readable;     // CU_LIMIT_SHMEM_SIZE, CU_LIMIT_CIG_ENABLED: of graphics contexts
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:   // not since compute capability 9.0
    case 9: return LimitRule::unsupported;  // CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED
    default: return LimitRule::unknown;
  }
}

void require_limit(CUlimit limit) {
  const LimitRule which = rule(limit);
  require(which != LimitRule::unknown);
  require(which != LimitRule::unsupported, CUDA_ERROR_UNSUPPORTED_LIMIT);
}

// Whether a kernel that uses the limited resource has been launched. The limit can no longer change then.
bool in_use(CUlimit limit, const Context& context) {
  const auto used = [&](Builtin which) { return (context.builtins >> static_cast<u32>(which) & 1) != 0; };
  if (limit == CU_LIMIT_PRINTF_FIFO_SIZE) return used(Builtin::vprintf) || used(Builtin::assertfail);
  return limit == CU_LIMIT_MALLOC_HEAP_SIZE && (used(Builtin::malloc) || used(Builtin::free));
}

// The largest value that a limit takes.
u64 largest(CUlimit limit, const Device& device) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE: return kMostLocal - 1;  // a thread's local memory
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: return 128;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      return static_cast<u64>(*attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE));
    case CU_LIMIT_PRINTF_FIFO_SIZE:  // not checked before a kernel needs it
    case CU_LIMIT_MALLOC_HEAP_SIZE: return ~u64{0};
    default: return device.memory;
  }
}

// What a limit becomes when `wanted` is asked for: rounded, and not below what the driver needs (H200, driver 580).
u64 granted(CUlimit limit, u64 wanted) {
  const auto up = [&](u64 step) { return round_up(wanted, step); };
  switch (limit) {
    case CU_LIMIT_STACK_SIZE: return up(16);
    case CU_LIMIT_PRINTF_FIFO_SIZE: return std::max(wanted, u64{512} << 10);
    case CU_LIMIT_MALLOC_HEAP_SIZE: return std::max(wanted, u64{4} << 20);
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return std::clamp(wanted, u64{32}, u64{599186});
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return up(3932160);
    default: return wanted;
  }
}

}  // namespace

CUresult driver::call_cuCtxCreate(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  return create(pctx, flags, dev, kFirstApiVersion);
}

CUresult driver::call_cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  return create(pctx, flags, dev, kSecondApiVersion);
}

// Execution affinity exists under MPS only.
CUresult driver::call_cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam* paramsArray, int numParams,
                                     unsigned int flags, CUdevice dev) {
  require_initialized();
  require(numParams >= 0 && (numParams == 0) == (paramsArray == nullptr));
  require(numParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  return create(pctx, flags, dev, kSecondApiVersion);
}

#if CUDA_VERSION >= 12050
CUresult driver::call_cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags,
                                     CUdevice dev) {
  require_initialized();
  if (ctxCreateParams != nullptr) {
    const bool affinity = ctxCreateParams->numExecAffinityParams != 0 || ctxCreateParams->execAffinityParams != nullptr;
    const bool graphics = ctxCreateParams->cigParams != nullptr;
    require(!(affinity && graphics) && ctxCreateParams->numExecAffinityParams >= 0);
    require(!affinity, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    if (graphics) return refuse("cuCtxCreate_v4", "contexts for graphics interoperability");
  }
  return create(pctx, flags, dev, kSecondApiVersion);
}
#endif

CUresult driver::call_cuCtxDestroy(CUcontext ctx) { return destroy(ctx); }

CUresult driver::call_cuCtxDestroy_v2(CUcontext ctx) { return destroy(ctx); }

CUresult driver::call_cuCtxPushCurrent(CUcontext ctx) { return push(ctx); }

CUresult driver::call_cuCtxPushCurrent_v2(CUcontext ctx) { return push(ctx); }

CUresult driver::call_cuCtxPopCurrent(CUcontext* pctx) { return pop(pctx); }

CUresult driver::call_cuCtxPopCurrent_v2(CUcontext* pctx) { return pop(pctx); }

// Replaces the top of the stack; null takes the top away, which may uncover another context.
CUresult driver::call_cuCtxSetCurrent(CUcontext ctx) {
  require_initialized();
  require(ctx == nullptr || context_state(ctx) != ContextState::unknown, CUDA_ERROR_INVALID_CONTEXT);
  auto& stack = this_thread().stack;
  if (!stack.empty()) stack.pop_back();
  if (ctx != nullptr) stack.push_back(ctx);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetCurrent(CUcontext* pctx) {
  require_initialized();
  require(pctx != nullptr);
  const auto& stack = this_thread().stack;
  *pctx = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetDevice(CUdevice* device) {
  require_calls_permitted();
  const auto& stack = this_thread().stack;
  require(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT, [] { return "no context is current to this thread"; });
  require(device != nullptr);
  *device = device_of(stack.back()).ordinal;  // even if it is destroyed, as driver 580
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
  if (ctx == nullptr) return call_cuCtxGetDevice(device);
  require_calls_permitted();
  require(device != nullptr);
  *device = device_of(ctx).ordinal;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetFlags(unsigned int* flags) {
  require_calls_permitted();
  require(flags != nullptr);
  const auto context = current_context_if_any();
  if (!context) {
    require(!this_thread().stack.empty(), CUDA_ERROR_INVALID_CONTEXT,
            [] { return "no context is current to this thread"; });
    *flags = 0;  // a destroyed context's, as driver 580
    return CUDA_SUCCESS;
  }
  const std::scoped_lock lock(context->settings);
  *flags = told_flags(context->flags);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxSetFlags(unsigned int flags) {
  const auto context = current_context();
  require_context_flags(flags);
  const std::scoped_lock lock(context->settings);
  context->flags = (context->flags & kMadeWith) | (flags & ~kMadeWith);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
  const auto context = named_or_current(ctx);
  require(ctxId != nullptr);
  const u64 green = green_id_of(ctx != nullptr ? ctx : this_thread().stack.back());
  *ctxId = green != 0 ? green : context->id;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
  require(ctx == nullptr || find_context(ctx) != nullptr, CUDA_ERROR_INVALID_CONTEXT);  // a destroyed one, too
  const auto context = named_or_current(ctx);
  require(version != nullptr);
  *version = context->api_version;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxSynchronize() { return synchronize(current_context()); }

CUresult driver::call_cuCtxSynchronize_v2(CUcontext ctx) { return synchronize(named_or_current(ctx)); }

CUresult driver::call_cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
  const auto context = current_context();
  require(pvalue != nullptr);
  require_limit(limit);
  *pvalue = context->limit(limit);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxSetLimit(CUlimit limit, size_t value) {
  const auto context = current_context();
  require_limit(limit);
  require(rule(limit) == LimitRule::settable, CUDA_ERROR_NOT_PERMITTED);
  require(value <= largest(limit, context->device));
  require(!in_use(limit, *context), CUDA_ERROR_INVALID_VALUE,
          [] { return "a kernel that uses this memory has been launched, so this limit can no longer change"; });
  require_no_unsafe_capture();
  const std::scoped_lock lock(context->settings);
  context->limits.at(limit) = granted(limit, value);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
  const auto context = current_context();
  require(pconfig != nullptr);
  const std::scoped_lock lock(context->settings);
  *pconfig = context->cache_config;
  return CUDA_SUCCESS;
}

// A preference only: it changes no result, and there is no cache to size.
CUresult driver::call_cuCtxSetCacheConfig(CUfunc_cache config) {
  const auto context = current_context();
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL);
  require_no_unsafe_capture();
  const std::scoped_lock lock(context->settings);
  context->cache_config = config;
  return CUDA_SUCCESS;
}

// The bank size is fixed since compute capability 5.0, whatever was asked for.
CUresult driver::call_cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
  const auto context = current_context();
  require(pConfig != nullptr);
  *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxSetSharedMemConfig(CUsharedconfig config) {
  const auto context = current_context();
  require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE && config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
  require_no_unsafe_capture();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  const auto context = current_context();
  if (leastPriority != nullptr) *leastPriority = kLeastPriority;
  if (greatestPriority != nullptr) *greatestPriority = kGreatestPriority;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxResetPersistingL2Cache() {
  current_context();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxGetExecAffinity(CUexecAffinityParam* pExecAffinity, CUexecAffinityType type) {
  current_context();
  require(pExecAffinity != nullptr);
  require(type == CU_EXEC_AFFINITY_TYPE_SM_COUNT, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  *pExecAffinity = {};
  pExecAffinity->type = type;
  pExecAffinity->param.smCount.val = kMultiprocessors;  // all of them: contexts with fewer are not supported
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxAttach(CUcontext* pctx, unsigned int flags) {
  const auto context = current_context();
  require(pctx != nullptr && flags == 0);
  ++context->attached;
  *pctx = context->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxDetach(CUcontext ctx) {
  require_calls_permitted();
  const auto context = find_context(ctx);
  const auto& stack = this_thread().stack;
  require(context != nullptr && !stack.empty() && stack.back() == ctx, CUDA_ERROR_INVALID_CONTEXT);
  if (--context->attached == 0) return destroy(ctx);
  return CUDA_SUCCESS;
}

// Marks all work in all streams of the context so far.
CUresult driver::call_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
  require_calls_permitted();
  require(hCtx != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  const auto context = named_or_current(hCtx);
  require_healthy(*context->health);
  const auto event = events().get(hEvent);
  require(event->health == context->health, CUDA_ERROR_INVALID_HANDLE);
  require_no_capture(*context);
  event->record(*context);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
  require_calls_permitted();
  require(hCtx != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  const auto context = named_or_current(hCtx);
  require_healthy(*context->health);
  const auto event = events().get(hEvent);
  if (const auto capture = event->captured()) {
    const std::scoped_lock lock(Capture::mutex());
    require(!capture->invalidated);  // as driver 580 does
    capture->invalidated = true;
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  require_no_capture(*context);
  if (const TaskPtr awaited = event->awaited()) context->hold_back(awaited);
  return CUDA_SUCCESS;
}

// Kernels of the current context may touch what the peer's has allocated.
CUresult driver::call_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
  const auto context = current_context();
  require(Flags == 0);
  const auto peer = find_context(peerContext);
  require(peer != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  require(&peer->device != &context->device, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  const std::scoped_lock lock(context->settings);
  require(context->peers.insert(peer->id).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  AddressSpace::instance().grant(context->id, peer->id);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxDisablePeerAccess(CUcontext peerContext) {
  const auto context = current_context();
  const auto peer = find_context(peerContext);
  require(peer != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  const std::scoped_lock lock(context->settings);
  require(context->peers.erase(peer->id) != 0, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  AddressSpace::instance().revoke(context->id, peer->id);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
