// Starting the driver, the device and the context of each thread, and what can be asked of a device.
#include "common/runtime/devices.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace runtime {
namespace {

int devices = 0;  // a forked process can still be told, though its driver does not work any more

// Set by an exit handler, which the first call registers: exit handlers and destructors of static objects that were
// registered earlier run later than it, and find the runtime unloading. It never returns to false.
std::atomic<bool> unloading{false};

cudaError_t start() {
  if (!driver().found) return cudaErrorInsufficientDriver;
  const cudaError_t error = code(driver().cuInit(0));
  if (error != cudaSuccess) return error == cudaErrorStubLibrary ? cudaErrorInsufficientDriver : error;
  int version = 0;
  driver().cuDriverGetVersion(&version);
  if (version / 1000 < RUNTIME_MAJOR) return cudaErrorInsufficientDriver;
  return code(driver().cuDeviceGetCount(&devices));
}

// A device's primary context, once the runtime has retained it.
struct Primary {
  CUcontext context = nullptr;
  unsigned flags = 0;  // what cudaSetDeviceFlags asked for
};

struct Primaries {
  std::mutex mutex;
  std::vector<Primary> devices;
  // Counts cudaDeviceReset: a thread that was ready before is not ready any more.
  std::atomic<unsigned> resets{0};
};

Primaries& primaries() {
  static Primaries& all = *new Primaries;  // never destroyed: exit handlers may still call
  return all;
}

struct Thread {
  int device = -1;            // what cudaSetDevice has chosen; -1: nothing
  CUcontext ready = nullptr;  // was current and usable
  bool primary = false;       // it is one that we have retained
  unsigned resets = 0;
};
thread_local Thread self;

// Retains the primary context of a device, and makes it current.
cudaError_t use_primary(int device) {
  Primaries& all = primaries();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.devices.size() <= static_cast<std::size_t>(device)) all.devices.resize(device + 1);
  Primary& primary = all.devices[device];
  if (primary.context == nullptr) {
    CUcontext context = nullptr;
    const cudaError_t error = code(driver().cuDevicePrimaryCtxRetain(&context, device));
    // After a kernel's fault, a process gets no new context, not even after a reset.
    if (error >= cudaErrorIllegalAddress && error < cudaErrorNotPermitted) return cudaErrorDevicesUnavailable;
    if (error != cudaSuccess) return error;
    primary.context = context;
  }
  const cudaError_t error = code(driver().cuCtxSetCurrent(primary.context));
  if (error != cudaSuccess) return error;
  self.ready = primary.context;
  self.primary = true;
  self.resets = all.resets.load(std::memory_order_relaxed);
  return cudaSuccess;
}

// The device whose primary context this is, or -1.
int device_of(CUcontext context) {
  Primaries& all = primaries();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    if (all.devices[i].context == context) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

cudaError_t known_driver() {
  static const cudaError_t result = [] {
    std::atexit([] { unloading = true; });
    return start();
  }();
  return result;
}

cudaError_t started() {
  if (unloading.load(std::memory_order_relaxed)) return cudaErrorCudartUnloading;
  return known_driver();
}

int device_count() { return known_driver() == cudaSuccess ? devices : 0; }

cudaError_t ready() {
  const cudaError_t error = started();
  if (error != cudaSuccess) return error;
  CUcontext current = nullptr;
  const cudaError_t known = code(driver().cuCtxGetCurrent(&current));
  if (known != cudaSuccess) return known;
  const unsigned resets = primaries().resets.load(std::memory_order_relaxed);
  if (current != nullptr && current == self.ready && self.resets == resets) return cudaSuccess;
  if (current == nullptr) return use_primary(self.device < 0 ? 0 : self.device);
  if (self.resets != resets && current == self.ready) return use_primary(current_device());
  // The program has made this context current with the driver API. A primary context may be inactive, if the program
  // holds its handle only.
  self.ready = current;
  self.primary = device_of(current) >= 0;
  self.resets = resets;
  return cudaSuccess;
}

Place place() { return {self.primary ? self.ready : nullptr, self.resets}; }

int current_device() {
  CUcontext current = nullptr;
  if (started() != cudaSuccess || driver().cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == nullptr) {
    return self.device < 0 ? 0 : self.device;
  }
  CUdevice device = 0;
  if (driver().cuCtxGetDevice(&device) == CUDA_SUCCESS) return device;
  const int known = device_of(current);
  return known >= 0 ? known : self.device < 0 ? 0 : self.device;
}

cudaError_t in_primary(int device, const std::function<CUresult()>& call) {
  if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
  CUcontext before = nullptr;
  driver().cuCtxGetCurrent(&before);
  cudaError_t error = use_primary(device);
  if (error == cudaSuccess) error = code(call());
  driver().cuCtxSetCurrent(before);
  return error;
}

CUcontext primary_context(int device) {
  Primaries& all = primaries();
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (all.devices.size() > static_cast<std::size_t>(device) && all.devices[device].context != nullptr) {
      return all.devices[device].context;
    }
  }
  CUcontext before = nullptr;
  driver().cuCtxGetCurrent(&before);
  const bool good = use_primary(device) == cudaSuccess;
  driver().cuCtxSetCurrent(before);
  if (!good) return nullptr;
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.devices[device].context;
}

}  // namespace runtime

