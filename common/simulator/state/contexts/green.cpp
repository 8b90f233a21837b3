#include "common/simulator/state/contexts/green.hpp"

#include "common/simulator/state/streams/timeline.hpp"

namespace cudasim {

Registry<GreenContext, CUgreenCtx>& green_contexts() {
  static auto& all = *new Registry<GreenContext, CUgreenCtx>;
  return all;
}

GreenOwners& green_owners() {
  static auto& all = *new GreenOwners;
  return all;
}

std::shared_ptr<GreenContext> green_named(CUcontext handle) {
  const std::scoped_lock lock(green_owners().mutex);
  const auto found = green_owners().by_name.find(handle);
  return found == green_owners().by_name.end() ? nullptr : green_contexts().find(found->second);
}

CUgreenCtx current_green_context() {
  const auto& stack = this_thread().stack;
  const auto green = stack.empty() ? nullptr : green_named(stack.back());
  return green ? green->handle : nullptr;
}

CUgreenCtx green_context_of(const Stream& stream) {
  if (stream.legacy) return current_green_context();
  const std::scoped_lock lock(green_owners().mutex);
  const auto found = green_owners().by_stream.find(stream.handle);
  return found == green_owners().by_stream.end() ? nullptr : found->second;
}

CUcontext context_of_green(CUgreenCtx handle) {
  const auto green = green_contexts().find(handle);
  return green ? green->name : nullptr;
}

void join_green_context(CUgreenCtx handle, const std::shared_ptr<Stream>& stream) {
  const auto green = green_contexts().get(handle, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const std::scoped_lock lock(green->mutex, green_owners().mutex);
  if (!green->before.empty()) stream->enqueue({}, green->before);
  std::erase_if(green->streams, [](const auto& weak) { return weak.expired(); });
  green->streams.push_back(stream);
  green_owners().by_stream[stream->handle] = handle;
  if (timeline_on())
    timeline_describe(stream->id, ", green context of " + std::to_string(green->count) + " multiprocessors");
}

u64 green_id_of(CUcontext handle) {
  const auto green = green_named(handle);
  return green ? green->id : 0;
}

#if CUDA_VERSION >= 13000

CUdevResource multiprocessors(u32 count, bool part) {
  CUdevResource resource{};
  if (count == 0) return resource;  // CU_DEV_RESOURCE_TYPE_INVALID
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource._internal_padding[0] = part;
  resource.sm.smCount = count;
  resource.sm.minSmPartitionSize = kWithClusters;
  resource.sm.smCoscheduledAlignment = kWithClusters;
  return resource;
}

CUresult give_resource(CUdevResource* out, CUdevResourceType type, u32 count) {
  require(out != nullptr);
  require(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
  *out = multiprocessors(count);
  return CUDA_SUCCESS;
}

CUresult give_resource_of_stream(const std::shared_ptr<Stream>& stream, CUdevResource* out, CUdevResourceType type) {
  const CUgreenCtx green = green_context_of(*stream);
  const auto found = green != nullptr ? green_contexts().find(green) : nullptr;
  return give_resource(out, type, found ? found->count : kMultiprocessors);
}

void invalidate(const std::vector<std::shared_ptr<Capture>>& captures) {
  if (captures.empty()) return;
  const std::scoped_lock lock(Capture::mutex());
  for (const auto& capture : captures) capture->invalidated = true;
  fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream is being captured, and this call cannot be part of the graph");
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

std::shared_ptr<GreenContext> get_green(CUgreenCtx handle) {
  require_calls_permitted();
  if (auto green = green_contexts().find(handle)) return green;
  const std::scoped_lock lock(green_owners().mutex);
  fail(green_owners().destroyed.contains(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT);
}
#endif

}  // namespace cudasim
