// Green contexts: a part of a device's multiprocessors, with streams of its own (CUDA Driver API manual, "Green
// Contexts"). The arithmetic of parts is a device's; the machine's threads are not shared out by it, so that a kernel
// in a green context runs as it would anywhere. Everything else of a green context is the primary one's: what
// cuCtxFromGreenCtx answers with is another name of it.
#include "common/simulator/api/green.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/api/primary.hpp"
#include "common/simulator/state/capture.hpp"
#include "common/simulator/state/event.hpp"
#include "common/simulator/state/thread.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cudasim {
namespace {

struct GreenContext {
  GreenContext(Device& on, u32 multiprocessors)
      : device(on), count(multiprocessors), primary(get_context(retain_primary(on))), name(name_context(primary)) {}
  ~GreenContext() {
    try {
      release_primary(device);
    } catch (const Failure&) {  // the program has released it more often than it retained it
    }
  }
  GreenContext(const GreenContext&) = delete;
  GreenContext& operator=(const GreenContext&) = delete;

  Device& device;
  const u32 count;  // of multiprocessors
  const std::shared_ptr<Context> primary;
  const CUcontext name;
  const u64 id = fresh_handle();
  CUgreenCtx handle = nullptr;
  std::mutex mutex;  // for the following
  std::vector<std::weak_ptr<Stream>> streams;
  std::vector<TaskPtr> before;  // what streams to come have to wait for
};

Registry<GreenContext, CUgreenCtx>& green_contexts() {
  static auto& all = *new Registry<GreenContext, CUgreenCtx>;
  return all;
}

// Which streams, and which names of contexts, are whose; no handle is used twice.
struct Owners {
  std::mutex mutex;
  std::map<CUstream, CUgreenCtx> by_stream;
  std::map<CUcontext, CUgreenCtx> by_name;
  std::set<CUgreenCtx> destroyed;
};

Owners& owners() {
  static auto& all = *new Owners;
  return all;
}

// Null for other contexts.
std::shared_ptr<GreenContext> green_named(CUcontext handle) {
  const std::scoped_lock lock(owners().mutex);
  const auto found = owners().by_name.find(handle);
  return found == owners().by_name.end() ? nullptr : green_contexts().find(found->second);
}

}  // namespace

CUgreenCtx current_green_context() {
  const auto& stack = this_thread().stack;
  const auto green = stack.empty() ? nullptr : green_named(stack.back());
  return green ? green->handle : nullptr;
}

CUgreenCtx green_context_of(const Stream& stream) {
  if (stream.legacy) return current_green_context();
  const std::scoped_lock lock(owners().mutex);
  const auto found = owners().by_stream.find(stream.handle);
  return found == owners().by_stream.end() ? nullptr : found->second;
}

CUcontext context_of_green(CUgreenCtx handle) {
  const auto green = green_contexts().find(handle);
  return green ? green->name : nullptr;
}

