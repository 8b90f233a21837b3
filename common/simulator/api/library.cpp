// Libraries and their kernels (CUDA Driver API manual, "Library Management"): code that belongs to no context and is
// loaded into each when needed.
#include "common/simulator/state/modules/library.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/launches/function_attributes.hpp"
#include "common/simulator/state/modules/image.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <algorithm>

namespace cudasim {

namespace {

// What is wrong with code is found when something of it is wanted.
bool found_late(CUresult code) {
  return code == CUDA_ERROR_INVALID_IMAGE || code == CUDA_ERROR_INVALID_PTX ||
         code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || code == CUDA_ERROR_NO_BINARY_FOR_GPU ||
         code == CUDA_ERROR_JIT_COMPILATION_DISABLED;
}

// The texts of an image; none, and why, if there is something wrong with it.
template <class Get>
Texts texts_or_failure(Failure& failed, Get get) {
  try {
    return get();
  } catch (const Failure& failure) {
    if (!found_late(failure.code)) throw;
    failed = failure;
    return {};
  }
}

CUresult load(CUlibrary* out, const Texts& texts, JitOptions jit, CUlibraryOption* options, void** values,
              unsigned count, Failure failed = {CUDA_SUCCESS, {}}) {
  require(out != nullptr && (count == 0 || options != nullptr));
  for (unsigned i = 0; i < count; ++i) {
    switch (static_cast<int>(options[i])) {
      case CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE:
        if (values != nullptr && values[i] != nullptr)
          return refuse("CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE");
        break;
      case CU_LIBRARY_BINARY_IS_PRESERVED: break;  // the text is copied all the same
      default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  auto program = std::make_shared<const Program>();
  if (failed.code == CUDA_SUCCESS) {
    try {
      program = check_ptx(texts, jit);
    } catch (const Failure& failure) {
      if (!found_late(failure.code)) throw;
      failed = failure;
    }
  }
  const auto library = std::make_shared<Library>(program, [texts](const std::shared_ptr<Context>& context) {
    JitOptions none;
    return load_ptx(context, texts, none);
  });
  library->failed = failed.code;
  library->why = failed.why;
  library->make_kernels();
  library->handle = libraries().add(library);
  *out = library->handle;
  return CUDA_SUCCESS;
}

std::shared_ptr<Library> get_library(CUlibrary handle) {
  require_calls_permitted();
  return libraries().get(handle);
}

// One that something is wanted of.
std::shared_ptr<Library> get_code(CUlibrary handle) {
  auto library = get_library(handle);
  require(library->failed == CUDA_SUCCESS, library->failed, [&] { return library->why; });
  return library;
}

std::shared_ptr<LibraryKernel> get_kernel(CUkernel handle) {
  require_calls_permitted();
  return library_kernels().get(handle);
}

std::shared_ptr<Library> library_of(const LibraryKernel& kernel) {
  auto library = kernel.library.lock();
  require(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return library;
}

CUresult get_variable(CUdeviceptr* address, size_t* bytes, const Program& program, const char* name, bool managed) {
  require(name != nullptr && (address != nullptr || bytes != nullptr));
  const Global* variable = find_variable(program, name);
  require(variable != nullptr && (!managed || variable->managed), CUDA_ERROR_NOT_FOUND);
  if (address != nullptr) *address = variable->address;
  if (bytes != nullptr) *bytes = variable->size;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                                        void** jitOptionsValues, unsigned int numJitOptions,
                                        CUlibraryOption* libraryOptions, void** libraryOptionValues,
                                        unsigned int numLibraryOptions) {
  require_calls_permitted();
  Failure failed{CUDA_SUCCESS, {}};
  // A program that asks for a log may have something else to try.
  const bool logs = jitOptions != nullptr && std::find(jitOptions, jitOptions + numJitOptions,
                                                       CU_JIT_ERROR_LOG_BUFFER) != jitOptions + numJitOptions;
  const Texts texts = texts_or_failure(
      failed, [&] { return wraps_nothing(code) ? Texts{linked_image({}, 0)} : texts_of_image(code, !logs); });
  return load(library, texts, JitOptions(numJitOptions, jitOptions, jitOptionsValues), libraryOptions,
              libraryOptionValues, numLibraryOptions, failed);
}

CUresult driver::call_cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                                            void** jitOptionsValues, unsigned int numJitOptions,
                                            CUlibraryOption* libraryOptions, void** libraryOptionValues,
                                            unsigned int numLibraryOptions) {
  require_calls_permitted();
  require(library != nullptr && fileName != nullptr);
  const std::string bytes = read_file(fileName);
  require(!bytes.empty(), CUDA_ERROR_INVALID_IMAGE);
  for (unsigned i = 0; i < numLibraryOptions && libraryOptions != nullptr; ++i) {
    require(libraryOptions[i] != CU_LIBRARY_BINARY_IS_PRESERVED);  // the program does not keep a file's contents
  }
  Failure failed{CUDA_SUCCESS, {}};
  const Texts texts = texts_or_failure(failed, [&] { return texts_of_bytes(bytes); });
  return load(library, texts, JitOptions(numJitOptions, jitOptions, jitOptionsValues), libraryOptions,
              libraryOptionValues, numLibraryOptions, failed);
}

CUresult driver::call_cuLibraryUnload(CUlibrary library) {
  get_library(library);
  require_no_unsafe_capture();
  const auto removed = libraries().remove(library);
  require(removed != nullptr, CUDA_ERROR_INVALID_HANDLE);
  removed->close();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
  const auto found = get_code(library);
  require(pKernel != nullptr && name != nullptr);
  const CUkernel kernel = found->kernel(name);
  require(kernel != nullptr, CUDA_ERROR_NOT_FOUND);
  *pKernel = kernel;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) {
  const auto found = get_code(lib);
  require(count != nullptr);
  *count = static_cast<unsigned>(found->kernels().size());
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary lib) {
  const auto found = get_code(lib);
  require(kernels != nullptr);
  const auto& all = found->kernels();
  for (unsigned i = 0; i < numKernels && i < all.size(); ++i) kernels[i] = all[i];
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
  const auto context = current_context();
  const auto found = get_code(library);
  require(pMod != nullptr);
  *pMod = found->module_in(context)->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  const auto context = current_context();
  return get_variable(dptr, bytes, *get_code(library)->module_in(context)->program, name, false);
}

CUresult driver::call_cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  const auto context = current_context();
  return get_variable(dptr, bytes, *get_code(library)->module_in(context)->program, name, true);
}

CUresult driver::call_cuLibraryGetUnifiedFunction(void** fptr, CUlibrary library, const char* symbol) {
  get_code(library);
  require(fptr != nullptr && symbol != nullptr);
  return CUDA_ERROR_INVALID_VALUE;  // no PTX makes one; as driver 580; the manual has NOT_FOUND
}

CUresult driver::call_cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
  const auto context = current_context();
  const auto found = get_kernel(kernel);
  require(pFunc != nullptr);
  *pFunc = function_of(*found, context)->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
  const auto found = get_kernel(kernel);
  require(pLib != nullptr);
  *pLib = library_of(*found)->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuKernelGetName(const char** name, CUkernel hfunc) {
  require(hfunc != nullptr);
  const auto found = get_kernel(hfunc);
  require(name != nullptr);
  *name = found->kernel->name.c_str();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
  const auto found = get_kernel(kernel);
  device_at(dev);
  require(pi != nullptr);
  *pi = function_attribute(*library_of(*found)->program, *found->kernel, found->settings_on(dev), attrib);
  return CUDA_SUCCESS;
}

// Holds for every context of the device, those that have the library loaded too.
CUresult driver::call_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
  const auto found = get_kernel(kernel);
  device_at(dev);
  FunctionSettings settings = found->settings_on(dev);
  set_function_attribute(*found->kernel, settings, attrib, val);
  {
    const std::scoped_lock lock(found->mutex);
    found->settings[dev] = settings;
  }
  for (const auto& module : library_of(*found)->loaded()) {
    const auto context = module->context.lock();
    if (context && context->device.ordinal == dev) function_of(*found, context);
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  get_kernel(kernel);
  device_at(dev);
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  const auto found = get_kernel(kernel);
  parameter_place(*library_of(*found)->program, *found->kernel, paramIndex, paramOffset, paramSize);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuKernelGetParamCount(CUkernel kernel, size_t* paramCount) {
  const auto found = get_kernel(kernel);
  require(paramCount != nullptr);
  *paramCount = library_of(*found)->program->functions[found->kernel->function]->parameters.size();
  return CUDA_SUCCESS;
}

}  // namespace cudasim
