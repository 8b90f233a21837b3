// Multicast objects: memory of several devices behind one address. They can be made, and devices can be added; but
// CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0, as it is for an H200 without the switch that does it: nothing can be
// bound to one.
#include "common/simulator/api/multicast.hpp"

#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/registry.hpp"

#include <mutex>
#include <set>

namespace cudasim {
namespace {

struct Multicast {
  u32 wanted = 0;  // devices
  std::mutex mutex;
  std::set<CUdevice> devices;
};

// By handle; CUmemGenericAllocationHandle is a number, and the registry deals in pointers.
Registry<Multicast, Multicast*>& multicasts() {
  static auto& all = *new Registry<Multicast, Multicast*>;
  return all;
}

Multicast* multicast_key(CUmemGenericAllocationHandle handle) { return reinterpret_cast<Multicast*>(handle); }

}  // namespace

bool release_multicast(CUmemGenericAllocationHandle handle) { return multicasts().remove(multicast_key(handle)) != nullptr; }

}  // namespace cudasim

#if CUDA_VERSION >= 12010
using namespace cudasim;

namespace {

constexpr u64 kMulticastGranularity = u64{2} << 20;
constexpr u32 kMostDevices = 63;

std::shared_ptr<Multicast> get_multicast(CUmemGenericAllocationHandle handle) {
  require_calls_permitted();
  return multicasts().get(multicast_key(handle), CUDA_ERROR_INVALID_VALUE);
}

// Memory comes when all devices are there; and then the devices cannot.
CUresult bind_memory(CUmemGenericAllocationHandle handle) {
  const auto object = get_multicast(handle);
  const std::scoped_lock lock(object->mutex);
  require(object->devices.size() == object->wanted, CUDA_ERROR_ILLEGAL_STATE);
  return refuse("binding memory to a multicast object", "CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0");
}

}  // namespace

CUDASIM_API CUresult cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* prop,
                                               CUmulticastGranularity_flags option) {
  return CUDASIM_CALL(granularity, prop, option) {
    require_calls_permitted();
    require(granularity != nullptr && prop != nullptr);
    require(option == CU_MULTICAST_GRANULARITY_MINIMUM || option == CU_MULTICAST_GRANULARITY_RECOMMENDED);
    *granularity = kMulticastGranularity;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuMulticastCreate(CUmemGenericAllocationHandle* mcHandle, const CUmulticastObjectProp* prop) {
  return CUDASIM_CALL(mcHandle, prop) {
    require_calls_permitted();
    require(mcHandle != nullptr && prop != nullptr);
    require(prop->numDevices >= 2 && prop->size != 0 && prop->size % kMulticastGranularity == 0 && prop->flags == 0);
    require(prop->numDevices <= kMostDevices, CUDA_ERROR_UNKNOWN);  // as driver 580 has it
    constexpr unsigned kFabric = 8;
    require((prop->handleTypes & kFabric) == 0, CUDA_ERROR_NOT_PERMITTED);
    require((prop->handleTypes & ~u64{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) == 0);
    const auto made = std::make_shared<Multicast>();
    made->wanted = prop->numDevices;
    *mcHandle = reinterpret_cast<CUmemGenericAllocationHandle>(multicasts().add(made));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev) {
  return CUDASIM_CALL(mcHandle, dev) {
    const auto object = get_multicast(mcHandle);
    require(dev >= 0 && static_cast<std::size_t>(dev) < devices().size());
    const std::scoped_lock lock(object->mutex);
    require(object->devices.size() < object->wanted && object->devices.insert(dev).second);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                                        CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                                        unsigned long long flags) {
  return CUDASIM_CALL(mcHandle, mcOffset, memHandle, memOffset, size, flags) { return bind_memory(mcHandle); };
}

CUDASIM_API CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr,
                                         size_t size, unsigned long long flags) {
  return CUDASIM_CALL(mcHandle, mcOffset, memptr, size, flags) { return bind_memory(mcHandle); };
}

CUDASIM_API CUresult cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
                                       size_t size) {
  return CUDASIM_CALL(mcHandle, dev, mcOffset, size) {
    get_multicast(mcHandle);
    return CUDA_ERROR_INVALID_VALUE;  // nothing is bound
  };
}
#endif
