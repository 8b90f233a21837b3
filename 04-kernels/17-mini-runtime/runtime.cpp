// A small CUDA runtime: the most used functions of <cuda_runtime_api.h>, written on top of the driver API.
//
//   first use          calls cuInit, retains the device's primary context and makes it current
//   errors             turns a CUresult into the cudaError_t of the same number, and remembers the last one
//   memory, streams,   make one driver call each
//   events
//   registration       remembers the images, kernels and variables that nvcc's host code announces before main()
//   launch             takes the configuration that <<< >>> stored, and launches
//
// The registration functions are declared in the toolkit's crt/host_runtime.h and crt/device_functions.h. No manual
// describes them; see the lesson's text. common/runtime is a complete runtime with the same structure.
#include "04-kernels/17-mini-runtime/runtime.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fatbinary_section.h>

#include <cstring>
#include <map>
#include <mutex>

namespace {

// ---- A log of driver calls ---------------------------------------------------------------------------------------

struct Log {
  std::mutex mutex;
  std::vector<std::string> calls;
};

// Static objects of other files may need this before main(), so it is created on first use.
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

// Remembers a failure for cudaGetLastError, and returns it. "Not ready" is not a failure.
cudaError_t kept(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

// Since CUDA 10.1, both APIs use the same numbers for the errors that they share.
cudaError_t kept(CUresult result) { return kept(static_cast<cudaError_t>(result)); }

// Errors that only the runtime has.
struct Text {
  cudaError_t error;
  const char *name, *meaning;
};
constexpr Text kOwn[] = {
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
};

// ---- First use ---------------------------------------------------------------------------------------------------

struct Devices {
  std::mutex mutex;
  CUresult init = DRIVER(cuInit(0));
  std::map<int, CUcontext> primary;  // of the devices that were used
};

Devices& devices() {
  static Devices devices;
  return devices;
}

thread_local int chosen = 0;

// Makes a context current for this thread. A context that the program has made current with the driver API stays.
CUresult ready() {
  thread_local CUcontext ours = nullptr;
  if (devices().init != CUDA_SUCCESS) return devices().init;
  CUcontext current;
  CUresult result = cuCtxGetCurrent(&current);  // before every call, so the log leaves it out
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

// Nearly every function of the runtime needs a context, and then makes one driver call. (DRIVER would log
// cuMemAlloc_v2, the name with which <cuda.h> replaces cuMemAlloc.)
#define RETURN_RESULT(call)                                                \
  do {                                                                     \
    const CUresult is_ready = ready();                                     \
    return kept(is_ready != CUDA_SUCCESS ? is_ready : noted(#call, call)); \
  } while (false)

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// ---- Registration ------------------------------------------------------------------------------------------------

// The image of one translation unit. Each context loads it when one of its kernels or variables is first used there.
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
  std::map<const void*, Symbol> kernels, variables;  // by the address that stands for them in host code
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

// Finds a kernel for the current context. `host` is the address of its stub.
cudaError_t find_kernel(const void* host, CUfunction* function) {
  const CUresult is_ready = ready();
  if (is_ready != CUDA_SUCCESS) return static_cast<cudaError_t>(is_ready);
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto symbol = registry().kernels.find(host);
  if (symbol == registry().kernels.end()) return cudaErrorInvalidResourceHandle;
  CUmodule module;
  CUresult result = loaded(*symbol->second.image, &module);
  if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  CUfunction& found = symbol->second.found[module];
  if (found == nullptr) result = DRIVER(cuModuleGetFunction(&found, module, symbol->second.name.c_str()));
  *function = found;
  return static_cast<cudaError_t>(result);
}

// Finds `count` bytes of a __device__ or __constant__ variable, beginning at `offset`.
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

// What <<< >>> stores for the kernel's stub. This is a stack, because computing an argument may launch another kernel.
thread_local std::vector<Configuration> configurations;

cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void** arguments, std::size_t shared, CUstream stream) {
  return static_cast<cudaError_t>(DRIVER(cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                        static_cast<unsigned>(shared), stream, arguments, nullptr)));
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

cudaError_t cudaDeviceSynchronize() { RETURN_RESULT(cuCtxSynchronize()); }

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
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

// Like malloc, and unlike cuMemAlloc, cudaMalloc accepts zero bytes.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return kept(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return kept(ready());
  RETURN_RESULT(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(pointer), bytes));
}

cudaError_t cudaFree(void* pointer) { RETURN_RESULT(cuMemFree(address(pointer))); }

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { RETURN_RESULT(cuMemAllocHost(pointer, bytes)); }

cudaError_t cudaFreeHost(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  RETURN_RESULT(cuMemFreeHost(pointer));
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  RETURN_RESULT(cuMemsetD8(address(pointer), static_cast<unsigned char>(value), bytes));
}

// The runtime has one function with a parameter for the direction; the driver has a function for each direction.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice: RETURN_RESULT(cuMemcpyHtoD(address(to), from, bytes));
    case cudaMemcpyDeviceToHost: RETURN_RESULT(cuMemcpyDtoH(to, address(from), bytes));
    case cudaMemcpyDeviceToDevice: RETURN_RESULT(cuMemcpyDtoD(address(to), address(from), bytes));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: RETURN_RESULT(cuMemcpy(address(to), address(from), bytes));
  }
  return kept(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice: RETURN_RESULT(cuMemcpyHtoDAsync(address(to), from, bytes, stream));
    case cudaMemcpyDeviceToHost: RETURN_RESULT(cuMemcpyDtoHAsync(to, address(from), bytes, stream));
    case cudaMemcpyDeviceToDevice: RETURN_RESULT(cuMemcpyDtoDAsync(address(to), address(from), bytes, stream));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: RETURN_RESULT(cuMemcpyAsync(address(to), address(from), bytes, stream));
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

cudaError_t cudaStreamCreate(cudaStream_t* stream) { RETURN_RESULT(cuStreamCreate(stream, CU_STREAM_DEFAULT)); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { RETURN_RESULT(cuStreamDestroy(stream)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { RETURN_RESULT(cuStreamQuery(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { RETURN_RESULT(cuStreamSynchronize(stream)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  RETURN_RESULT(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { RETURN_RESULT(cuEventCreate(event, CU_EVENT_DEFAULT)); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { RETURN_RESULT(cuEventDestroy(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { RETURN_RESULT(cuEventRecord(event, stream)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { RETURN_RESULT(cuEventQuery(event)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { RETURN_RESULT(cuEventSynchronize(event)); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  RETURN_RESULT(cuEventElapsedTime(milliseconds, from, to));
}

// ---- What nvcc's code calls --------------------------------------------------------------------------------------

// Called before main(), once for each translation unit. <fatbinary_section.h> declares the wrapper of the fat binary.
void** __cudaRegisterFatBinary(void* wrapper) {
  const void* fatbin = static_cast<const __fatBinC_Wrapper_t*>(wrapper)->data;
  return reinterpret_cast<void**>(new Image{fatbin, {}});
}

void __cudaRegisterFatBinaryEnd(void**) {}

// The parameters without a name are left over from early versions of CUDA.
void __cudaRegisterFunction(void** image, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  registry().kernels[host] = {reinterpret_cast<Image*>(image), name, {}};
}

void __cudaRegisterVar(void** image, char* host, char*, const char* name, int, std::size_t, int, int) {
  registry().variables[host] = {reinterpret_cast<Image*>(image), name, {}};
}

char __cudaInitModule(void**) { return 1; }

// Called after main(). The driver unloads modules together with their contexts.
void __cudaUnregisterFatBinary(void** image) { delete reinterpret_cast<Image*>(image); }

// kernel<<<grid, block, shared, stream>>>(arguments) becomes a call of this function, and then one of the stub.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;  // the stub is called only after a 0
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (configurations.empty()) return kept(cudaErrorMissingConfiguration);
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
// Newer stubs ask for a handle once, and then launch with it. Here, the handle is the stub's address.
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
