// Streams (CUDA Driver API manual, "Stream Management"). Capture is in api/capture.cpp.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/contexts/green.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"
#include "common/simulator/state/launches/launch.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/state/streams/event.hpp"
#include "common/simulator/state/streams/thread.hpp"

#include <algorithm>

namespace cudasim {

namespace {

CUresult create(CUstream* out, unsigned flags, int priority) {
  const auto context = current_context();
  require(out != nullptr);
  require((flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) == 0);
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  const auto stream = make_stream(context, flags, priority);
  stream->handle = streams().add(stream);
  context->add_stream(stream);
  if (const CUgreenCtx green = current_green_context()) join_green_context(green, stream);
  *out = stream->handle;
  return CUDA_SUCCESS;
}

// Work that has been entered still runs, but the handle is invalid at once.
CUresult destroy(CUstream handle) {
  require_calls_permitted();
  const auto stream = streams().get(handle);
  require_healthy(*stream->health);
  require(!stream->orphaned, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  require(streams().remove(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE);
  stream->closed = true;
  return CUDA_SUCCESS;
}

CUresult synchronize(CUstream handle) {
  const auto stream = get_stream(handle);
  require_not_captured(*stream);
  require_no_implicit_capture(*stream, Use::work);
  require_no_unsafe_capture();
  stream->synchronize();
  if (const auto context = stream->context.lock()) trim_pools(context->device);
  require_no_fault(stream->health->fault);  // a context that was destroyed while the call waited is not an error
  return CUDA_SUCCESS;
}

std::shared_ptr<Event> event_or_end_capture(const Stream& stream, CUevent handle) {
  try {
    return events().get(handle);
  } catch (const Failure&) {
    invalidate_capture(stream);
    throw;
  }
}

// Waiting for an event of a capture makes the stream join the capture. A captured stream cannot wait for other events.
bool join_capture(const std::shared_ptr<Stream>& stream, const Event& event) {
  std::vector<Dependency> nodes;
  const auto capture = event.captured(&nodes);
  const std::scoped_lock lock(Graph::mutex());
  if (!capture) {
    if (!stream->capture || !event.recorded()) return false;
    stream->capture->invalidated = true;
    fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  }
  require(!capture->invalidated && !capture->ended);  // as driver 580 does
  if (stream->legacy) {
    capture->invalidated = true;
    fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  }
  if (stream->capture && stream->capture != capture) {
    stream->capture->invalidated = capture->invalidated = true;
    fail(CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  capture->join(stream, nodes);
  return true;
}

std::shared_ptr<Context> context_of(CUstream handle) {
  auto context = get_stream(handle)->context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return context;
}

bool settable(CUstreamAttrID which) {
  switch (static_cast<int>(which)) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return true;
    default: return false;
  }
}

// Values that mean something; what is not listed may have any.
bool makes_sense(CUstreamAttrID which, const CUstreamAttrValue& value) {
  constexpr unsigned kDomains = 4;                            // CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT
  constexpr std::size_t kLargestWindow = std::size_t{128} << 20;  // CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE
  switch (static_cast<int>(which)) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      return value.syncPolicy >= CU_SYNC_POLICY_AUTO && value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return value.memSyncDomainMap.default_ < kDomains && value.memSyncDomainMap.remote < kDomains;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
             value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return value.accessPolicyWindow.hitRatio >= 0 && value.accessPolicyWindow.hitRatio <= 1 &&
             value.accessPolicyWindow.num_bytes <= kLargestWindow &&
             value.accessPolicyWindow.missProp != CU_ACCESS_PROPERTY_PERSISTING;
    default: return true;
  }
}

CUresult set_attribute(CUstream handle, CUstreamAttrID which, const CUstreamAttrValue* value) {
  const auto stream = get_stream(handle);
  require(value != nullptr && settable(which) && makes_sense(which, *value));
  stream->set_attribute(which, *value);
  return CUDA_SUCCESS;
}

CUresult copy_attributes(CUstream target, CUstream source) {
  const auto to = get_stream(target), from = get_stream(source);
  require(to->health == from->health);  // of one context
  to->copy_attributes(*from);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuStreamCreate(CUstream* phStream, unsigned int Flags) {
  return create(phStream, Flags, kLeastPriority);
}

CUresult driver::call_cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  return create(phStream, flags, priority);
}

CUresult driver::call_cuStreamDestroy(CUstream hStream) { return destroy(hStream); }

CUresult driver::call_cuStreamDestroy_v2(CUstream hStream) { return destroy(hStream); }

CUresult driver::call_cuStreamQuery(CUstream handle) {
  const auto stream = get_stream(handle);
  require_not_captured(*stream);
  require_no_implicit_capture(*stream, Use::work);
  require_no_unsafe_capture();
  if (!stream->idle()) return CUDA_ERROR_NOT_READY;
  require_no_fault(stream->health->fault);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamSynchronize(CUstream hStream) { return synchronize(hStream); }

CUresult driver::call_cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  const auto stream = get_stream(handle);
  const auto event = event_or_end_capture(*stream, event_handle);
  require(!event->health->ended, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  require((flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) == 0);
  if ((flags & CU_EVENT_WAIT_EXTERNAL) != 0) {
    const bool added = add_if_captured(*stream, [&](const Graph&) { return WaitPart{event_handle}; });
    return added ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
  }
  if (join_capture(stream, *event)) return CUDA_SUCCESS;
  const TaskPtr awaited = event->awaited();
  if (!awaited) return CUDA_SUCCESS;  // never recorded: nothing to wait for
  Operation wait;
  wait.kind = OperationKind::event_wait;
  wait.label = "cuStreamWaitEvent";
  stream->enqueue(std::move(wait), {&awaited, 1});
  return CUDA_SUCCESS;
}

// The callback receives the result of the work before it, even a fault.
CUresult driver::call_cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  const auto stream = get_stream(handle);
  require(callback != nullptr && flags == 0);
  Operation call;
  call.kind = OperationKind::host;
  call.label = "cuStreamAddCallback";
  call.even_after_fault = true;
  call.run = [handle, callback, data, health = stream->health] {
    callback(handle, health->fault, data);
    return CUDA_SUCCESS;
  };
  stream->enqueue(std::move(call));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamGetFlags(CUstream handle, unsigned* flags) {
  const auto stream = get_stream(handle);
  require(flags != nullptr);
  require_not_captured(*stream);  // as driver 580, although nothing is waited for
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamGetPriority(CUstream handle, int* priority) {
  const auto stream = get_stream(handle);
  require(priority != nullptr);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamGetId(CUstream handle, unsigned long long* id) {
  const auto stream = get_stream(handle);
  require(id != nullptr);
  require_not_captured(*stream);  // as driver 580
  *id = stream->id;
  return CUDA_SUCCESS;
}

// For a stream of a green context: the context that cuCtxFromGreenCtx returns.
CUresult driver::call_cuStreamGetCtx(CUstream handle, CUcontext* out) {
  const auto stream = get_stream(handle);
  const auto context = context_of(handle);
  require(out != nullptr);
  const CUgreenCtx green = green_context_of(*stream);
  *out = green != nullptr ? context_of_green(green) : context->handle;
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12050
// A stream of a green context is in the primary context as well.
CUresult driver::call_cuStreamGetCtx_v2(CUstream handle, CUcontext* out, CUgreenCtx* green) {
  require(handle != CU_STREAM_PER_THREAD || current_green_context() == nullptr, CUDA_ERROR_INVALID_HANDLE);
  const auto stream = get_stream(handle);
  require(out != nullptr && green != nullptr);
  *green = green_context_of(*stream);
  const auto context = stream->context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  *out = context->handle;
  return CUDA_SUCCESS;
}
#endif

CUresult driver::call_cuStreamGetDevice(CUstream handle, CUdevice* device) {
  const auto context = context_of(handle);
  require(device != nullptr);
  *device = context->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamGetAttribute(CUstream handle, CUstreamAttrID which, CUstreamAttrValue* out) {
  const auto stream = get_stream(handle);
  require(out != nullptr && settable(which));
  *out = stream->attribute(which);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* value) {
  return set_attribute(hStream, attr, value);
}

CUresult driver::call_cuStreamCopyAttributes(CUstream dst, CUstream src) { return copy_attributes(dst, src); }

}  // namespace cudasim