using namespace runtime;

extern "C" {

// ---- Choosing a device ---------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  RUNTIME_REQUIRE(count != nullptr, cudaErrorInvalidValue);
  *count = 0;
  RUNTIME_TRY(known_driver());
  *count = device_count();
  RUNTIME_REQUIRE(*count > 0, cudaErrorNoDevice);
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  RUNTIME_TRY(started());
  RUNTIME_REQUIRE(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
  self.device = device;
  return kept(use_primary(device));
}

cudaError_t cudaInitDevice(int device, unsigned flags, unsigned usage) {
  RUNTIME_TRY(started());
  RUNTIME_REQUIRE(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
  RUNTIME_REQUIRE((usage & ~1u) == 0, cudaErrorInvalidValue);  // cudaInitDeviceFlagsAreValid
  if ((usage & 1u) != 0) RUNTIME_TRY(driver().cuDevicePrimaryCtxSetFlags(device, flags & ~unsigned{cudaDeviceMapHost}));
  return kept(primary_context(device) != nullptr ? cudaSuccess : cudaErrorUnknown);
}

cudaError_t cudaGetDevice(int* device) {
  RUNTIME_REQUIRE(device != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
  RUNTIME_REQUIRE(device_count() > 0, cudaErrorNoDevice);
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  RUNTIME_TRY(started());
  RUNTIME_REQUIRE(count >= 0 && count <= device_count(), cudaErrorInvalidValue);
  RUNTIME_REQUIRE(devices != nullptr || count == 0, cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i)
    RUNTIME_REQUIRE(devices[i] >= 0 && devices[i] < device_count(), cudaErrorInvalidDevice);
  if (count > 0 && self.device < 0) self.device = devices[0];
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  RUNTIME_TRY(started());
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  RUNTIME_REQUIRE((flags & ~unsigned{cudaDeviceMask}) == 0 && (schedule & (schedule - 1)) == 0, cudaErrorInvalidValue);
  // Host memory can always be mapped, so the driver has no such flag to set.
  return kept(driver().cuDevicePrimaryCtxSetFlags(current_device(), flags & ~unsigned{cudaDeviceMapHost}));
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  RUNTIME_REQUIRE(flags != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
  CUcontext current = nullptr;
  driver().cuCtxGetCurrent(&current);
  if (current != nullptr) {
    RUNTIME_TRY(driver().cuCtxGetFlags(flags));
  } else {
    int active = 0;
    RUNTIME_TRY(driver().cuDevicePrimaryCtxGetState(current_device(), flags, &active));
  }
  *flags |= cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaDeviceReset() {
  RUNTIME_TRY(started());
  const int device = current_device();
  Primaries& all = primaries();
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    CUcontext current = nullptr;
    driver().cuCtxGetCurrent(&current);
    Primary* primary = all.devices.size() > static_cast<std::size_t>(device) ? &all.devices[device] : nullptr;
    if (primary != nullptr && primary->context != nullptr) {
      driver().cuDevicePrimaryCtxRelease(device);
      if (current == primary->context) driver().cuCtxSetCurrent(nullptr);
      primary->context = nullptr;
    }
    ++all.resets;
  }
  forget_contexts();
  return kept(driver().cuDevicePrimaryCtxReset(device));
}

cudaError_t cudaDeviceSynchronize() { RUNTIME_CALL(cuCtxSynchronize()); }

// ---- What a device is ----------------------------------------------------------------------------------------------

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  RUNTIME_REQUIRE(value != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
  RUNTIME_REQUIRE(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
  // Both APIs number them alike.
  return kept(driver().cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device));
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  RUNTIME_REQUIRE(device != nullptr && wanted != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
  int best = 0, best_score = -1;
  for (int i = 0; i < device_count(); ++i) {
    cudaDeviceProp has;
    RUNTIME_TRY(device_properties(&has, i));
    const int score = (has.major == wanted->major) + (has.minor == wanted->minor) +
                      (has.totalGlobalMem >= wanted->totalGlobalMem) +
                      (has.multiProcessorCount >= wanted->multiProcessorCount);
    if (score > best_score) best = i, best_score = score;
  }
  *device = best;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* name) {
  RUNTIME_REQUIRE(device != nullptr && name != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceGetByPCIBusId(device, name));
}

cudaError_t cudaDeviceGetPCIBusId(char* name, int size, int device) {
  RUNTIME_REQUIRE(name != nullptr && size > 0, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceGetPCIBusId(name, size, device));
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc* desc, int device) {
  RUNTIME_REQUIRE(width != nullptr && desc != nullptr, cudaErrorInvalidValue);
  RUNTIME_TRY(started());
  Format format;
  RUNTIME_TRY(driver_format(*desc, &format));
  RUNTIME_TRY(ready());
  return kept(driver().cuDeviceGetTexture1DLinearMaxWidth(width, format.format, format.channels, device));
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  RUNTIME_TRY(started());
  RUNTIME_REQUIRE(value != nullptr, cudaErrorInvalidValue);
  RUNTIME_REQUIRE(from >= 0 && from < device_count() && to >= 0 && to < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute), from, to));
}

cudaError_t cudaDeviceGetNvSciSyncAttributes(void* list, int device, int flags) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceGetNvSciSyncAttributes(list, device, flags));
}

#if RUNTIME_MAJOR >= 13
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities, const cudaAtomicOperation* operations,
                                                unsigned count, int device) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceGetHostAtomicCapabilities(
      capabilities, reinterpret_cast<const CUatomicOperation*>(operations), count, device));
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities, const cudaAtomicOperation* operations,
                                               unsigned count, int from, int to) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceGetP2PAtomicCapabilities(
      capabilities, reinterpret_cast<const CUatomicOperation*>(operations), count, from, to));
}
#endif

