// Memory pools (CUDA Driver API manual, "Stream Ordered Memory Allocator").
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/graphs/stream_allocations.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <algorithm>

namespace cudasim {

namespace {

// The host, or its only memory node.
bool is_host(const CUmemLocation& location) {
  const int type = static_cast<int>(location.type);
  return type == 2 ||
         (type == 3 && location.id == 0);  // CU_MEM_LOCATION_TYPE_HOST, _HOST_NUMA: newer than some headers
}

// The place that properties or a location name. Throws CUDA_ERROR_INVALID_VALUE for places without pools.
PoolPlace place_of(const CUmemLocation& location, CUmemAllocationType type) {
  const int kind = static_cast<int>(type), where = static_cast<int>(location.type);
  constexpr int kManaged = 2;  // CU_MEM_ALLOCATION_TYPE_MANAGED: newer than some headers
  require(kind == CU_MEM_ALLOCATION_TYPE_PINNED || kind == kManaged);
  PoolPlace place{kind == kManaged, where, 0};
  if (is_host(location) || (place.managed && where == 0)) return place;
  require(where == CU_MEM_LOCATION_TYPE_DEVICE);
  place.id = location.id;
  return place;
}

void require_device_if_any(const PoolPlace& place, CUresult otherwise) {
  if (place.location == CU_MEM_LOCATION_TYPE_DEVICE) device_at(place.id, otherwise);
}

}  // namespace

CUresult driver::call_cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  return allocate_in_order(pointer, bytes, nullptr, stream);
}

CUresult driver::call_cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocate_in_order(pointer, bytes, &pool, stream);
}

CUresult driver::call_cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return free_in_stream_order(pointer, stream);
}

CUresult driver::call_cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice dev) {
  require_calls_permitted();
  require(pool != nullptr);
  *pool = default_pool(memory_of(device_at(dev)))->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  require_calls_permitted();
  require(pool != nullptr);
  const PoolPlace place = memory_of(device_at(dev, CUDA_ERROR_INVALID_VALUE));
  *pool = current_pool(place)->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  require_calls_permitted();
  const PoolPlace place = memory_of(device_at(dev, CUDA_ERROR_INVALID_VALUE));
  const auto wanted = get_pool(pool);
  require(wanted->place == place);
  set_current_pool(place, wanted);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  require_calls_permitted();
  require(pool != nullptr && properties != nullptr);
  const auto empty = [](unsigned char byte) { return byte == 0; };
  require(std::all_of(std::begin(properties->reserved), std::end(properties->reserved), empty));
  require_no_unsafe_capture();
  const PoolPlace place = place_of(properties->location, properties->allocType);
  require_device_if_any(place, CUDA_ERROR_INVALID_VALUE);
  Pool::Sharing sharing = Pool::Sharing::none;
  std::shared_ptr<SharedMemory> shared;
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    constexpr int kFabric = 8;  // CU_MEM_HANDLE_TYPE_FABRIC: taken, though nothing here could be exported by it
    const int handles = static_cast<int>(properties->handleTypes);
    require(place.on_device() && (handles == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || handles == kFabric));
    if (handles == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      sharing = Pool::Sharing::exported;
      shared = SharedMemory::make(SharedMemory::Purpose::pool, 1, &place.id, sizeof place.id);
    }
  }
  u64 max_size = 0;
#if CUDA_VERSION >= 12020
  max_size = properties->maxSize;
#endif
  Device& device = device_at(place.location == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : 0);
  *pool = make_pool(device, place, max_size, sharing, std::move(shared))->handle;
  return CUDA_SUCCESS;
}

// Its allocations stay valid until they are freed, and keep the pool alive.
CUresult driver::call_cuMemPoolDestroy(CUmemoryPool pool) {
  require_calls_permitted();
  const auto ended = get_pool(pool);
  require(!ended->is_default);
  require_no_unsafe_capture();
  pools().remove(pool);
  if (current_pool(ended->place) == ended) set_current_pool(ended->place, nullptr);
  ended->trim(0);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  require_calls_permitted();
  const auto trimmed = get_pool(pool);
  require_no_unsafe_capture();
  trimmed->trim(keep);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  require_calls_permitted();
  require(value != nullptr);
  get_pool(pool)->get(attribute, value);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  require_calls_permitted();
  require(value != nullptr);
  const auto changed = get_pool(pool);
  require_no_unsafe_capture();
  changed->set(attribute, value);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
  require_calls_permitted();
  require(map != nullptr || count == 0);
  const auto named = get_pool(pool);
  require_no_unsafe_capture();
  for (size_t i = 0; i < count; ++i) {
    const CUmemAccess_flags wanted = map[i].flags;
    require(wanted != CU_MEM_ACCESS_FLAGS_PROT_READ, CUDA_ERROR_NOT_SUPPORTED);
    require(wanted == CU_MEM_ACCESS_FLAGS_PROT_NONE || wanted == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (is_host(map[i].location)) {
      require(named->place.on_host(), CUDA_ERROR_NOT_SUPPORTED);  // whose own memory the host touches in any case
      continue;
    }
    require(map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    device_at(map[i].location.id);
    named->set_access(map[i].location.id, map[i].flags);
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  require_calls_permitted();
  require(flags != nullptr && location != nullptr);
  const auto named = get_pool(pool);
  if (is_host(*location)) {
    *flags = named->place.on_host() || named->place.managed ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                            : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  }
  require(location->type == CU_MEM_LOCATION_TYPE_DEVICE);
  device_at(location->id, CUDA_ERROR_INVALID_VALUE);
  *flags = named->access(location->id);
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000

namespace {

PoolPlace given_place(const CUmemLocation* location, CUmemAllocationType type) {
  require_calls_permitted();
  require(location != nullptr);
  require(location->type <= CU_MEM_LOCATION_TYPE_HOST_NUMA, CUDA_ERROR_NOT_SUPPORTED);
  const PoolPlace place = place_of(*location, type);
  require_device_if_any(place, CUDA_ERROR_INVALID_VALUE);
  return place;
}

}  // namespace

CUresult driver::call_cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  const PoolPlace place = given_place(location, type);
  require(pool != nullptr);
  *pool = default_pool(place)->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  const PoolPlace place = given_place(location, type);
  require(pool != nullptr);
  *pool = current_pool(place)->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  const PoolPlace place = given_place(location, type);
  const auto wanted = get_pool(pool);
  require(wanted->place == place);
  set_current_pool(place, wanted);
  return CUDA_SUCCESS;
}
#endif

}  // namespace cudasim
