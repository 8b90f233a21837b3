// Contexts: what a process has on a device. Everything a program makes belongs to one and ends with it.
#pragma once
#include "common/simulator/state/devices/device.hpp"
#include "common/simulator/state/processes/shared_memory.hpp"
#include "common/simulator/state/streams/stream_group.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

namespace cudasim {

class Context : public std::enable_shared_from_this<Context>, public StreamGroup {
 public:
  Context(Device& device, u32 flags, bool primary, u32 api_version);
  void make_legacy_stream();  // after construction: the stream refers to its context

  Device& device;
  const u64 id;  // never used twice; what allocations are marked with
  const bool primary;
  const u32 api_version;
  CUcontext handle = nullptr;
  std::atomic<u32> attached{1};  // cuCtxAttach, cuCtxDetach

  OpenedMemory opened_memory;  // of other processes

  std::mutex settings;  // for the following
  u32 flags;
  std::array<u64, 16> limits{};          // by CUlimit
  std::atomic<u64> pending_launches{0};  // by kernels (children.hpp)
  std::atomic<u32> builtins{0};          // Kernel::builtins of all that has been launched
  std::set<u64> peers;                   // ids of the contexts whose memory kernels may touch
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;

  u64 limit(CUlimit which) {
    const std::scoped_lock lock(settings);
    return limits.at(which);
  }
  // Launching a kernel that needs more raises the limit, as on hardware.
  void raise_limit(CUlimit which, u64 least) {
    const std::scoped_lock lock(settings);
    limits.at(which) = std::max(limits.at(which), least);
  }
};

// A new stream, which the context does not know yet.
std::shared_ptr<Stream> make_stream(const std::shared_ptr<Context>& context, u32 flags, int priority);

// Every context that ever was: a destroyed one can still be current, and calls then fail.
enum class ContextState : u8 { unknown, destroyed, live };
ContextState context_state(CUcontext handle);
// Null unless it is live.
std::shared_ptr<Context> find_context(CUcontext handle);
// The device of a context that lives, or has lived. Throws CUDA_ERROR_INVALID_CONTEXT.
const Device& device_of(CUcontext handle);
// Live or throws CUDA_ERROR_INVALID_CONTEXT, or CUDA_ERROR_CONTEXT_IS_DESTROYED.
std::shared_ptr<Context> get_context(CUcontext handle);

// Makes a context; `handle` null: a new one, else that of the primary context that lives again. Throws
// CUDA_ERROR_OUT_OF_MEMORY beside a living context of the other kind (first_contexts.hpp).
std::shared_ptr<Context> create_context(Device& device, u32 flags, bool primary, u32 api_version,
                                        CUcontext handle = nullptr);
// Another handle of a context that lives, and its end; a green context's is such a one.
CUcontext name_context(const std::shared_ptr<Context>& context);
void end_name(CUcontext handle);
// Ends its work, then all that belongs to it, then its handles.
void destroy_context(const std::shared_ptr<Context>& context);

// Throws the fault of a live context on this device, if one has any: nothing new can be made then.
void require_healthy_device(const Device& device);

// The first line of every call that needs a context: initialised, not inside a callback, a live context current, no
// fault in it; throws the driver's error otherwise.
std::shared_ptr<Context> current_context();
// The same for calls that work after a fault.
std::shared_ptr<Context> current_context_even_faulted();
// Null if there is none, or it has been destroyed.
std::shared_ptr<Context> current_context_if_any();
// For calls that name an object of some context: initialised, not in a callback.
void require_calls_permitted();
// Throws the fault that the context has, or CUDA_ERROR_CONTEXT_IS_DESTROYED.
void require_healthy(const Health& health);

// The stream that a handle means: 0 and CU_STREAM_LEGACY the current context's, CU_STREAM_PER_THREAD the thread's own
// in the current context, else a stream of any context. Throws CUDA_ERROR_INVALID_HANDLE, and the fault of its context.
std::shared_ptr<Stream> get_stream(CUstream handle);

// Called when a context ends, by the files that keep registries of their own: removes what belongs to it.
using ContextEnd = void (*)(Context& context);
void at_context_end(ContextEnd hook);

}  // namespace cudasim