// ---- Settings of the current device --------------------------------------------------------------------------------

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  RUNTIME_CALL(cuCtxSetLimit(static_cast<CUlimit>(limit), value));
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  RUNTIME_REQUIRE(value != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuCtxGetLimit(value, static_cast<CUlimit>(limit)));
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  RUNTIME_REQUIRE(config != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuCtxGetCacheConfig(reinterpret_cast<CUfunc_cache*>(config)));
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  RUNTIME_CALL(cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)));
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  RUNTIME_REQUIRE(config != nullptr, cudaErrorInvalidValue);
  RUNTIME_CALL(cuCtxGetSharedMemConfig(reinterpret_cast<CUsharedconfig*>(config)));
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  RUNTIME_CALL(cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config)));
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  RUNTIME_CALL(cuCtxGetStreamPriorityRange(least, greatest));
}
cudaError_t cudaCtxResetPersistingL2Cache() { RUNTIME_CALL(cuCtxResetPersistingL2Cache()); }

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                               cudaFlushGPUDirectRDMAWritesScope scope) {
  RUNTIME_CALL(cuFlushGPUDirectRDMAWrites(static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                                          static_cast<CUflushGPUDirectRDMAWritesScope>(scope)));
}

cudaError_t cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callback, void* data,
                                                cudaAsyncCallbackHandle_t* handle) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceRegisterAsyncNotification(device, reinterpret_cast<CUasyncCallback>(callback), data,
                                                         reinterpret_cast<CUasyncCallbackHandle*>(handle)));
}
cudaError_t cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t handle) {
  RUNTIME_TRY(started());
  return kept(driver().cuDeviceUnregisterAsyncNotification(device, reinterpret_cast<CUasyncCallbackHandle>(handle)));
}

// ---- Peers ---------------------------------------------------------------------------------------------------------

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  RUNTIME_TRY(started());
  RUNTIME_REQUIRE(can != nullptr, cudaErrorInvalidValue);
  RUNTIME_REQUIRE(device >= 0 && device < device_count() && peer >= 0 && peer < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuDeviceCanAccessPeer(can, device, peer));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(peer >= 0 && peer < device_count(), cudaErrorInvalidDevice);
  RUNTIME_REQUIRE(peer != current_device(), cudaErrorPeerAccessUnsupported);
  return kept(driver().cuCtxEnablePeerAccess(primary_context(peer), flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  RUNTIME_TRY(ready());
  RUNTIME_REQUIRE(peer >= 0 && peer < device_count(), cudaErrorInvalidDevice);
  return kept(driver().cuCtxDisablePeerAccess(primary_context(peer)));
}

// ---- Versions and the profiler -------------------------------------------------------------------------------------

cudaError_t cudaDriverGetVersion(int* version) {
  RUNTIME_REQUIRE(version != nullptr, cudaErrorInvalidValue);
  *version = 0;
  return driver().found ? kept(driver().cuDriverGetVersion(version)) : cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  RUNTIME_REQUIRE(version != nullptr, cudaErrorInvalidValue);
  *version = RUNTIME_MAJOR == 12 ? 12090 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() { RUNTIME_CALL(cuProfilerStart()); }
cudaError_t cudaProfilerStop() { RUNTIME_CALL(cuProfilerStop()); }

}  // extern "C"
