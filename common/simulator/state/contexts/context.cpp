#include "common/simulator/state/contexts/context.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/contexts/first_contexts.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/processes/checkpoint.hpp"
#include "common/simulator/state/streams/event.hpp"
#include "common/simulator/state/streams/thread.hpp"

#include <algorithm>
#include <shared_mutex>
#include <unordered_map>

namespace cudasim {
namespace {

// A destroyed context keeps its place here, empty: so that calls with its handle can tell it from an unknown one.
struct Contexts {
  std::shared_mutex mutex;
  std::unordered_map<CUcontext, std::shared_ptr<Context>> by_handle;
  std::unordered_map<CUcontext, const Device*> devices;         // of destroyed ones, too
  std::unordered_map<CUcontext, std::vector<CUcontext>> names;  // by the handle: what else it is called, or was
  std::vector<ContextEnd> ends;
};

Contexts& contexts() {
  static Contexts& all = *new Contexts;
  return all;
}

u64 next_context_id() {
  static std::atomic<u64> id{1};
  return id++;
}

}  // namespace

Context::Context(Device& owner, u32 context_flags, bool is_primary, u32 version)
    : StreamGroup(std::make_shared<Health>(owner.fault)),
      device(owner),
      id(next_context_id()),
      primary(is_primary),
      api_version(version),
      flags(context_flags) {
  limits[CU_LIMIT_STACK_SIZE] = 1024;
  limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752;
  limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608;
  limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  limits[7] = 232448;  // CU_LIMIT_SHMEM_SIZE, which CUDA 12's headers do not have
  limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 11796480;
}

void Context::make_legacy_stream() {
  legacy_ = std::make_shared<Stream>(weak_from_this(), shared_from_this(), 0u, 0, true);
  legacy_->handle = CU_STREAM_LEGACY;
}

std::shared_ptr<Stream> make_stream(const std::shared_ptr<Context>& context, u32 flags, int priority) {
  return std::make_shared<Stream>(context, context, flags, priority, false);
}

ContextState context_state(CUcontext handle) {
  Contexts& all = contexts();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_handle.find(handle);
  if (found == all.by_handle.end()) return ContextState::unknown;
  return found->second ? ContextState::live : ContextState::destroyed;
}

std::shared_ptr<Context> find_context(CUcontext handle) {
  Contexts& all = contexts();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_handle.find(handle);
  return found == all.by_handle.end() ? nullptr : found->second;
}

const Device& device_of(CUcontext handle) {
  Contexts& all = contexts();
  const std::shared_lock lock(all.mutex);
  const auto found = all.devices.find(handle);
  if (found == all.devices.end()) fail(CUDA_ERROR_INVALID_CONTEXT);
  return *found->second;
}

std::shared_ptr<Context> get_context(CUcontext handle) {
  Contexts& all = contexts();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_handle.find(handle);
  if (found == all.by_handle.end()) fail(CUDA_ERROR_INVALID_CONTEXT);
  if (!found->second) fail(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return found->second;
}

std::shared_ptr<Context> create_context(Device& device, u32 flags, bool primary, u32 api_version, CUcontext handle) {
  auto context = std::make_shared<Context>(device, flags, primary, api_version);
  context->make_legacy_stream();
  context->handle = handle != nullptr ? handle : reinterpret_cast<CUcontext>(fresh_handle());
  Contexts& all = contexts();
  const std::unique_lock lock(all.mutex);
  for (const auto& [other, living] : all.by_handle) {
    require(!living || &living->device != &device || is_first(*living) == is_first(*context), CUDA_ERROR_OUT_OF_MEMORY,
            [] { return "contexts of the first cuCtxCreate and newer ones cannot live on a device together"; });
  }
  AddressSpace::instance().settle(context->id, device.index);
  all.by_handle[context->handle] = context;
  all.devices[context->handle] = &device;
  return context;
}

CUcontext name_context(const std::shared_ptr<Context>& context) {
  const auto handle = reinterpret_cast<CUcontext>(fresh_handle());
  Contexts& all = contexts();
  const std::unique_lock lock(all.mutex);
  all.by_handle[handle] = context;
  all.devices[handle] = &context->device;
  all.names[context->handle].push_back(handle);
  return handle;
}

void end_name(CUcontext handle) {
  Contexts& all = contexts();
  const std::unique_lock lock(all.mutex);
  all.by_handle[handle].reset();
}

void destroy_context(const std::shared_ptr<Context>& context) {
  Contexts& all = contexts();
  {
    const std::unique_lock lock(all.mutex);
    auto& kept = all.by_handle[context->handle];
    if (kept != context) fail(CUDA_ERROR_CONTEXT_IS_DESTROYED);  // another thread was first
    kept.reset();
    if (const auto names = all.names.extract(context->handle)) {
      for (const CUcontext name : names.mapped()) all.by_handle[name].reset();
    }
  }
  Scheduler::instance().drain(*context->health);
  for (const ContextEnd end : all.ends) end(*context);
  AddressSpace::instance().leave(context->id);
}

void at_context_end(ContextEnd hook) {
  Contexts& all = contexts();
  const std::unique_lock lock(all.mutex);
  all.ends.push_back(hook);
}

void require_healthy(const Health& health) {
  if (health.ended) fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context that this belongs to has been destroyed");
  require_no_fault(health.fault);
}

void require_healthy_device(const Device& device) { require_no_fault(device.fault); }

void require_calls_permitted() {
  require_initialized();
  if (in_callback()) fail(CUDA_ERROR_NOT_PERMITTED, "this runs in a callback, which must not call the driver");
}

std::shared_ptr<Context> current_context_even_faulted() {
  require_calls_permitted();
  const auto& stack = this_thread().stack;
  if (stack.empty()) fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current to this thread");
  return get_context(stack.back());
}

std::shared_ptr<Context> current_context_if_any() {
  const auto& stack = this_thread().stack;
  if (stack.empty()) return nullptr;
  Contexts& all = contexts();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_handle.find(stack.back());
  return found == all.by_handle.end() ? nullptr : found->second;
}

std::shared_ptr<Context> current_context() {
  auto context = current_context_even_faulted();
  require_healthy(*context->health);
  return context;
}

// Streams and events of a context that has ended keep their places: calls with their handles fail with
// CUDA_ERROR_CONTEXT_IS_DESTROYED, as the driver's do.
Registry<Stream, CUstream>& streams() {
  static auto& all = *new Registry<Stream, CUstream>;
  return all;
}

namespace {

std::shared_ptr<Stream> own_default_stream() {
  const auto context = current_context();
  std::shared_ptr<Stream>& stream = this_thread().default_streams[context->id];
  if (!stream) {
    stream = make_stream(context, 0, 0);
    stream->handle = CU_STREAM_PER_THREAD;
    context->add_stream(stream);
  }
  return stream;
}

}  // namespace

std::shared_ptr<Stream> get_stream(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return current_context()->legacy_stream_pointer();
  if (handle == CU_STREAM_PER_THREAD) return own_default_stream();
  require_calls_permitted();
  auto stream = streams().get(handle);
  require_healthy(*stream->health);
  if (stream->orphaned) fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the stream's green context has been destroyed");
  return stream;
}

}  // namespace cudasim
