// Images, kernels and variables: what nvcc's code for the host announces before main(), and how it is found when it is
// needed. The declarations of the functions that begin with two underscores are in the toolkit's crt/host_runtime.h.
//
// Nothing is loaded when it is announced. The first use of a kernel or a variable loads its image as a library, which
// the driver keeps for all contexts; the driver loads it into a context when that needs it.
#include "common/runtime/modules.hpp"

#include "common/runtime/devices.hpp"

#include <fatbinary_section.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace runtime {

struct Managed {
  void** pointer;  // the host's variable of this name is this pointer
  std::string name;
};

struct Image {
  const __fatBinC_Wrapper_t* wrapper;
  CUlibrary library = nullptr;
  const void* refused = nullptr;  // the first of its parts that the driver has no use for
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<const void*> variables;
  std::vector<Managed> managed;
  std::atomic<bool> has_managed_pointers{false};
};

namespace {

struct Symbol {
  Image* image;
  std::string name;
};

struct Registry {
  std::recursive_mutex mutex;
  std::unordered_map<const void*, std::vector<Kernel*>> kernels;  // several images may have the same template's
  std::unordered_map<const void*, std::unique_ptr<Kernel>> expected;
  std::unordered_map<const void*, Symbol> variables;
  std::unordered_map<const void*, const void*> stubs;  // by CUkernel or CUfunction
};

// Announcements come before main(), and exit handlers after it: this is made when it is first needed, and stays.
Registry& registry() {
  static Registry& registry = *new Registry;
  return registry;
}
using Lock = std::lock_guard<std::recursive_mutex>;

// The beginning of a fat binary. Its length is needed for linking; everything else in it is the driver's business.
struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t content_bytes;
};

std::size_t bytes_of(const void* fatbin) {
  FatbinHeader header;
  std::memcpy(&header, fatbin, sizeof header);
  return header.header_bytes + header.content_bytes;
}

// With -rdc=true, the image is machine code that nvcc linked, and the wrapper also lists the parts it was linked from,
// up to a null pointer (crt/link.stub). They are linked anew if the machine code is for another device.
//
// One of the parts may be the device runtime, which consists of machine code for all devices of its time. A driver that
// takes only PTX refuses that part. It has a device runtime of its own then, which it adds when a link includes an
// archive, as libcudadevrt.a is one.
constexpr char kEmptyArchive[] = "!<arch>\n";

cudaError_t link(const std::vector<void*>& parts, bool with_archive, CUlibrary* library, std::size_t* refused) {
  char log[2048] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState state = nullptr;
  cudaError_t error = code(driver().cuLinkCreate(2, options, values, &state));
  if (error != cudaSuccess) return error;
  *refused = parts.size();
  for (std::size_t i = 0; i < parts.size() && error == cudaSuccess; ++i) {
    error = code(
        driver().cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, parts[i], bytes_of(parts[i]), "", 0, nullptr, nullptr));
    if (error == cudaErrorNoKernelImageForDevice) *refused = i;
  }
  if (error == cudaSuccess && with_archive) {
    error = code(driver().cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, const_cast<char*>(kEmptyArchive),
                                        sizeof kEmptyArchive - 1, "libcudadevrt.a", 0, nullptr, nullptr));
  }
  void* linked = nullptr;
  std::size_t bytes = 0;
  if (error == cudaSuccess) error = code(driver().cuLinkComplete(state, &linked, &bytes));
  if (error == cudaSuccess) {
    error = code(driver().cuLibraryLoadData(library, linked, nullptr, nullptr, 0, nullptr, nullptr, 0));
  } else if (log[0] != '\0') {
    std::fprintf(stderr, "cudart: the driver could not link this program's device code:\n%s\n", log);
  }
  driver().cuLinkDestroy(state);
  return error;
}

