// Devices (CUDA Driver API manual, "Device Management", "Device Management [DEPRECATED]", the queries of "Peer Context
// Memory Access").
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/arrays.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cudasim {

namespace {

Device& initialized_device(CUdevice ordinal) {
  require_initialized();
  return device_at(ordinal);
}

int known(const Device& device, int attribute) { return attribute_value(device, attribute).value(); }

// Copies as much of `text` as fits, always with a terminator.
void copy_text(char* out, int size, const std::string& text) {
  const auto count = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
}

// "0000:00:06.0", "0000:00:06", "00:06.0", in hexadecimal. False for any other text.
bool parse_bus_id(const char* text, unsigned& domain, unsigned& bus, unsigned& slot) {
  unsigned function = 0;
  int end = 0;
  const auto whole = [&] { return end != 0 && text[end] == '\0'; };
  domain = 0;
  if (std::sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) == 4 && whole()) return true;
  end = 0;
  if (std::sscanf(text, "%x:%x:%x%n", &domain, &bus, &slot, &end) == 3 && whole()) return true;
  end = 0;
  domain = 0;
  return std::sscanf(text, "%x:%x.%x%n", &bus, &slot, &function, &end) == 3 && whole();
}

CUresult get_uuid(CUuuid* uuid, CUdevice dev) {
  const Device& device = initialized_device(dev);
  require(uuid != nullptr);
  *uuid = device.uuid;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuDeviceGetCount(int* count) {
  require_initialized();
  require(count != nullptr);
  *count = static_cast<int>(devices().size());
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGet(CUdevice* device, int ordinal) {
  require_initialized();
  require(device != nullptr);
  *device = device_at(ordinal).ordinal;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetName(char* name, int len, CUdevice dev) {
  initialized_device(dev);
  require(name != nullptr && len > 0);
  copy_text(name, len, kDeviceName);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) { return get_uuid(uuid, dev); }

CUresult driver::call_cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) { return get_uuid(uuid, dev); }

// A LUID is Windows' name for an adapter; other systems have no LUIDs.
CUresult driver::call_cuDeviceGetLuid(char* luid, unsigned int* deviceNodeMask, CUdevice dev) {
  initialized_device(dev);
  require(luid != nullptr && deviceNodeMask != nullptr);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult driver::call_cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  const Device& device = initialized_device(dev);
  require(bytes != nullptr);
  *bytes = device.memory;
  return CUDA_SUCCESS;
}

// The first version counts with 32 bits.
CUresult driver::call_cuDeviceTotalMem(unsigned int* bytes, CUdevice dev) {
  const Device& device = initialized_device(dev);
  require(bytes != nullptr);
  *bytes = static_cast<unsigned int>(std::min<u64>(device.memory, ~0u));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  const Device& device = initialized_device(dev);
  require(pi != nullptr);
  const auto value = attribute_value(device, attrib);
  require(value.has_value());
  *pi = *value;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, CUarray_format format,
                                                         unsigned numChannels, CUdevice dev) {
  const Device& device = initialized_device(dev);
  require(maxWidthInElements != nullptr);
  const u64 texel = u64{channel_bytes(format)} * numChannels;
  require((numChannels == 1 || numChannels == 2 || numChannels == 4) && texel != 0);
  // The attribute is that of the largest texels, of 16 bytes; of small ones an H200 takes up to 2^30.
  const u64 largest = known(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
  *maxWidthInElements = std::min(largest * 16 / texel, u64{1} << 30);
  return CUDA_SUCCESS;
}

// Execution affinity exists under MPS only, which is not simulated.
CUresult driver::call_cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType, CUdevice dev) {
  initialized_device(dev);
  require(pi != nullptr);
  *pi = 0;  // of whichever type
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  const Device& device = initialized_device(dev);
  require(prop != nullptr);
  prop->maxThreadsPerBlock = known(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (int i = 0; i < 3; ++i) {
    prop->maxThreadsDim[i] = known(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
    prop->maxGridSize[i] = known(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
  }
  prop->sharedMemPerBlock = known(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  prop->totalConstantMemory = known(device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  prop->SIMDWidth = known(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  prop->memPitch = known(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  prop->regsPerBlock = known(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  prop->clockRate = known(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  prop->textureAlign = known(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  const Device& device = initialized_device(dev);
  require(major != nullptr && minor != nullptr);
  *major = known(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  *minor = known(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
  constexpr int kLeast = 13;  // "0000:00:00.0"
  const Device& device = initialized_device(dev);
  require(pciBusId != nullptr && len >= kLeast);
  copy_text(pciBusId, len, device.bus_id);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
  require_initialized();
  require(dev != nullptr && pciBusId != nullptr);
  unsigned domain = 0, bus = 0, slot = 0;
  require(parse_bus_id(pciBusId, domain, bus, slot));
  for (const Device* device : devices()) {
    if (domain != 0 || bus != 0 || slot != kFirstPciDevice + device->index) continue;
    *dev = device->ordinal;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

// Every simulated device reaches every other one.
CUresult driver::call_cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  const Device& device = initialized_device(dev);
  const Device& peer = device_at(peerDev);
  require(canAccessPeer != nullptr);
  *canAccessPeer = &device != &peer ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                              CUdevice dstDevice) {
  const Device& source = initialized_device(srcDevice);
  require(value != nullptr);
  const Device& target = device_at(dstDevice);
  require(&source != &target, CUDA_ERROR_INVALID_DEVICE);
  constexpr int kPartialAtomics = 5;  // CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED, since 13.0
  switch (static_cast<int>(attrib)) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case kPartialAtomics: *value = 0; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

#if CUDA_VERSION >= 13000
namespace {

// No operation is atomic across PCI Express, to the host or between devices, as an H200 reports.
CUresult no_atomics(unsigned* capabilities, const CUatomicOperation* operations, unsigned count) {
  require(capabilities != nullptr && operations != nullptr && count != 0);
  require(std::all_of(operations, operations + count,
                      [](int one) { return one >= CU_ATOMIC_OPERATION_INTEGER_ADD && one < CU_ATOMIC_OPERATION_MAX; }));
  std::fill_n(capabilities, count, 0u);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                                        unsigned int count, CUdevice dev) {
  initialized_device(dev);
  return no_atomics(capabilities, operations, count);
}

CUresult driver::call_cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                                       unsigned int count, CUdevice source, CUdevice target) {
  require(&initialized_device(source) != &device_at(target), CUDA_ERROR_INVALID_DEVICE);
  return no_atomics(capabilities, operations, count);
}
#endif

}  // namespace cudasim
