// What a node does when a launch comes to it.
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/graphs/graph.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/transfer.hpp"
#include "common/simulator/state/modules/library.hpp"
#include "common/simulator/state/streams/memory_operations.hpp"

#include <algorithm>

namespace cudasim {

namespace {

std::shared_ptr<Context> context_or(CUcontext named, const std::shared_ptr<Context>& other) {
  return named != nullptr ? get_context(named) : other;
}

Operation kernel_work(const KernelPart& part, const std::shared_ptr<Context>& context, int priority) {
  const auto home = context_or(part.context, context);
  const auto function = part.function != nullptr ? get_function_or_kernel(part.function, home)
                                                 : function_of(*library_kernels().get(part.kernel), home);
  LaunchShape shape = part.shape;
  shape.priority = std::min(shape.priority, priority);
  return prepare_launch(function, resolve_shape(*function, shape), part.parameters);
}

// The address was chosen when the node was made; the memory comes with each launch.
Operation allocate_work(const AllocatePart& part, const std::shared_ptr<Context>& context) {
  Operation work;
  work.kind = OperationKind::allocation;
  work.label = "graph memory allocation";
  work.run = [part, context_id = context->id] {
    Device& device = device_at(part.device);
    auto share = std::make_shared<Share>(device, part.bytes);
    auto bytes = std::make_shared<HostBytes>(part.bytes);
    auto allocation = std::make_shared<Allocation>();
    allocation->base = part.address;
    allocation->size = part.bytes;
    allocation->host = bytes->get();
    allocation->kind = MemoryKind::pool;
    allocation->context = context_id;
    allocation->device = static_cast<u32>(device.ordinal);
    allocation->label = "cuGraphAddMemAllocNode";
    allocation->keep = std::make_shared<std::pair<std::shared_ptr<Share>, std::shared_ptr<HostBytes>>>(share, bytes);
    return AddressSpace::instance().enter(allocation) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  return work;
}

Operation free_work(const FreePart& part) {
  Operation work;
  work.kind = OperationKind::allocation;
  work.label = "graph memory free";
  work.run = [address = part.address] {
    return AddressSpace::instance().release(address, "cuGraphAddMemFreeNode") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  return work;
}

template <class Make>
Operation later(OperationKind kind, const char* label, Make make) {
  Operation work;
  work.kind = kind;
  work.label = label;
  work.run = [make] {
    Operation made;
    try {
      made = make();
    } catch (const Failure&) {
      return CUDA_ERROR_ILLEGAL_ADDRESS;  // it was there when the graph was built
    }
    return made.run ? made.run() : CUDA_SUCCESS;
  };
  return work;
}

struct Work {
  const std::shared_ptr<Context>& context;
  int priority;
  Operation operator()(const EmptyPart&) const { return {}; }
  Operation operator()(const KernelPart& part) const { return kernel_work(part, context, priority); }
  // The memory may come with the launch: it is looked for when the node runs.
  Operation operator()(const CopyPart& part) const {
    Operation work =
        later(OperationKind::copy, "graph copy", [part] { return make_copy(part.copy, "graph copy").operation; });
    work.bytes = part.copy.WidthInBytes * part.copy.Height * part.copy.Depth;
    return work;
  }
  Operation operator()(const FillPart& part) const {
    Operation work =
        later(OperationKind::fill, "graph fill", [part] { return make_fill(part.fill, "graph fill").operation; });
    work.bytes = u64{part.fill.elementSize} * part.fill.width * part.fill.height;
    return work;
  }
  Operation operator()(const HostPart& part) const {
    Operation call;
    call.kind = OperationKind::host;
    call.label = "graph host function";
    call.run = [part] {
      part.function(part.data);
      return CUDA_SUCCESS;
    };
    return call;
  }
  Operation operator()(const ChildPart&) const { return {}; }
  Operation operator()(const SignalPart&) const { return {}; }
  Operation operator()(const AwaitPart&) const { return {}; }
  Operation operator()(const RecordPart&) const { return {}; }
  Operation operator()(const WaitPart&) const { return {}; }
  Operation operator()(const AllocatePart& part) const { return allocate_work(part, context); }
  Operation operator()(const FreePart& part) const { return free_work(part); }
  Operation operator()(const ConditionalPart&) const { return {}; }  // Executable::work_of
  Operation operator()(const MemoryPart& part) const {
    std::vector<Operation> operations;
    for (const CUstreamBatchMemOpParams& given : part.operations) {
      operations.push_back(memory_operation(given, context->health));
    }
    Operation all;
    all.kind = OperationKind::memory_operation;
    all.label = "graph memory operations";
    all.run = [operations = std::move(operations)] {
      for (const Operation& operation : operations) {
        const CUresult result = operation.run ? operation.run() : CUDA_SUCCESS;
        if (result != CUDA_SUCCESS) return result;
      }
      return CUDA_SUCCESS;
    };
    return all;
  }
};

}  // namespace

KernelPart part_of(const KernelWork& work) {
  KernelPart part;
  part.function = work.function->handle;
  part.kernel = work.function->library_kernel;
  part.shape = work.shape;
  part.parameters = work.launch.parameters;
  part.pointers = parameter_offsets(*work.function);
  return part;
}

std::vector<void*> parameter_offsets(const Function& function) {
  std::vector<void*> offsets;
  for (const Code::Parameter& parameter : function.program->functions[function.kernel->function]->parameters) {
    offsets.push_back(reinterpret_cast<void*>(std::uintptr_t{parameter.offset}));
  }
  return offsets;
}

Operation operation_of(const Part& part, const std::shared_ptr<Context>& context, int priority) {
  return std::visit(Work{context, priority}, part);
}

}  // namespace cudasim
