// The attributes of functions: what can be read, what can be set (CUDA Driver API manual, enum CUfunction_attribute).
#include "common/simulator/state/launches/function_attributes.hpp"

#include "common/simulator/state/launches/occupancy.hpp"

namespace cudasim {
namespace {

// The constants of the whole module: every kernel sees all of them.
u64 constant_bytes(const Program& program) {
  u64 sum = 0;
  for (const Global& variable : program.globals) {
    if (variable.space == Space::constant) sum += variable.size;
  }
  return sum;
}

}  // namespace

int function_attribute(const Program& program, const Kernel& kernel, const FunctionSettings& settings,
                       CUfunction_attribute which) {
  const auto cluster = [&](int axis, u32 required) {
    return required != 0 ? static_cast<int>(required) : settings.cluster[axis];
  };
  const Dim3& required = kernel.directives.required_cluster;
  switch (static_cast<int>(which)) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return static_cast<int>(max_threads_per_block(kernel));
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(kernel.static_shared);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return static_cast<int>(constant_bytes(program));
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(kernel.stack_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return static_cast<int>(kernel.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return static_cast<int>(program.target);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return 90;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return settings.max_dynamic_shared;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return settings.carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return kernel.directives.explicit_cluster && required.count() == 0 ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return cluster(0, required.x);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return cluster(1, required.y);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return cluster(2, required.z);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return settings.non_portable_cluster;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return settings.cluster_policy;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

void set_function_attribute(const Kernel& kernel, FunctionSettings& settings, CUfunction_attribute which, int value) {
  switch (static_cast<int>(which)) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      require(value >= 0 && static_cast<u64>(value) + kernel.static_shared <= kSharedPerBlockOptin);
      settings.max_dynamic_shared = value;
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100);
      settings.carveout = value;
      return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      require(value >= 0);
      // What the kernel was compiled for cannot be changed.
      require(kernel.directives.required_cluster.count() == 0, CUDA_ERROR_NOT_PERMITTED);
      settings.cluster[which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
      return;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: settings.non_portable_cluster = value != 0; return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      require(value >= 0 && value <= 2);
      settings.cluster_policy = value;
      return;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

void parameter_place(const Program& program, const Kernel& kernel, std::size_t index, std::size_t* offset,
                     std::size_t* size) {
  const auto& parameters = program.functions[kernel.function]->parameters;
  require(offset != nullptr && index < parameters.size());
  *offset = parameters[index].offset;
  if (size != nullptr) *size = parameters[index].size;
}

}  // namespace cudasim
