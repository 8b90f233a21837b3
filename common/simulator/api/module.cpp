// Modules and their functions (CUDA Driver API manual, "Module Management", the functions' part of "Execution
// Control").
//
// A module is asked by handle, whichever context is current; only loading needs one.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/api/image.hpp"
#include "common/simulator/api/occupancy.hpp"

#include <cstdlib>
#include <cstring>

using namespace cudasim;

namespace {

CUresult load_text(CUmodule* module, const std::shared_ptr<Context>& context, std::string text, JitOptions options) {
  *module = load_ptx(context, {std::move(text)}, options)->handle;
  return CUDA_SUCCESS;
}

std::shared_ptr<Module> permitted_module(CUmodule handle) {
  require_calls_permitted();
  return get_module(handle);
}

std::shared_ptr<Function> permitted_function(CUfunction handle) {
  require_calls_permitted();
  return get_function(handle);
}

// The constants of the whole module: every kernel sees all of them.
u64 constant_bytes(const Program& program) {
  u64 sum = 0;
  for (const Global& variable : program.globals) {
    if (variable.space == Space::constant) sum += variable.size;
  }
  return sum;
}

int attribute(const Function& function, CUfunction_attribute which) {
  const Kernel& kernel = *function.kernel;
  const FunctionSettings settings = function.current_settings();
  const auto cluster = [&](int axis, u32 required) {
    return required != 0 ? static_cast<int>(required) : settings.cluster[axis];
  };
  const Dim3& required = kernel.directives.required_cluster;
  switch (static_cast<int>(which)) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return static_cast<int>(max_threads_per_block(kernel));
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(kernel.static_shared);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return static_cast<int>(constant_bytes(*function.program));
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(kernel.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return static_cast<int>(kernel.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return static_cast<int>(function.program->target);
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

void set_attribute(Function& function, CUfunction_attribute which, int value) {
  const std::scoped_lock lock(function.mutex);
  FunctionSettings& settings = function.settings;
  switch (static_cast<int>(which)) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      require(value >= 0 && static_cast<u64>(value) + function.kernel->static_shared <= kSharedPerBlockOptin);
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
      require(function.kernel->directives.required_cluster.count() == 0, CUDA_ERROR_NOT_PERMITTED);
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

}  // namespace

CUDASIM_API CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  return CUDASIM_CALL(module, fname) {
    const auto context = current_context();
    require(module != nullptr && fname != nullptr);
    return load_text(module, context, ptx_of_bytes(read_file(fname)), {});
  };
}

CUDASIM_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return CUDASIM_CALL(module, image) {
    const auto context = current_context();
    require(module != nullptr);
    return load_text(module, context, ptx_of_image(image), {});
  };
}

CUDASIM_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                                        CUjit_option* options, void** optionValues) {
  return CUDASIM_CALL(module, image, numOptions, options, optionValues) {
    const auto context = current_context();
    require(module != nullptr);
    return load_text(module, context, ptx_of_image(image), JitOptions(numOptions, options, optionValues));
  };
}

CUDASIM_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  return CUDASIM_CALL(module, fatCubin) {
    const auto context = current_context();
    require(module != nullptr);
    return load_text(module, context, ptx_of_image(fatCubin), {});
  };
}

CUDASIM_API CUresult cuModuleUnload(CUmodule hmod) {
  return CUDASIM_CALL(hmod) {
    const auto module = permitted_module(hmod);
    require(!module->of_library, CUDA_ERROR_NOT_PERMITTED);
    if (!modules().remove(hmod)) return CUDA_ERROR_INVALID_HANDLE;
    module->close();
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return CUDASIM_CALL(mode) {
    require_initialized();
    require(mode != nullptr);
    const char* wanted = std::getenv("CUDA_MODULE_LOADING");
    *mode = wanted != nullptr && std::strcmp(wanted, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  return CUDASIM_CALL(hfunc, hmod, name) {
    const auto module = permitted_module(hmod);
    require(hfunc != nullptr && name != nullptr);
    const CUfunction function = module->function(name);
    require(function != nullptr, CUDA_ERROR_NOT_FOUND);
    *hfunc = function;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  return CUDASIM_CALL(count, mod) {
    const auto module = permitted_module(mod);
    require(count != nullptr);
    *count = static_cast<unsigned>(module->program->kernels.size());
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
  return CUDASIM_CALL(functions, numFunctions, mod) {
    const auto module = permitted_module(mod);
    require(functions != nullptr);
    const auto& kernels = module->program->kernels;
    for (unsigned i = 0; i < numFunctions && i < kernels.size(); ++i) functions[i] = module->function(kernels[i]);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  return CUDASIM_CALL(dptr, bytes, hmod, name) {
    const auto module = permitted_module(hmod);
    require(name != nullptr && (dptr != nullptr || bytes != nullptr));
    for (const Global& variable : module->program->globals) {
      if (variable.name != name || !variable.visible) continue;
      if (dptr != nullptr) *dptr = variable.address;
      if (bytes != nullptr) *bytes = variable.size;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
  };
}

CUDASIM_API CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  return CUDASIM_CALL(pi, attrib, hfunc) {
    const auto function = permitted_function(hfunc);
    require(pi != nullptr);
    *pi = attribute(*function, attrib);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  return CUDASIM_CALL(hfunc, attrib, value) {
    set_attribute(*permitted_function(hfunc), attrib, value);
    return CUDA_SUCCESS;
  };
}

// Preferences: no result depends on them.
CUDASIM_API CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  return CUDASIM_CALL(hfunc, config) {
    permitted_function(hfunc);
    require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  return CUDASIM_CALL(hfunc, config) {
    permitted_function(hfunc);
    require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE && config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  return CUDASIM_CALL(hmod, hfunc) {
    const auto function = permitted_function(hfunc);
    require(hmod != nullptr);
    *hmod = function->module;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  return CUDASIM_CALL(name, hfunc) {
    const auto function = permitted_function(hfunc);
    require(name != nullptr);
    *name = function->kernel->name.c_str();
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return CUDASIM_CALL(func, paramIndex, paramOffset, paramSize) {
    const auto function = permitted_function(func);
    require(paramOffset != nullptr);
    const auto& parameters = function->program->functions[function->kernel->function]->parameters;
    require(paramIndex < parameters.size());
    *paramOffset = parameters[paramIndex].offset;
    if (paramSize != nullptr) *paramSize = parameters[paramIndex].size;
    return CUDA_SUCCESS;
  };
}

// Every function is loaded with its module here.
CUDASIM_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return CUDASIM_CALL(state, function) {
    permitted_function(function);
    require(state != nullptr);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncLoad(CUfunction function) {
  return CUDASIM_CALL(function) {
    permitted_function(function);
    return CUDA_SUCCESS;
  };
}
