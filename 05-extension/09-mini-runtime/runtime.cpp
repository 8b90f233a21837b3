// A small CUDA runtime: the most used functions of <cuda_runtime_api.h>, written over the driver API.
//
//   first use          cuInit, the device's primary context, made current for the calling thread
//   errors             a CUresult becomes the cudaError_t of the same number; the last one is kept, one a thread
//   memory, streams,   one driver call each
//   events
//   registration       what nvcc's code for the host calls before main(): images, kernels and variables by name
//   launch             <<< >>> leaves its configuration, the kernel's stub takes it and launches
//
// The declarations of the registration functions are those of the toolkit's crt/host_runtime.h and
// crt/device_functions.h. No manual describes them; see the lesson's text.
#include "05-extension/09-mini-runtime/runtime.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fatbinary_section.h>

#include <cstring>
#include <map>
#include <mutex>

namespace {

// ---- What was asked of the driver --------------------------------------------------------------------------------

struct Log {
  std::mutex mutex;
  std::vector<std::string> calls;
};

// Things that others use before main() are made when they are first needed, not in the order of the linker.
Log& log() {
  static Log log;
  return log;
}

CUresult noted(const char* call, CUresult result) {
  const std::lock_guard<std::mutex> lock(log().mutex);
  log().calls.emplace_back(call, std::strcspn(call, "("));
  return result;
}
#define DRIVER(call) noted(#call, call)

// ---- Errors ------------------------------------------------------------------------------------------------------

thread_local cudaError_t last_error = cudaSuccess;

// Keeps a failure for cudaGetLastError. "Not ready" is an answer, no failure.
cudaError_t kept(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

// Since CUDA 10.1 the two APIs number what they share alike.
cudaError_t kept(CUresult result) { return kept(static_cast<cudaError_t>(result)); }

// After these the context answers nothing else any more, so they are not forgotten either.
bool is_sticky(cudaError_t error) { return error >= 700 && error <= 720 && error != cudaErrorLaunchOutOfResources; }

// What only the runtime's enumeration has.
struct Text {
  cudaError_t error;
  const char *name, *meaning;
};
constexpr Text kOwn[] = {
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
};

// ---- First use ---------------------------------------------------------------------------------------------------

struct Devices {
  std::mutex mutex;
  CUresult init = DRIVER(cuInit(0));
  std::map<int, CUcontext> primary;  // those that were used
};

Devices& devices() {
  static Devices devices;
  return devices;
}

thread_local int chosen = 0;

// Makes a context current for this thread. One that the program pushed by the driver API stays: the two get along.
CUresult ready() {
  thread_local CUcontext ours = nullptr;
  if (devices().init != CUDA_SUCCESS) return devices().init;
  CUcontext current;
  CUresult result = cuCtxGetCurrent(&current);  // asked before every call, and not noted
  if (result != CUDA_SUCCESS || (current != nullptr && current != ours)) return result;
  const std::lock_guard<std::mutex> lock(devices().mutex);
  const auto known = devices().primary.find(chosen);
  if (known != devices().primary.end() && known->second == current) return CUDA_SUCCESS;
  if (known == devices().primary.end()) {
    CUdevice device;
    result = DRIVER(cuDeviceGet(&device, chosen));
    if (result == CUDA_SUCCESS) result = DRIVER(cuDevicePrimaryCtxRetain(&ours, device));
    if (result != CUDA_SUCCESS) return result;
    devices().primary[chosen] = ours;
  }
  ours = devices().primary[chosen];
  return DRIVER(cuCtxSetCurrent(ours));
}

// Nearly every function of the runtime: a context, then the one call. (Not by DRIVER: <cuda.h> would have made
// cuMemAlloc_v2 of cuMemAlloc.)
#define ANSWER(call)                                                       \
  do {                                                                     \
    const CUresult is_ready = ready();                                     \
    return kept(is_ready != CUDA_SUCCESS ? is_ready : noted(#call, call)); \
  } while (false)

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// ---- Registration ------------------------------------------------------------------------------------------------

// One translation unit's image. It is loaded when one of its kernels or variables is first used, once a context.
struct Image {
  const void* fatbin;
  std::map<CUcontext, CUmodule> modules;
};

struct Symbol {
  Image* image;
  std::string name;
  std::map<CUmodule, CUfunction> found;  // for kernels
};

struct Registry {
  std::mutex mutex;
  std::map<const void*, Symbol> kernels, variables;  // by the address that the host's code knows them by
};

Registry& registry() {
  static Registry registry;
  return registry;
}

CUresult loaded(Image& image, CUmodule* module) {
  CUcontext context;
  CUresult result = cuCtxGetCurrent(&context);
  if (result != CUDA_SUCCESS) return result;
  const auto known = image.modules.find(context);
  if (known == image.modules.end()) {
    result = DRIVER(cuModuleLoadData(module, image.fatbin));
    if (result == CUDA_SUCCESS) image.modules[context] = *module;
    return result;
  }
  *module = known->second;
  return CUDA_SUCCESS;
}

// A kernel of the current context. `host`: the function that <<< >>> names.
cudaError_t find_kernel(const void* host, CUfunction* function) {
  const CUresult is_ready = ready();
  if (is_ready != CUDA_SUCCESS) return static_cast<cudaError_t>(is_ready);
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto symbol = registry().kernels.find(host);
  if (symbol == registry().kernels.end()) return cudaErrorInvalidDeviceFunction;
  CUmodule module;
  CUresult result = loaded(*symbol->second.image, &module);
  if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  CUfunction& found = symbol->second.found[module];
  if (found == nullptr) result = DRIVER(cuModuleGetFunction(&found, module, symbol->second.name.c_str()));
  *function = found;
  return static_cast<cudaError_t>(result);
}

// The bytes of a __device__ or __constant__ variable, from `offset` on. `count`: how many are wanted.
cudaError_t find_variable(const void* host, std::size_t count, std::size_t offset, CUdeviceptr* place) {
  const CUresult is_ready = ready();
  if (is_ready != CUDA_SUCCESS) return static_cast<cudaError_t>(is_ready);
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto symbol = registry().variables.find(host);
  if (symbol == registry().variables.end()) return cudaErrorInvalidSymbol;
  CUmodule module;
  std::size_t bytes = 0;
  CUresult result = loaded(*symbol->second.image, &module);
  if (result == CUDA_SUCCESS) result = DRIVER(cuModuleGetGlobal(place, &bytes, module, symbol->second.name.c_str()));
  if (result == CUDA_SUCCESS && (offset > bytes || count > bytes - offset)) return cudaErrorInvalidValue;
  *place += offset;
  return static_cast<cudaError_t>(result);
}

// ---- Launch ------------------------------------------------------------------------------------------------------

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  CUstream stream;
};

// Between <<< >>> and the kernel's stub: a stack, because an argument of a launch may launch something itself.
thread_local std::vector<Configuration> configurations;

cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void** arguments, std::size_t shared, CUstream stream) {
  const CUresult result = DRIVER(cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                static_cast<unsigned>(shared), stream, arguments, nullptr));
  return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : static_cast<cudaError_t>(result);
}

}  // namespace