void join_green_context(CUgreenCtx handle, const std::shared_ptr<Stream>& stream) {
  const auto green = green_contexts().get(handle, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const std::scoped_lock lock(green->mutex, owners().mutex);
  if (!green->before.empty()) stream->enqueue({}, green->before);
  std::erase_if(green->streams, [](const auto& weak) { return weak.expired(); });
  green->streams.push_back(stream);
  owners().by_stream[stream->handle] = handle;
}

u64 green_id_of(CUcontext handle) {
  const auto green = green_named(handle);
  return green ? green->id : 0;
}

#if CUDA_VERSION >= 13000
namespace {

// Blocks of a cluster run on multiprocessors that stand together, eight of them; alone they come in twos.
constexpr u32 kTogether = 8, kAlone = 2;
constexpr u32 kMostTogether = 15;  // parts of such multiprocessors, as driver 580 has it
// A descriptor says how many multiprocessors, and nothing else: there is no call that would end one.
constexpr std::uintptr_t kDescriptors = 0x3d0000000000;

// `part`: a group that a split has made, which is not split again.
CUdevResource multiprocessors(u32 count, bool part = false) {
  CUdevResource resource{};
  if (count == 0) return resource;  // CU_DEV_RESOURCE_TYPE_INVALID
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource._internal_padding[0] = part;
  resource.sm.smCount = count;
  resource.sm.minSmPartitionSize = kTogether;
  resource.sm.smCoscheduledAlignment = kTogether;
  return resource;
}

CUresult give(CUdevResource* out, CUdevResourceType type, u32 count) {
  require(out != nullptr);
  require(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
  *out = multiprocessors(count);
  return CUDA_SUCCESS;
}

CUresult give_of_stream(const std::shared_ptr<Stream>& stream, CUdevResource* out, CUdevResourceType type) {
  const CUgreenCtx green = green_context_of(*stream);
  const auto found = green != nullptr ? green_contexts().find(green) : nullptr;
  return give(out, type, found ? found->count : kMultiprocessors);
}

// For a mark of, or a wait for, all work, while some of it is being captured.
void invalidate(const std::vector<std::shared_ptr<Capture>>& captures) {
  if (captures.empty()) return;
  const std::scoped_lock lock(Graph::mutex());
  for (const auto& capture : captures) capture->invalidated = true;
  fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream is being captured, and this call could not be part of it");
}

void require_no_capture(GreenContext& green) {
  std::vector<std::shared_ptr<Capture>> captures;
  {
    const std::scoped_lock lock(green.mutex);
    for (const auto& weak : green.streams) {
      const auto stream = weak.lock();
      if (auto capture = stream ? capture_of(*stream) : nullptr) captures.push_back(std::move(capture));
    }
  }
  invalidate(captures);
}

// Tells a destroyed one from what was none.
std::shared_ptr<GreenContext> get_green(CUgreenCtx handle) {
  require_calls_permitted();
  if (auto green = green_contexts().find(handle)) return green;
  const std::scoped_lock lock(owners().mutex);
  fail(owners().destroyed.contains(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace

CUresult driver::call_cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  require_calls_permitted();
  device_at(device);
  return give(resource, type, kMultiprocessors);
}

CUresult driver::call_cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type) {
  require_calls_permitted();
  get_context(hCtx);
  const auto green = green_named(hCtx);
  return give(resource, type, green ? green->count : kMultiprocessors);
}

CUresult driver::call_cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type) {
  return give(resource, type, get_green(hCtx)->count);
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
  const u32 unit = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0 ? kAlone : kTogether;
  const u32 size = std::min(total, std::max((minCount + unit - 1) / unit * unit, unit));
  require(size != 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  const u32 possible = unit == kTogether ? std::min(total / size, kMostTogether) : total / size;
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
  const std::scoped_lock lock(owners().mutex);
  owners().by_name[made->name] = made->handle;
  return CUDA_SUCCESS;
}

// Its streams end with it.
CUresult driver::call_cuGreenCtxDestroy(CUgreenCtx hCtx) {
  const auto green = get_green(hCtx);
  const std::scoped_lock lock(green->mutex, owners().mutex);
  require(green_contexts().remove(hCtx) != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  owners().destroyed.insert(hCtx);
  for (const auto& weak : green->streams) {
    const auto stream = weak.lock();
    if (!stream) continue;
    stream->closed = stream->orphaned = true;
  }
  std::erase_if(owners().by_stream, [&](const auto& entry) { return entry.second == hCtx; });
  owners().by_name.erase(green->name);
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
  const auto stream =
      std::make_shared<Stream>(green->primary, green->primary->health, unsigned{flags}, priority, false);
  stream->handle = streams().add(stream);
  green->primary->add_stream(stream);
  join_green_context(greenCtx, stream);
  *phStream = stream->handle;
  return CUDA_SUCCESS;
}

// Declared since CUDA 13.1.
CUresult driver::call_cuStreamGetDevResource(CUstream hStream, CUdevResource* resource, CUdevResourceType type) {
  return give_of_stream(get_stream(hStream), resource, type);
}

CUresult driver::call_cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
  const auto stream = get_stream(hStream);
  require(phCtx != nullptr);
  *phCtx = green_context_of(*stream);
  return CUDA_SUCCESS;
}

// All that its streams have been given so far; the primary context's other work may be among it, which is more than is
// promised and never less.
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
