#include "common/simulator/state/launches/launch.hpp"

#include "common/simulator/compile/compile.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/launches/children.hpp"
#include "common/simulator/state/launches/condition.hpp"
#include "common/simulator/state/launches/device_runtime.hpp"
#include "common/simulator/state/launches/occupancy.hpp"
#include "common/simulator/state/processes/family.hpp"
#include "common/simulator/state/processes/turns.hpp"
#include "common/simulator/state/streams/timeline.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/watch.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cudasim {
namespace {

std::string written(const Dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

bool within(const Dim3& size, const Dim3& most) {
  return size.count() != 0 && size.x <= most.x && size.y <= most.y && size.z <= most.z;
}

const std::vector<Code::Parameter>& parameters_of(const Function& function) {
  return function.program->functions[function.kernel->function]->parameters;
}

// The grid's size is in clusters if the kernel has the directive .blocksareclusters, otherwise in blocks.
Dim3 blocks_of(const Kernel& kernel, const Dim3& grid, const Dim3& cluster) {
  if (!kernel.directives.blocks_are_clusters) return grid;
  return {grid.x * cluster.x, grid.y * cluster.y, grid.z * cluster.z};
}

bool divides(const Dim3& part, const Dim3& whole) {
  return part.count() != 0 && whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

}  // namespace

std::optional<Dim3> required_cluster(const Kernel& kernel, const FunctionSettings& settings) {
  const Dim3& compiled = kernel.directives.required_cluster;
  if (compiled.count() != 0) return compiled;
  const auto [x, y, z] = settings.cluster;
  if (x == 0 && y == 0 && z == 0) return std::nullopt;
  return Dim3{static_cast<u32>(x), static_cast<u32>(y), static_cast<u32>(z)};
}

Dim3 cluster_of(const Kernel& kernel, const FunctionSettings& settings, const LaunchShape& shape) {
  const auto& compiled = kernel.directives;
  const auto required = required_cluster(kernel, settings);
  require(required || shape.cluster || !compiled.explicit_cluster, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  // Attributes that are not all set do not count for a launch that says what it wants (an H200).
  const bool whole = required && required->count() != 0;
  const Dim3 cluster = whole || !shape.cluster ? required.value_or(Dim3{}) : *shape.cluster;
  const Dim3 asked = shape.cluster.value_or(cluster);
  require(asked.x == cluster.x && asked.y == cluster.y && asked.z == cluster.z, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  u64 most = settings.non_portable_cluster != 0 ? kLargestCluster : kPortableCluster;
  if (compiled.max_cluster_rank != 0) most = std::min<u64>(most, compiled.max_cluster_rank);
  require(cluster.count() != 0 && cluster.count() <= most, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  return cluster;
}

namespace {

std::vector<std::byte> from_buffer(const Function& function, void** extra) {
  const void* buffer = nullptr;
  const std::size_t* size = nullptr;
  for (std::size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[i + 1];
    } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = static_cast<const std::size_t*>(extra[i + 1]);
    } else {
      fail(CUDA_ERROR_INVALID_VALUE);
    }
  }
  const std::size_t needed = function.kernel->parameter_bytes;
  const std::size_t given = size != nullptr ? *size : 0;
  // As a driver does: a buffer that is too long is noticed, one that is too short is not.
  require(given <= needed, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  require(buffer != nullptr || given == 0);
  std::vector<std::byte> parameters(needed);
  if (given != 0) std::memcpy(parameters.data(), buffer, given);
  return parameters;
}

std::vector<std::byte> from_pointers(const Function& function, void** values) {
  std::vector<std::byte> bytes(function.kernel->parameter_bytes);
  const auto& parameters = parameters_of(function);
  require(values != nullptr || parameters.empty(), CUDA_ERROR_INVALID_VALUE, [&] {
    return function.kernel->name + " takes " + std::to_string(parameters.size()) +
           " arguments, and kernelParams is null";
  });
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].size == 0) continue;
    require(values[i] != nullptr, CUDA_ERROR_INVALID_VALUE,
            [&] { return "kernelParams[" + std::to_string(i) + "] is null: it must point to the argument"; });
    std::memcpy(bytes.data() + parameters[i].offset, values[i], parameters[i].size);
  }
  return bytes;
}

// What a faulting kernel does to its context.
CUresult code_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::illegal_address: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::misaligned_address: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::invalid_address_space: return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case FaultKind::invalid_pc: return CUDA_ERROR_INVALID_PC;
    case FaultKind::illegal_instruction: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FaultKind::trap: return CUDA_ERROR_LAUNCH_FAILED;
    case FaultKind::assertion: return CUDA_ERROR_ASSERT;
    case FaultKind::stack_overflow: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::timeout: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FaultKind::barrier: return CUDA_ERROR_LAUNCH_FAILED;
    case FaultKind::breakpoint: return CUDA_ERROR_LAUNCH_FAILED;
  }
  return CUDA_ERROR_UNKNOWN;
}