std::vector<std::string> mini::driver_calls() {
  const std::lock_guard<std::mutex> lock(log().mutex);
  return std::move(log().calls);
}

extern "C" {

// ---- Devices and errors ------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  if (devices().init != CUDA_SUCCESS) return kept(devices().init);
  return kept(DRIVER(cuDeviceGetCount(count)));
}

cudaError_t cudaSetDevice(int device) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return error;
  if (device < 0 || device >= count) return kept(cudaErrorInvalidDevice);
  chosen = device;
  return kept(ready());
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return kept(cudaErrorInvalidValue);
  *device = chosen;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() { ANSWER(cuCtxSynchronize()); }

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  if (!is_sticky(error)) last_error = cudaSuccess;
  return error;
}

const char* cudaGetErrorName(cudaError_t error) {
  for (const Text& text : kOwn) {
    if (text.error == error) return text.name;
  }
  const char* name = nullptr;
  return cuGetErrorName(static_cast<CUresult>(error), &name) == CUDA_SUCCESS ? name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  for (const Text& text : kOwn) {
    if (text.error == error) return text.meaning;
  }
  const char* meaning = nullptr;
  return cuGetErrorString(static_cast<CUresult>(error), &meaning) == CUDA_SUCCESS ? meaning : "unrecognized error code";
}

// ---- Memory ------------------------------------------------------------------------------------------------------

// As malloc does, and unlike cuMemAlloc, cudaMalloc takes zero bytes.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return kept(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return kept(ready());
  ANSWER(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(pointer), bytes));
}

