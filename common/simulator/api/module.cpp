// Modules and their functions (CUDA Driver API manual, "Module Management", the functions' part of "Execution
// Control").
//
// Queries use the module's handle, whichever context is current; only loading needs a current context.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/launches/function_attributes.hpp"
#include "common/simulator/state/modules/image.hpp"
#include "common/simulator/state/streams/capture.hpp"

namespace cudasim {

namespace {

// What driver 580 logs.
constexpr const char* kUnknownFormat = "error   : Binary format for key='0', ident='' is not recognized";

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

// A hint for a name that was not found: a C++ compiler changes names that are not extern "C".
std::string kernels_of(const Module& module) {
  std::string text = "the module has no kernel with this name; it has";
  const auto kernels = module.kernel_names();
  for (std::size_t i = 0; i < kernels.size() && i < 5; ++i) text += (i == 0 ? " " : ", ") + kernels[i];
  if (kernels.size() > 5) text += " and " + std::to_string(kernels.size() - 5) + " more";
  return kernels.empty() ? "the module has no kernels" : text;
}

}  // namespace

CUresult driver::call_cuModuleLoad(CUmodule* module, const char* fname) {
  const auto context = current_context();
  require(module != nullptr && fname != nullptr);
  return load_texts(module, context, texts_of_bytes(read_file(fname)), {});
}

CUresult driver::call_cuModuleLoadData(CUmodule* module, const void* image) {
  const auto context = current_context();
  require(module != nullptr);
  return load_texts(module, context, texts_of_image(image), {});
}

CUresult driver::call_cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                                         CUjit_option* options, void** optionValues) {
  const auto context = current_context();
  require(module != nullptr);
  JitOptions jit(numOptions, options, optionValues);
  try {
    return load_texts(module, context, texts_of_image(image), jit);
  } catch (const Failure& failure) {
    if (failure.code == CUDA_ERROR_INVALID_IMAGE) jit.error(kUnknownFormat);
    throw;
  }
}

CUresult driver::call_cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  const auto context = current_context();
  require(module != nullptr);
  return load_texts(module, context, texts_of_image(fatCubin), {});
}

CUresult driver::call_cuModuleUnload(CUmodule hmod) {
  const auto module = permitted_module(hmod);
  require(!module->of_library, CUDA_ERROR_NOT_PERMITTED);
  require_no_unsafe_capture();
  if (!modules().remove(hmod)) return CUDA_ERROR_INVALID_HANDLE;
  if (const auto context = module->context.lock()) context->synchronize();  // its kernels may be running
  module->close();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  require_initialized();
  require(mode != nullptr);
  *mode = lazy_loading() ? CU_MODULE_LAZY_LOADING : CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  const auto module = permitted_module(hmod);
  require(hfunc != nullptr && name != nullptr && *name != '\0');
  const CUfunction function = module->function(name);
  require(function != nullptr, CUDA_ERROR_NOT_FOUND, [&] { return kernels_of(*module); });
  functions().get(function)->loaded = true;
  *hfunc = function;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  const auto module = permitted_module(mod);
  require(count != nullptr);
  *count = static_cast<unsigned>(module->kernel_names().size());
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
  const auto module = permitted_module(mod);
  require(functions != nullptr);
  const auto kernels = module->kernel_names();
  for (unsigned i = 0; i < numFunctions && i < kernels.size(); ++i) {
    const bool known = module->knows(kernels[i]);
    functions[i] = module->function(kernels[i]);
    if (!known) cudasim::functions().get(functions[i])->loaded = !lazy_loading();
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  const auto module = permitted_module(hmod);
  require(name != nullptr && (dptr != nullptr || bytes != nullptr));
  const Global* variable = find_variable(*module->program, name);
  require(variable != nullptr || module->function(name) == nullptr);  // a kernel is no variable
  require(variable != nullptr, CUDA_ERROR_NOT_FOUND);
  if (dptr != nullptr) *dptr = variable->address;
  if (bytes != nullptr) *bytes = variable->size;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  const auto function = permitted_function(hfunc);
  require(pi != nullptr);
  *pi = function_attribute(*function->program, *function->kernel, function->current_settings(), attrib);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  const auto function = permitted_function(hfunc);
  const std::scoped_lock lock(function->mutex);
  set_function_attribute(*function->kernel, function->settings, attrib, value);
  function->own_settings |= 1u << attrib;
  return CUDA_SUCCESS;
}

// Preferences: no result depends on them.
CUresult driver::call_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  permitted_function(hfunc);
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  permitted_function(hfunc);
  require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE && config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  const auto function = permitted_function(hfunc);
  require(hmod != nullptr);
  *hmod = function->module;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncGetName(const char** name, CUfunction hfunc) {
  require(hfunc != nullptr);
  const auto function = permitted_function(hfunc);
  require(name != nullptr);
  *name = function->kernel->name.c_str();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  require(func != nullptr);
  const auto function = permitted_function(func);
  parameter_place(*function->program, *function->kernel, paramIndex, paramOffset, paramSize);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncGetParamCount(CUfunction func, size_t* paramCount) {
  const auto function = permitted_function(func);
  require(paramCount != nullptr);
  *paramCount = function->program->functions[function->kernel->function]->parameters.size();
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12040
// With lazy loading, a function is not loaded if only cuModuleEnumerateFunctions has named it.
CUresult driver::call_cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  const auto asked = permitted_function(function);
  require(state != nullptr);
  *state = asked->loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
  return CUDA_SUCCESS;
}
#endif

CUresult driver::call_cuFuncLoad(CUfunction function) {
  permitted_function(function)->loaded = true;
  return CUDA_SUCCESS;
}

}  // namespace cudasim
