// Launching kernels and host functions (CUDA Driver API manual, "Execution Control").
#include "common/simulator/state/launches/launch.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"
#include "common/simulator/state/modules/library.hpp"
#include "common/simulator/state/streams/event.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>

namespace cudasim {

namespace {

std::shared_ptr<Context> context_of(const Stream& stream) {
  auto context = stream.context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return context;
}

// A launch that cannot be ends a capture of the stream.
ResolvedShape resolve_shape_on(const Stream& stream, const Function& function, const LaunchShape& asked) {
  try {
    return resolve_shape(function, asked);
  } catch (const Failure&) {
    invalidate_capture(stream);
    throw;
  }
}

CUresult launch_kernel(CUfunction f, const LaunchShape& asked, CUstream handle, void** params, void** extra) {
  const auto stream = get_stream(handle);
  const auto function = get_function_or_kernel(f, context_of(*stream));
  const ResolvedShape shape = resolve_shape_on(*stream, *function, asked);
  launch(function, shape, gather_parameters(*function, params, extra), *stream);
  return CUDA_SUCCESS;
}

// What a launch attribute changes; hints change nothing.
struct LaunchAttributes {
  LaunchShape shape;
  bool overlaps = false;    // may begin before the kernel before it has ended
  CUevent after = nullptr;  // an event to record with the launch
  u8 port = 0;              // of the kernel, that a captured one stands for
};

constexpr unsigned kMemorySyncDomains = 4;  // CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT

// For attributes that older headers lack.
unsigned first_word_of(const CUlaunchAttributeValue& value) {
  unsigned word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

// Nothing if all three numbers are 0.
std::optional<Dim3> cluster_size(const CUlaunchAttributeValue& value) {
  const auto& size = value.clusterDim;
  if (size.x == 0 && size.y == 0 && size.z == 0) return std::nullopt;
  return Dim3{size.x, size.y, size.z};
}

// An event that a launch records measures no time and is the process's own.
void require_mark(CUevent handle, int flags) {
  const auto event = events().get(handle);
  require((event->flags & CU_EVENT_DISABLE_TIMING) != 0, CUDA_ERROR_NOT_SUPPORTED);
  require((event->flags & CU_EVENT_INTERPROCESS) == 0);
  require(flags == CU_EVENT_RECORD_DEFAULT);
}

LaunchAttributes read(const CUlaunchConfig& config) {
  LaunchAttributes read;
  read.shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  read.shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  read.shape.dynamic_shared = config.sharedMemBytes;
  require(config.numAttrs == 0 || config.attrs != nullptr);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttributeValue& value = config.attrs[i].value;
    switch (static_cast<int>(config.attrs[i].id)) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: read.shape.cooperative = value.cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        if (const auto size = cluster_size(value)) read.shape.cluster = *size;
        break;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        read.shape.priority = std::clamp(value.priority, kGreatestPriority, kLeastPriority);
        break;
      // The event is recorded when the kernel has ended. All its blocks have begun and ended by then, so this is within
      // what the attribute promises.
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        read.after = value.programmaticEvent.event;
        require_mark(read.after, value.programmaticEvent.flags);
        read.port =
            value.programmaticEvent.triggerAtBlockStart != 0 ? EdgeKind::kLaunchPort : EdgeKind::kProgrammaticPort;
        break;
      case 12:  // CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
        read.after = value.programmaticEvent.event;
        require_mark(read.after, value.programmaticEvent.flags);
        read.port = EdgeKind::kLaunchPort;
        break;
      case 13: fail(refuse("CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE"));
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        read.overlaps = value.programmaticStreamSerializationAllowed != 0;  // it need not, but a capture records it
        break;
      // The rest are hints.
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: break;
      case 11:  // CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: a hint, but one that must make sense
        if (const auto size = cluster_size(value)) read.shape.preferred_cluster = *size;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        require(value.clusterSchedulingPolicyPreference >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
                value.clusterSchedulingPolicyPreference <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
        break;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        require(value.memSyncDomainMap.default_ < kMemorySyncDomains &&
                value.memSyncDomainMap.remote < kMemorySyncDomains);
        break;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        require(value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
                value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
        break;
      case 14: require(first_word_of(value) <= 100); break;  // …_PREFERRED_SHARED_MEMORY_CARVEOUT, in per cent
      case 16: require(first_word_of(value) <= 1); break;    // …_NVLINK_UTIL_CENTRIC_SCHEDULING
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  }
  return read;
}

LaunchShape make_shape(Dim3 grid, Dim3 block, unsigned shared, bool cooperative = false) {
  LaunchShape shape;
  shape.grid = grid;
  shape.block = block;
  shape.dynamic_shared = shared;
  shape.cooperative = cooperative;
  return shape;
}

}  // namespace

CUresult driver::call_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                     unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                     unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
  const LaunchShape shape =
      make_shape({gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes);
  return launch_kernel(f, shape, hStream, kernelParams, extra);
}

CUresult driver::call_cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** params, void** extra) {
  require_calls_permitted();
  require(config != nullptr);
  const auto stream = get_stream(or_default_stream(config->hStream));
  const auto function = get_function_or_kernel(f, context_of(*stream));
  const LaunchAttributes wanted = read(*config);
  const ResolvedShape shape = resolve_shape_on(*stream, *function, wanted.shape);
  if (wanted.after != nullptr) {
    require(events().get(wanted.after)->health == stream->health, CUDA_ERROR_INVALID_HANDLE);
  }
  if (wanted.overlaps) allow_overlap(*stream);
  launch(function, shape, gather_parameters(*function, params, extra), *stream);
  if (wanted.after != nullptr) events().get(wanted.after)->record(*stream, wanted.port);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                                unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                                unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                                void** kernelParams) {
  const LaunchShape shape =
      make_shape({gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, true);
  return launch_kernel(f, shape, hStream, kernelParams, nullptr);
}

CUresult driver::call_cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  const auto stream = get_stream(handle);
  require(function != nullptr);
  Operation call;
  call.kind = OperationKind::host;
  call.label = "cuLaunchHostFunc";
  call.parameters = std::make_shared<HostPart>(HostPart{function, data});
  call.run = [function, data] {
    function(data);
    return CUDA_SUCCESS;
  };
  stream->enqueue(std::move(call));
  return CUDA_SUCCESS;
}

// One kernel on each of several devices. Unless told otherwise each begins when all the streams have come to it, and
// the streams go on when all of the kernels have ended.
CUresult driver::call_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned count, unsigned flags) {
  require_calls_permitted();
  constexpr unsigned kNotBefore = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC;
  constexpr unsigned kNotBehind = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC;
  require(list != nullptr && count != 0 && (flags & ~(kNotBefore | kNotBehind)) == 0);
  struct One {
    std::shared_ptr<Stream> stream;
    Operation operation;
  };
  std::vector<One> all;
  std::set<CUdevice> taken;
  std::vector<TaskPtr> before, kernels;
  for (const CUDA_LAUNCH_PARAMS& one : std::span(list, count)) {
    require(one.gridDimX == list->gridDimX && one.gridDimY == list->gridDimY && one.gridDimZ == list->gridDimZ &&
            one.blockDimX == list->blockDimX && one.blockDimY == list->blockDimY && one.blockDimZ == list->blockDimZ &&
            one.sharedMemBytes == list->sharedMemBytes);
    require(one.hStream != nullptr && one.hStream != CU_STREAM_LEGACY && one.hStream != CU_STREAM_PER_THREAD,
            CUDA_ERROR_INVALID_HANDLE);
    const auto stream = get_stream(one.hStream);
    require_not_captured(*stream);
    const auto context = context_of(*stream);
    require(taken.insert(context->device.ordinal).second);
    const auto function = get_function_or_kernel(one.function, context);
    require(stream->health == function->health, CUDA_ERROR_INVALID_HANDLE);
    ResolvedShape shape =
        resolve_shape(*function, make_shape({one.gridDimX, one.gridDimY, one.gridDimZ},
                                            {one.blockDimX, one.blockDimY, one.blockDimZ}, one.sharedMemBytes, true));
    shape.asked.priority = stream->priority;
    for (TaskPtr& task : stream->pending()) before.push_back(std::move(task));
    all.push_back({stream, prepare_launch(function, shape, gather_parameters(*function, one.kernelParams, nullptr))});
  }
  if ((flags & kNotBefore) != 0) before.clear();
  for (One& one : all) kernels.push_back(one.stream->enqueue(std::move(one.operation), before));
  if ((flags & kNotBehind) == 0) {
    for (const One& one : all) one.stream->enqueue({}, kernels);
  }
  if (!launch_blocking()) return CUDA_SUCCESS;
  for (const TaskPtr& task : kernels) task->wait();
  for (const One& one : all) require_healthy(*one.stream->health);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
