// Modules and their functions (CUDA Driver API manual, "Module Management", the functions' part of "Execution
// Control").
//
// A module is asked by handle, whichever context is current; only loading needs one.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/api/image.hpp"
#include "common/simulator/state/function_attributes.hpp"

#include <cstdlib>
#include <cstring>

using namespace cudasim;

namespace {

CUresult load_texts(CUmodule* module, const std::shared_ptr<Context>& context, const Texts& texts, JitOptions options) {
  *module = load_ptx(context, texts, options)->handle;
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

// For who has asked for another: a C++ compiler changes names that are not extern "C".
std::string kernels_of(const Module& module) {
  std::string text = "the module has no kernel of that name; there are";
  const auto& kernels = module.program->kernels;
  for (std::size_t i = 0; i < kernels.size() && i < 5; ++i) text += (i == 0 ? " " : ", ") + kernels[i].name;
  if (kernels.size() > 5) text += " and " + std::to_string(kernels.size() - 5) + " more";
  return kernels.empty() ? "the module has no kernels" : text;
}

}  // namespace

CUDASIM_API CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  return CUDASIM_CALL(module, fname) {
    const auto context = current_context();
    require(module != nullptr && fname != nullptr);
    return load_texts(module, context, texts_of_bytes(read_file(fname)), {});
  };
}

CUDASIM_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return CUDASIM_CALL(module, image) {
    const auto context = current_context();
    require(module != nullptr);
    return load_texts(module, context, texts_of_image(image), {});
  };
}

CUDASIM_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                                        CUjit_option* options, void** optionValues) {
  return CUDASIM_CALL(module, image, numOptions, options, optionValues) {
    const auto context = current_context();
    require(module != nullptr);
    return load_texts(module, context, texts_of_image(image), JitOptions(numOptions, options, optionValues));
  };
}

CUDASIM_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  return CUDASIM_CALL(module, fatCubin) {
    const auto context = current_context();
    require(module != nullptr);
    return load_texts(module, context, texts_of_image(fatCubin), {});
  };
}

CUDASIM_API CUresult cuModuleUnload(CUmodule hmod) {
  return CUDASIM_CALL(hmod) {
    const auto module = permitted_module(hmod);
    require(!module->of_library, CUDA_ERROR_NOT_PERMITTED);
    if (!modules().remove(hmod)) return CUDA_ERROR_INVALID_HANDLE;
    if (const auto context = module->context.lock()) context->synchronize();  // its kernels may be running
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
    require(hfunc != nullptr && name != nullptr && *name != '\0');
    const CUfunction function = module->function(name);
    require(function != nullptr, CUDA_ERROR_NOT_FOUND, [&] { return kernels_of(*module); });
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
    const Global* variable = find_variable(*module->program, name);
    require(variable != nullptr || module->function(name) == nullptr);  // a kernel is no variable
    require(variable != nullptr, CUDA_ERROR_NOT_FOUND);
    if (dptr != nullptr) *dptr = variable->address;
    if (bytes != nullptr) *bytes = variable->size;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  return CUDASIM_CALL(pi, attrib, hfunc) {
    const auto function = permitted_function(hfunc);
    require(pi != nullptr);
    *pi = function_attribute(*function->program, *function->kernel, function->current_settings(), attrib);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  return CUDASIM_CALL(hfunc, attrib, value) {
    const auto function = permitted_function(hfunc);
    const std::scoped_lock lock(function->mutex);
    set_function_attribute(*function->kernel, function->settings, attrib, value);
    function->own_settings |= 1u << attrib;
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
    require(hfunc != nullptr);
    const auto function = permitted_function(hfunc);
    require(name != nullptr);
    *name = function->kernel->name.c_str();
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return CUDASIM_CALL(func, paramIndex, paramOffset, paramSize) {
    require(func != nullptr);
    const auto function = permitted_function(func);
    parameter_place(*function->program, *function->kernel, paramIndex, paramOffset, paramSize);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuFuncGetParamCount(CUfunction func, size_t* paramCount) {
  return CUDASIM_CALL(func, paramCount) {
    const auto function = permitted_function(func);
    require(paramCount != nullptr);
    *paramCount = function->program->functions[function->kernel->function]->parameters.size();
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