cudaError_t cudaFree(void* pointer) { ANSWER(cuMemFree(address(pointer))); }

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { ANSWER(cuMemAllocHost(pointer, bytes)); }

cudaError_t cudaFreeHost(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  ANSWER(cuMemFreeHost(pointer));
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  ANSWER(cuMemsetD8(address(pointer), static_cast<unsigned char>(value), bytes));
}

// The runtime's copy is one function with a direction, the driver's is one function a direction.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice: ANSWER(cuMemcpyHtoD(address(to), from, bytes));
    case cudaMemcpyDeviceToHost: ANSWER(cuMemcpyDtoH(to, address(from), bytes));
    case cudaMemcpyDeviceToDevice: ANSWER(cuMemcpyDtoD(address(to), address(from), bytes));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: ANSWER(cuMemcpy(address(to), address(from), bytes));
  }
  return kept(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice: ANSWER(cuMemcpyHtoDAsync(address(to), from, bytes, stream));
    case cudaMemcpyDeviceToHost: ANSWER(cuMemcpyDtoHAsync(to, address(from), bytes, stream));
    case cudaMemcpyDeviceToDevice: ANSWER(cuMemcpyDtoDAsync(address(to), address(from), bytes, stream));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: ANSWER(cuMemcpyAsync(address(to), address(from), bytes, stream));
  }
  return kept(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  CUdeviceptr place = 0;
  const cudaError_t error = find_variable(symbol, bytes, offset, &place);
  return error != cudaSuccess ? kept(error) : cudaMemcpy(reinterpret_cast<void*>(place), from, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  CUdeviceptr place = 0;
  const cudaError_t error = find_variable(symbol, bytes, offset, &place);
  return error != cudaSuccess ? kept(error) : cudaMemcpy(to, reinterpret_cast<void*>(place), bytes, kind);
}

// ---- Streams and events: a cudaStream_t is a CUstream, and a cudaEvent_t a CUevent ---------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) { ANSWER(cuStreamCreate(stream, CU_STREAM_DEFAULT)); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { ANSWER(cuStreamDestroy(stream)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { ANSWER(cuStreamQuery(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { ANSWER(cuStreamSynchronize(stream)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  ANSWER(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { ANSWER(cuEventCreate(event, CU_EVENT_DEFAULT)); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { ANSWER(cuEventDestroy(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { ANSWER(cuEventRecord(event, stream)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { ANSWER(cuEventQuery(event)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { ANSWER(cuEventSynchronize(event)); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  ANSWER(cuEventElapsedTime(milliseconds, from, to));
}

// ---- What nvcc's code calls --------------------------------------------------------------------------------------

// Before main(), once a translation unit. The wrapper says where the fat binary lies, <fatbinary_section.h> how.
void** __cudaRegisterFatBinary(void* wrapper) {
  const void* fatbin = static_cast<const __fatBinC_Wrapper_t*>(wrapper)->data;
  return reinterpret_cast<void**>(new Image{fatbin, {}});
}

void __cudaRegisterFatBinaryEnd(void**) {}

// Of the parameters that are left out here, all concern the CUDA of before 2010.
void __cudaRegisterFunction(void** image, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  registry().kernels[host] = {reinterpret_cast<Image*>(image), name, {}};
}

void __cudaRegisterVar(void** image, char* host, char*, const char* name, int, std::size_t, int, int) {
  registry().variables[host] = {reinterpret_cast<Image*>(image), name, {}};
}

char __cudaInitModule(void**) { return 1; }

// After main(). The modules went with their contexts, if the driver itself has not gone.
void __cudaUnregisterFatBinary(void** image) { delete reinterpret_cast<Image*>(image); }

// kernel<<<grid, block, shared, stream>>>(…) becomes this call, and then one of the kernel's stub.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;  // anything else, and the stub is not called
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (configurations.empty()) return kept(cudaErrorInvalidConfiguration);
  const Configuration& top = configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<CUstream*>(stream) = top.stream;
  configurations.pop_back();
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  CUfunction function;
  const cudaError_t error = find_kernel(host, &function);
  return kept(error != cudaSuccess ? error : launch(function, grid, block, arguments, shared, stream));
}

#if CUDART_VERSION >= 12010
// Newer stubs ask for a handle once, before anything runs, and launch by it: the host's address will do for ours.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
#endif

}  // extern "C"
