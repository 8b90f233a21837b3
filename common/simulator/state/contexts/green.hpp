// Green contexts: a part of a device's multiprocessors, with streams of its own (CUDA Driver API manual, "Green
// Contexts"). The parts are counted as on a device, but a kernel in a green context uses the same threads as any other.
// Everything else belongs to the primary context: cuCtxFromGreenCtx returns another name for it.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/contexts/primary.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/streams/capture.hpp"
#include "common/simulator/state/streams/event.hpp"
#include "common/simulator/state/streams/thread.hpp"

#include <map>
#include <set>

namespace cudasim {

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
Registry<GreenContext, CUgreenCtx>& green_contexts();

// Maps streams and names of contexts to green contexts. No handle is used twice.
struct GreenOwners {
  std::mutex mutex;
  std::map<CUstream, CUgreenCtx> by_stream;
  std::map<CUcontext, CUgreenCtx> by_name;
  std::set<CUgreenCtx> destroyed;
};
GreenOwners& green_owners();

// Null for other contexts.
std::shared_ptr<GreenContext> green_named(CUcontext handle);

// The green context of a stream. For the null stream: the one whose cuCtxFromGreenCtx is current to the thread. Null if
// there is none of them.
CUgreenCtx green_context_of(const Stream& stream);
CUgreenCtx current_green_context();
// What cuCtxFromGreenCtx makes of it; null if it has been destroyed.
CUcontext context_of_green(CUgreenCtx handle);
// A stream that is new belongs to the green context from now on.
void join_green_context(CUgreenCtx handle, const std::shared_ptr<Stream>& stream);

// The id of a context that cuCtxFromGreenCtx has returned (cuCtxGetId); 0 for others.
u64 green_id_of(CUcontext handle);

#if CUDA_VERSION >= 13000

// How many multiprocessors a part has at least: a part of eight can run clusters, a part of two cannot.
constexpr u32 kWithClusters = 8, kWithoutClusters = 2;
constexpr u32 kMostWithClusters = 15;  // parts of such multiprocessors, as driver 580 has it
// A descriptor says how many multiprocessors, and nothing else: there is no call that would end one.
constexpr std::uintptr_t kDescriptors = 0x3d0000000000;

// `part`: a group that a split has made, which is not split again.
CUdevResource multiprocessors(u32 count, bool part = false);
CUresult give_resource(CUdevResource* out, CUdevResourceType type, u32 count);
CUresult give_resource_of_stream(const std::shared_ptr<Stream>& stream, CUdevResource* out, CUdevResourceType type);

// For a mark of, or a wait for, all work, while some of it is being captured.
void invalidate(const std::vector<std::shared_ptr<Capture>>& captures);
void require_no_capture(GreenContext& green);

// Fails differently for a destroyed one and for a handle that never was one.
std::shared_ptr<GreenContext> get_green(CUgreenCtx handle);
#endif

}  // namespace cudasim