// What is missing was in a part that the driver has refused. A driver that has no use for an image says why on stderr,
// unless it is given a log; it may look at the image only when something is wanted of it.
cudaError_t no_kernel_image(const Image& image) {
  CUlibrary library = nullptr;
  unsigned count = 0;
  if (driver().cuLibraryLoadData(&library, image.refused, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS) {
    driver().cuLibraryGetKernelCount(&count, library);
    driver().cuLibraryUnload(library);
  }
  return cudaErrorNoKernelImageForDevice;
}

cudaError_t link(Image& image) {
  std::vector<void*> parts;
  for (auto part = static_cast<void**>(image.wrapper->filename_or_fatbins); *part != nullptr; ++part)
    parts.push_back(*part);
  for (bool with_archive = false; !parts.empty(); with_archive = true) {
    std::size_t refused = 0;
    const cudaError_t error = link(parts, with_archive, &image.library, &refused);
    if (error != cudaErrorNoKernelImageForDevice || refused == parts.size()) return error;
    if (image.refused == nullptr) image.refused = parts[refused];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(refused));
  }
  return no_kernel_image(image);
}

cudaError_t load(Image& image) {
  if (image.library != nullptr) return cudaSuccess;
  const auto* program = image.wrapper->data;
  if (image.wrapper->version != FATBINC_LINK_VERSION) {
    return code(driver().cuLibraryLoadData(&image.library, program, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  // With a log, a driver keeps its reasons to itself: there is another way.
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  cudaError_t error =
      code(driver().cuLibraryLoadData(&image.library, program, options, values, 2, nullptr, nullptr, 0));
  // A driver may look at the code only when something is wanted of the library.
  unsigned count = 0;
  if (error == cudaSuccess) {
    error = code(driver().cuLibraryGetKernelCount(&count, image.library));
    if (error == cudaSuccess && count == 0)
      error = cudaErrorNoKernelImageForDevice;  // an empty image, if nvcc had only PTX
    if (error == cudaErrorNoKernelImageForDevice) driver().cuLibraryUnload(image.library);
  }
  if (error != cudaErrorNoKernelImageForDevice) return error;
  image.library = nullptr;
  return link(image);
}

// Gives the host its pointers to __managed__ variables. A context must be current.
cudaError_t set_managed_pointers(Image& image) {
  if (image.has_managed_pointers.load(std::memory_order_acquire) || image.managed.empty()) return cudaSuccess;
  CUmodule module = nullptr;  // such memory exists once the library is in a context
  cudaError_t error = code(driver().cuLibraryGetModule(&module, image.library));
  for (const Managed& managed : image.managed) {
    CUdeviceptr place = 0;
    std::size_t bytes = 0;
    if (error == cudaSuccess) {
      error = code(driver().cuLibraryGetManaged(&place, &bytes, image.library, managed.name.c_str()));
    }
    if (error == cudaSuccess) *managed.pointer = reinterpret_cast<void*>(place);
  }
  if (error == cudaSuccess) image.has_managed_pointers.store(true, std::memory_order_release);
  return error;
}

cudaError_t in_context(Image& image) {
  const cudaError_t error = load(image);
  return error != cudaSuccess ? error : set_managed_pointers(image);
}

cudaError_t resolve(Kernel& kernel) {
  if (kernel.handle.load(std::memory_order_acquire) != nullptr) return cudaSuccess;
  cudaError_t error = in_context(*kernel.image);
  if (error != cudaSuccess) return error;
  CUkernel handle = nullptr;
  error = code(driver().cuLibraryGetKernel(&handle, kernel.image->library, kernel.name.c_str()));
  if (error == cudaErrorSymbolNotFound)
    return kernel.image->refused != nullptr ? no_kernel_image(*kernel.image) : cudaErrorInvalidDeviceFunction;
  if (error != cudaSuccess) return error;
  registry().stubs[handle] = kernel.stub;
  kernel.handle.store(handle, std::memory_order_release);
  return cudaSuccess;
}

}  // namespace

cudaError_t handle_of(Kernel& kernel, CUkernel* handle) {
  *handle = kernel.handle.load(std::memory_order_acquire);
  if (*handle != nullptr) return cudaSuccess;
  const Lock lock(registry().mutex);
  const cudaError_t error = resolve(kernel);
  *handle = kernel.handle.load(std::memory_order_relaxed);
  return error;
}

cudaError_t launchable(Kernel& kernel, CUfunction* function) {
  const Place now = place();
  const Found* found = kernel.found.load(std::memory_order_acquire);
  if (found != nullptr && found->place.primary == now.primary && found->place.resets == now.resets) {
    *function = found->function;
    return cudaSuccess;
  }
  CUkernel handle = nullptr;
  const cudaError_t error = handle_of(kernel, &handle);
  if (error != cudaSuccess) return error;
  *function = reinterpret_cast<CUfunction>(handle);
  CUfunction own = nullptr;
  if (now.primary != nullptr && driver().cuKernelGetFunction(&own, handle) == CUDA_SUCCESS) {
    *function = own;
    // A kernel that is launched in two contexts in turn is remembered for the first of them alone.
    if (found != nullptr && found->place.resets == now.resets) return cudaSuccess;
    auto next = std::make_unique<Found>(Found{now, own, std::unique_ptr<const Found>(found)});
    if (kernel.found.compare_exchange_strong(found, next.get())) return next.release(), cudaSuccess;
    next->before.release();  // another thread was faster, and its entry owns the one before
  }
  return cudaSuccess;
}

Kernel* announced(const void* stub) {
  const Lock lock(registry().mutex);
  const auto found = registry().kernels.find(stub);
  return found == registry().kernels.end() || found->second.empty() ? nullptr : found->second.front();
}

Kernel* expected(const void* stub) {
  const Lock lock(registry().mutex);
  auto& entry = registry().expected[stub];
  if (entry == nullptr) entry = std::make_unique<Kernel>();
  entry->stub = stub;
  return entry.get();
}

cudaError_t find_kernel(const void* stub, CUkernel* handle) {
  const cudaError_t error = ready();
  if (error != cudaSuccess) return error;
  if (Kernel* kernel = announced(stub)) return handle_of(*kernel, handle);
  if (stub == nullptr) return cudaErrorInvalidDeviceFunction;
  *handle = static_cast<CUkernel>(const_cast<void*>(stub));  // the program passes a handle as if it were a stub
  const auto is_ours = [stub] {
    const Lock lock(registry().mutex);
    return registry().stubs.count(stub) != 0;
  };
  CUfunction function = nullptr;  // a kernel that the program has loaded with the driver is known to the driver alone
  const bool exists = is_ours() || driver().cuKernelGetFunction(&function, *handle) == CUDA_SUCCESS;
  return exists ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t find_function(const void* stub, CUfunction* function) {
  CUkernel handle = nullptr;
  cudaError_t error = find_kernel(stub, &handle);
  if (error == cudaSuccess) error = code(driver().cuKernelGetFunction(function, handle));
  return error;
}

void remember(CUkernel kernel) {
  const Lock lock(registry().mutex);
  registry().stubs.emplace(kernel, kernel);
}

const void* stub_of(CUkernel kernel) {
  const Lock lock(registry().mutex);
  const auto found = registry().stubs.find(kernel);
  return found == registry().stubs.end() ? kernel : found->second;
}

const void* stub_of(CUfunction function) {
  const Lock lock(registry().mutex);
  for (const auto& [handle, stub] : registry().stubs) {
    CUfunction candidate = nullptr;
    const auto kernel = static_cast<CUkernel>(const_cast<void*>(handle));
    if (driver().cuKernelGetFunction(&candidate, kernel) == CUDA_SUCCESS && candidate == function) return stub;
  }
  return function;
}

cudaError_t find_variable(const void* symbol, Variable* variable) {
  cudaError_t error = ready();
  if (error != cudaSuccess) return error;
  const Lock lock(registry().mutex);
  Registry& all = registry();
  auto found = all.variables.find(symbol);
  if (found == all.variables.end()) {
    // To the host, a __managed__ variable is where its memory is, and not where its pointer is.
    if (symbol == nullptr) return cudaErrorInvalidSymbol;
    found = std::find_if(all.variables.begin(), all.variables.end(), [&](const auto& entry) {
      for (const Managed& managed : entry.second.image->managed) {
        if (managed.pointer == entry.first && *managed.pointer == symbol) return true;
      }
      return false;
    });
    if (found == all.variables.end()) return cudaErrorInvalidSymbol;
  }
  Image& image = *found->second.image;
  error = in_context(image);
  if (error != cudaSuccess) return error;
  const char* name = found->second.name.c_str();
  error = code(driver().cuLibraryGetGlobal(&variable->place, &variable->bytes, image.library, name));
  if (error == cudaErrorSymbolNotFound) {
    error = code(driver().cuLibraryGetManaged(&variable->place, &variable->bytes, image.library, name));
  }
  if (error != cudaErrorSymbolNotFound) return error;
  return image.refused != nullptr ? no_kernel_image(image) : cudaErrorInvalidSymbol;
}

// Handles of libraries hold for every context, so there is nothing to forget about kernels. Managed memory is gone.
void forget_contexts() {
  const Lock lock(registry().mutex);
  for (auto& [symbol, entry] : registry().variables) entry.image->has_managed_pointers.store(false);
}

}  // namespace runtime

using namespace runtime;

extern "C" {

// ---- What nvcc's code calls before main(), and when a library is loaded or closed
// ------------------------------------

void** __cudaRegisterFatBinary(void* wrapper) {
  auto* image = new Image{};
  image->wrapper = static_cast<const __fatBinC_Wrapper_t*>(wrapper);
  return reinterpret_cast<void**>(image);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  auto* image = reinterpret_cast<Image*>(handle);
  auto kernel = std::make_unique<Kernel>();
  kernel->image = image;
  kernel->stub = stub;
  kernel->name = name;
  const Lock lock(registry().mutex);
  registry().kernels[stub].push_back(kernel.get());
  image->kernels.push_back(std::move(kernel));
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t, int, int) {
  auto* image = reinterpret_cast<Image*>(handle);
  const Lock lock(registry().mutex);
  registry().variables.insert_or_assign(host, Symbol{image, name});
  image->variables.push_back(host);
}

void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int, std::size_t, int, int) {
  auto* image = reinterpret_cast<Image*>(handle);
  const Lock lock(registry().mutex);
  registry().variables.insert_or_assign(pointer, Symbol{image, name});
  image->variables.push_back(pointer);
  image->managed.push_back({pointer, name});
}

// The host is about to access a __managed__ variable of this image.
char __cudaInitModule(void** handle) {
  auto* image = reinterpret_cast<Image*>(handle);
  if (image == nullptr) return 0;  // a constructor that comes before the announcement
  if (image->has_managed_pointers.load(std::memory_order_acquire)) return 1;
  if (kept(ready()) != cudaSuccess) return 0;
  const Lock lock(registry().mutex);
  return kept(in_context(*image)) == cudaSuccess;
}

void __cudaUnregisterFatBinary(void** handle) {
  auto* image = reinterpret_cast<Image*>(handle);
  const Lock lock(registry().mutex);
  Registry& all = registry();
  for (const auto& kernel : image->kernels) {
    auto& same_stub = all.kernels[kernel->stub];
    same_stub.erase(std::remove(same_stub.begin(), same_stub.end(), kernel.get()), same_stub.end());
    if (same_stub.empty()) all.kernels.erase(kernel->stub);
    all.stubs.erase(kernel->handle.load());
  }
  for (const void* variable : image->variables) {
    const auto found = all.variables.find(variable);
    if (found != all.variables.end() && found->second.image == image) all.variables.erase(found);
  }
  if (image->library != nullptr) driver().cuLibraryUnload(image->library);  // fails if the driver has shut down
  delete image;
}

// ---- Symbols and handles -------------------------------------------------------------------------------------------

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  RUNTIME_REQUIRE(pointer != nullptr, cudaErrorInvalidValue);
  Variable variable;
  RUNTIME_TRY(find_variable(symbol, &variable));
  *pointer = reinterpret_cast<void*>(variable.place);
  return cudaSuccess;
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  RUNTIME_REQUIRE(bytes != nullptr, cudaErrorInvalidValue);
  Variable variable;
  RUNTIME_TRY(find_variable(symbol, &variable));
  *bytes = variable.bytes;
  return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* stub) {
  RUNTIME_REQUIRE(function != nullptr, cudaErrorInvalidValue);
  return kept(find_function(stub, function));
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  RUNTIME_REQUIRE(handle != nullptr, cudaErrorInvalidValue);
  return kept(find_kernel(stub, handle));
}

// ---- Kernels: attributes and occupancy -----------------------------------------------------------------------------

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  RUNTIME_REQUIRE(attributes != nullptr, cudaErrorInvalidValue);
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  *attributes = {};
  const auto ask = [&](CUfunction_attribute attribute) {
    int value = 0;
    driver().cuFuncGetAttribute(&value, attribute, function);
    return value;
  };
  attributes->sharedSizeBytes = ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes->constSizeBytes = ask(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes->localSizeBytes = ask(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes->maxThreadsPerBlock = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes->numRegs = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes->ptxVersion = ask(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  attributes->binaryVersion = ask(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  attributes->cacheModeCA = ask(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  attributes->maxDynamicSharedSizeBytes = ask(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  attributes->preferredShmemCarveout = ask(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  attributes->clusterDimMustBeSet = ask(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  attributes->requiredClusterWidth = ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  attributes->requiredClusterHeight = ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  attributes->requiredClusterDepth = ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  attributes->clusterSchedulingPolicyPreference = ask(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  attributes->nonPortableClusterSizeAllowed = ask(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  return kept(driver().cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute), value));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
  RUNTIME_TRY(ready());
  return kept(driver().cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel, device));
}

cudaError_t cudaFuncSetCacheConfig(const void* stub, cudaFuncCache config) {
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  return kept(driver().cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(config)));
}

cudaError_t cudaFuncSetSharedMemConfig(const void* stub, cudaSharedMemConfig config) {
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  return kept(driver().cuFuncSetSharedMemConfig(function, static_cast<CUsharedconfig>(config)));
}

cudaError_t cudaFuncGetName(const char** name, const void* stub) {
  RUNTIME_REQUIRE(name != nullptr, cudaErrorInvalidValue);
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  return kept(driver().cuFuncGetName(name, function));
}

cudaError_t cudaFuncGetParamInfo(const void* stub, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  return kept(driver().cuFuncGetParamInfo(function, index, offset, bytes));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub, int threads,
                                                                   std::size_t shared, unsigned flags) {
  RUNTIME_REQUIRE(blocks != nullptr, cudaErrorInvalidValue);
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  return kept(driver().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub, int threads,
                                                          std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* stub, int blocks, int threads) {
  RUNTIME_REQUIRE(bytes != nullptr, cudaErrorInvalidValue);
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  return kept(driver().cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* stub, const cudaLaunchConfig_t* config) {
  RUNTIME_REQUIRE(size != nullptr && config != nullptr, cudaErrorInvalidValue);
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  const CUlaunchConfig wanted = driver_config(*config);
  return kept(driver().cuOccupancyMaxPotentialClusterSize(size, function, &wanted));
}

cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void* stub, const cudaLaunchConfig_t* config) {
  RUNTIME_REQUIRE(count != nullptr && config != nullptr, cudaErrorInvalidValue);
  CUfunction function = nullptr;
  RUNTIME_TRY(find_function(stub, &function));
  const CUlaunchConfig wanted = driver_config(*config);
  return kept(driver().cuOccupancyMaxActiveClusters(count, function, &wanted));
}

// ---- Libraries that the program loads itself
// -------------------------------------------------------------------------

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption* jit, void** jit_values,
                                unsigned jit_count, cudaLibraryOption* options, void** values, unsigned count) {
  RUNTIME_CALL(cuLibraryLoadData(library, image, reinterpret_cast<CUjit_option*>(jit), jit_values, jit_count,
                                 reinterpret_cast<CUlibraryOption*>(options), values, count));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, cudaJitOption* jit, void** jit_values,
                                    unsigned jit_count, cudaLibraryOption* options, void** values, unsigned count) {
  RUNTIME_CALL(cuLibraryLoadFromFile(library, file, reinterpret_cast<CUjit_option*>(jit), jit_values, jit_count,
                                     reinterpret_cast<CUlibraryOption*>(options), values, count));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) { RUNTIME_CALL(cuLibraryUnload(library)); }

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  RUNTIME_REQUIRE(kernel != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(ready());
  RUNTIME_TRY(driver().cuLibraryGetKernel(kernel, library, name));
  remember(*kernel);
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  RUNTIME_CALL(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  RUNTIME_TRY(ready());
  unsigned has = 0;
  RUNTIME_TRY(driver().cuLibraryEnumerateKernels(kernels, count, library));
  if (driver().cuLibraryGetKernelCount(&has, library) != CUDA_SUCCESS) has = 0;
  for (unsigned i = 0; i < std::min(count, has); ++i) remember(kernels[i]);
  return cudaSuccess;
}

cudaError_t cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  RUNTIME_CALL(cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(pointer), bytes, library, name));
}
cudaError_t cudaLibraryGetManaged(void** pointer, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  RUNTIME_CALL(cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(pointer), bytes, library, name));
}
cudaError_t cudaLibraryGetUnifiedFunction(void** pointer, cudaLibrary_t library, const char* name) {
  RUNTIME_CALL(cuLibraryGetUnifiedFunction(pointer, library, name));
}

}  // extern "C"
