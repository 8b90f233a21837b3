// Green contexts (CUDA Driver API manual, "Green Contexts").
#include "common/simulator/state/contexts/green.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/contexts/green.hpp"
#include "common/simulator/state/contexts/primary.hpp"
#include "common/simulator/state/streams/capture.hpp"
#include "common/simulator/state/streams/event.hpp"
#include "common/simulator/state/streams/thread.hpp"

#include <algorithm>

namespace cudasim {

#if CUDA_VERSION >= 13000

CUresult driver::call_cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  require_calls_permitted();
  device_at(device);
  return give_resource(resource, type, kMultiprocessors);
}

CUresult driver::call_cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type) {
  require_calls_permitted();
  get_context(hCtx);
  const auto green = green_named(hCtx);
  return give_resource(resource, type, green ? green->count : kMultiprocessors);
}

CUresult driver::call_cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type) {
  return give_resource(resource, type, get_green(hCtx)->count);
}

CUresult driver::call_cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups,
                                                  const CUdevResource* input, CUdevResource* remaining,
                                                  unsigned int flags, unsigned int minCount) {
  require_calls_permitted();
  require(nbGroups != nullptr && input != nullptr);
  require(input->type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
  require(input->_internal_padding[0] == 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  const u32 total = input->sm.smCount;
  require(minCount <= total && total <= kMultiprocessors, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  const u32 unit = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0 ? kWithoutClusters : kWithClusters;
  const u32 size = std::min(total, std::max((minCount + unit - 1) / unit * unit, unit));
  require(size != 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  const u32 possible = unit == kWithClusters ? std::min(total / size, kMostWithClusters) : total / size;
  *nbGroups = result == nullptr ? possible : std::min(*nbGroups, possible);
  if (result != nullptr) std::fill_n(result, *nbGroups, multiprocessors(size, true));
  if (remaining != nullptr) *remaining = multiprocessors(total - *nbGroups * size);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources,
                                                unsigned int nbResources) {
  require_calls_permitted();
  require(phDesc != nullptr && resources != nullptr && nbResources != 0);
  u64 count = 0;
  for (unsigned i = 0; i < nbResources; ++i) {
    require(resources[i].type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
    count += resources[i].sm.smCount;
  }
  require(count != 0 && count <= kMultiprocessors, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  *phDesc = reinterpret_cast<CUdevResourceDesc>(kDescriptors + count);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags) {
  require_calls_permitted();
  Device& device = device_at(dev);
  const std::uintptr_t count = reinterpret_cast<std::uintptr_t>(desc) - kDescriptors;
  require(phCtx != nullptr && count >= 1 && count <= kMultiprocessors && flags == CU_GREEN_CTX_DEFAULT_STREAM);
  const auto made = std::make_shared<GreenContext>(device, static_cast<u32>(count));
  *phCtx = made->handle = green_contexts().add(made);
  const std::scoped_lock lock(green_owners().mutex);
  green_owners().by_name[made->name] = made->handle;
  return CUDA_SUCCESS;
}

// Its streams end with it.
CUresult driver::call_cuGreenCtxDestroy(CUgreenCtx hCtx) {
  const auto green = get_green(hCtx);
  const std::scoped_lock lock(green->mutex, green_owners().mutex);
  require(green_contexts().remove(hCtx) != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  green_owners().destroyed.insert(hCtx);
  for (const auto& weak : green->streams) {
    const auto stream = weak.lock();
    if (!stream) continue;
    stream->closed = stream->orphaned = true;
  }
  std::erase_if(green_owners().by_stream, [&](const auto& entry) { return entry.second == hCtx; });
  green_owners().by_name.erase(green->name);
  end_name(green->name);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx) {
  const auto green = get_green(hCtx);
  require(pContext != nullptr);
  *pContext = green->name;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId) {
  require_calls_permitted();
  const auto& stack = this_thread().stack;
  const auto green = greenCtx != nullptr ? get_green(greenCtx) : stack.empty() ? nullptr : green_named(stack.back());
  require(green != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  require(greenCtxId != nullptr);
  *greenCtxId = green->id;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags,
                                             int priority) {
  const auto green = get_green(greenCtx);
  require_healthy(*green->primary->health);
  require(phStream != nullptr && flags == CU_STREAM_NON_BLOCKING);
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  const auto stream = make_stream(green->primary, flags, priority);
  stream->handle = streams().add(stream);
  green->primary->add_stream(stream);
  join_green_context(greenCtx, stream);
  *phStream = stream->handle;
  return CUDA_SUCCESS;
}

// Declared since CUDA 13.1.
CUresult driver::call_cuStreamGetDevResource(CUstream hStream, CUdevResource* resource, CUdevResourceType type) {
  return give_resource_of_stream(get_stream(hStream), resource, type);
}

CUresult driver::call_cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
  const auto stream = get_stream(hStream);
  require(phCtx != nullptr);
  *phCtx = green_context_of(*stream);
  return CUDA_SUCCESS;
}

// Marks the work in its streams so far. The mark may include other work of the primary context, which is allowed.
CUresult driver::call_cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) {
  const auto green = get_green(hCtx);
  const auto event = events().get(hEvent);
  require_healthy(*green->primary->health);
  require(event->health == green->primary->health, CUDA_ERROR_INVALID_HANDLE);
  require_no_capture(*green);
  event->record(*green->primary);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) {
  const auto green = get_green(hCtx);
  const auto event = events().get(hEvent);
  if (auto capture = event->captured()) invalidate({std::move(capture)});
  require_no_capture(*green);
  const TaskPtr after[] = {event->awaited()};
  if (!after[0] || after[0]->done()) return CUDA_SUCCESS;
  const std::scoped_lock lock(green->mutex);
  std::erase_if(green->before, [](const TaskPtr& task) { return task->done(); });
  green->before.push_back(after[0]);
  for (const auto& weak : green->streams) {
    if (const auto stream = weak.lock(); stream && !stream->closed) stream->enqueue({}, after);
  }
  return CUDA_SUCCESS;
}
#endif

}  // namespace cudasim