void note_turn(u32 device, const std::optional<TurnTaken>& taken) {
  if (taken && timeline_on()) timeline_turn(device, *taken);
}

void between_blocks(u32 device) { note_turn(device, next_turn(device)); }

// A kernel's end as the context sees it. The executor has told on stderr what went wrong.
CUresult run_grid(const Launch& launch) {
  if (timeline_on())
    timeline_note("\"grid\": \"" + coordinates(launch.grid) + "\", \"block\": \"" + coordinates(launch.block) + "\"");
  enter_turns(launch.device);
  const std::optional<Fault> fault = run(launch);
  note_turn(launch.device, leave_turns(launch.device));
  return fault ? code_of(fault->kind) : CUDA_SUCCESS;
}

CUresult run_kernel(const ContextLaunch& launch) {
  const CUresult result = run_grid(launch);
  return result == CUDA_SUCCESS ? run_children(launch, run_grid) : result;
}

}  // namespace

bool launch_blocking() {
  static const bool wanted = std::atoi(at_init("CUDA_LAUNCH_BLOCKING").c_str()) != 0;
  return wanted;
}

std::string misfit(const Kernel& kernel, const Dim3& grid, const Dim3& block, u64 dynamic_shared, u64 most_dynamic) {
  const auto limits = [](const char* what, const Dim3& size, const Dim3& most) {
    return what + written(size) + ", each of which must be at least 1, and at most " + written(most);
  };
  if (!within(grid, kMaxGrid)) return limits("the grid is ", grid, kMaxGrid);
  if (!within(block, kMaxBlock)) return limits("the block is ", block, kMaxBlock);
  if (block.count() > max_threads_per_block(kernel)) {
    return "the block has " + std::to_string(block.count()) + " threads, and a block of " + kernel.name +
           " has at most " + std::to_string(max_threads_per_block(kernel));
  }
  const Dim3& exact = kernel.directives.required_threads;
  if (exact.count() != 0 && (exact.x != block.x || exact.y != block.y || exact.z != block.z))
    return kernel.name + " was compiled for blocks of " + written(exact) + " (.reqntid)";
  if (dynamic_shared > most_dynamic) {
    return std::to_string(dynamic_shared) + " bytes of dynamic shared memory were requested, but " + kernel.name +
           " may use only " + std::to_string(most_dynamic) + " (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)";
  }
  return {};
}

ResolvedShape resolve_shape(const Function& function, const LaunchShape& asked) {
  const Kernel& kernel = *function.kernel;
  const FunctionSettings settings = function.current_settings();
  std::string why = misfit(kernel, asked.grid, asked.block, asked.dynamic_shared, settings.max_dynamic_shared);
  if (!why.empty()) fail(CUDA_ERROR_INVALID_VALUE, std::move(why));
  require(kernel.stack_bytes <= kMostLaunchedLocal, CUDA_ERROR_INVALID_VALUE, [&] {
    return "each thread of " + kernel.name + " needs " + std::to_string(kernel.stack_bytes) +
           " bytes of local memory, and may need at most " + std::to_string(kMostLaunchedLocal);
  });
  ResolvedShape shape;
  shape.asked = asked;
  shape.cluster = cluster_of(kernel, settings, asked);
  shape.explicit_cluster = required_cluster(kernel, settings) || asked.cluster;
  shape.grid = blocks_of(kernel, asked.grid, shape.cluster);
  require(divides(shape.cluster, shape.grid), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  if (asked.preferred_cluster) {
    const Dim3& better = *asked.preferred_cluster;
    require(better.count() != 0 && divides(shape.cluster, better) && divides(better, shape.grid),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  }
  if (!asked.cooperative) return shape;
  const u64 resident =
      u64{kMultiprocessors} * blocks_per_multiprocessor(kernel, settings, asked.block.count(), asked.dynamic_shared);
  require(shape.grid.count() <= resident, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, [&] {
    return "all blocks of a cooperative launch must be resident at once, and the device can hold only " +
           std::to_string(resident) + " of these";
  });
  return shape;
}

std::vector<std::byte> gather_parameters(const Function& function, void** kernel_params, void** extra) {
  require(kernel_params == nullptr || extra == nullptr);
  return extra != nullptr ? from_buffer(function, extra) : from_pointers(function, kernel_params);
}

Operation prepare_launch(std::shared_ptr<const Function> function, const ResolvedShape& shape,
                         std::vector<std::byte> parameters) {
  const auto context = function->context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const Kernel& kernel = *function->kernel;
  const auto work = std::make_shared<KernelWork>(KernelWork{function, shape.asked, {}});
  ContextLaunch& launch = work->launch;
  launch.program = function->program;
  launch.kernel = &kernel;
  launch.grid = shape.grid;
  launch.block = shape.asked.block;
  launch.cluster = shape.cluster;
  launch.explicit_cluster = shape.explicit_cluster;
  launch.dynamic_shared = shape.asked.dynamic_shared;
  launch.cooperative = shape.asked.cooperative;
  launch.parameters = std::move(parameters);
  launch.context = context->id;
  launch.owner = context.get();
  launch.device = context->device.index;
  launch.stack_bytes = static_cast<u32>(context->limit(CU_LIMIT_STACK_SIZE));
  launch.heap_bytes = context->limit(CU_LIMIT_MALLOC_HEAP_SIZE);
  launch.grid_id = next_grid_id();
  launch.priority = shape.asked.priority;
  launch.cancelled = &function->health->ended;
  launch.observe = watch_grid;
  launch.compile = wanted_compiled();
  launch.set_condition = set_condition;
  if (family() != nullptr) launch.between_blocks = between_blocks;
  launch.device_runtime = call_device_runtime;
  context->builtins |= kernel.builtins;
  function->loaded = true;
  context->raise_limit(CU_LIMIT_STACK_SIZE, round_up(kernel.stack_bytes, 16));

  Operation operation;
  operation.kind = OperationKind::kernel;
  operation.label = kernel.name;
  operation.parameters = work;
  operation.run = [work] { return run_kernel(work->launch); };
  return operation;
}

void launch(const std::shared_ptr<Function>& function, ResolvedShape shape, std::vector<std::byte> parameters,
            Stream& stream) {
  require(stream.health == function->health, CUDA_ERROR_INVALID_HANDLE,
          [] { return "the kernel was loaded into a context other than the stream's, or than the current one"; });
  shape.asked.priority = std::min(shape.asked.priority, stream.priority.load());
  const TaskPtr task = stream.enqueue(prepare_launch(function, shape, std::move(parameters)));
  if (!task || !launch_blocking()) return;
  task->wait();
  require_healthy(*stream.health);
}

}  // namespace cudasim
