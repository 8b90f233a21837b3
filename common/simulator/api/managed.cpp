// Unified memory (CUDA Driver API manual, "Memory Management", "Unified Addressing").
#include "common/simulator/state/memory/managed.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/streams/capture.hpp"

namespace cudasim {

namespace {

ManagedLocation from_number(CUdevice dev) {
  if (dev == CU_DEVICE_CPU) return {ManagedLocation::kHost, 0};
  device_at(dev);
  return {ManagedLocation::kDevice, dev};
}

ManagedLocation from_location(const CUmemLocation& location) {
  const int type = static_cast<int>(location.type);
  require(type >= ManagedLocation::kDevice && type <= ManagedLocation::kNumaHere);
  if (type == ManagedLocation::kDevice) device_at(location.id);
  require(type != ManagedLocation::kNuma || location.id == 0);  // the host's memory counts as one node
  return {type, type == ManagedLocation::kNumaHere || type == ManagedLocation::kHost ? 0 : location.id};
}

// Other advice ignores its location.
bool concerns_place(CUmem_advise what) {
  return what == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || what == CU_MEM_ADVISE_SET_ACCESSED_BY ||
         what == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

}  // namespace

#if CUDA_VERSION >= 13000

namespace {

// Checks the arrays of the batch calls, and calls `each` with pointer, size and the index of its location.
template <class Each>
CUresult batch(CUdeviceptr* pointers, size_t* sizes, size_t count, size_t* starts, size_t locations, bool with_places,
               unsigned long long flags, Each each) {
  require(pointers != nullptr && sizes != nullptr && count != 0 && flags == 0);
  require(!with_places || (starts != nullptr && locations != 0 && locations <= count && starts[0] == 0));
  for (size_t i = 1; with_places && i < locations; ++i) require(starts[i] > starts[i - 1] && starts[i] < count);
  for (size_t i = 0; i < count; ++i) require_managed(pointers[i], sizes[i]);
  for (size_t i = 0, place = 0; i < count; ++i) {
    while (with_places && place + 1 < locations && starts[place + 1] <= i) ++place;
    each(pointers[i], sizes[i], place);
  }
  return CUDA_SUCCESS;
}

CUresult prefetch_batch(CUdeviceptr* pointers, size_t* sizes, size_t count, CUmemLocation* places, size_t* starts,
                        size_t locations, unsigned long long flags, CUstream handle) {
  const auto stream = get_stream(handle);
  require(places != nullptr && !stream->legacy);
  return batch(pointers, sizes, count, starts, locations, true, flags,
               [&](CUdeviceptr pointer, size_t size, size_t place) {
                 prefetch_managed(pointer, size, from_location(places[place]), *stream);
               });
}

}  // namespace
#endif

CUresult driver::call_cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  const auto context = current_context();
  require(pointer != nullptr && bytes != 0 && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
  require_no_unsafe_capture();
  *pointer = allocate_managed(*context, bytes, flags);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPrefetchAsync(CUdeviceptr pointer, std::size_t count, CUdevice dev, CUstream handle) {
  const auto stream = get_stream(handle);
  return prefetch_managed(pointer, count, from_number(dev), *stream);
}

CUresult driver::call_cuMemPrefetchAsync_v2(CUdeviceptr pointer, std::size_t count, CUmemLocation location,
                                            unsigned flags, CUstream handle) {
  const auto stream = get_stream(handle);
  require(flags == 0);
  return prefetch_managed(pointer, count, from_location(location), *stream);
}

CUresult driver::call_cuMemAdvise(CUdeviceptr pointer, size_t count, CUmem_advise what, CUdevice dev) {
  const auto context = current_context();
  require_no_unsafe_capture();
  return advise_managed(pointer, count, what, concerns_place(what) ? from_number(dev) : ManagedLocation{});
}

CUresult driver::call_cuMemAdvise_v2(CUdeviceptr pointer, size_t count, CUmem_advise what, CUmemLocation location) {
  const auto context = current_context();
  require_no_unsafe_capture();
  if (!concerns_place(what)) return advise_managed(pointer, count, what, ManagedLocation{});
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) device_at(location.id, CUDA_ERROR_INVALID_VALUE);
  return advise_managed(pointer, count, what, from_location(location));
}

CUresult driver::call_cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute,
                                             CUdeviceptr pointer, size_t count) {
  const auto context = current_context();
  return managed_range_attribute(data, size, attribute, pointer, count);
}

CUresult driver::call_cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes,
                                              size_t attribute_count, CUdeviceptr pointer, size_t count) {
  const auto context = current_context();
  require(data != nullptr && sizes != nullptr && attributes != nullptr && attribute_count != 0);
  for (size_t i = 0; i < attribute_count; ++i) {
    const CUresult answer = managed_range_attribute(data[i], sizes[i], attributes[i], pointer, count);
    if (answer != CUDA_SUCCESS) return answer;
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, std::size_t length, unsigned flags) {
  const auto stream = get_stream(handle);
  require_not_captured(*stream);
  require_no_unsafe_capture();
  require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE);
  require(flags != CU_MEM_ATTACH_SINGLE || !stream->legacy);
  const auto allocation = AddressSpace::instance().find(pointer);
  require(allocation && allocation->kind == MemoryKind::managed && allocation->base == pointer);
  require(length == 0 || length == allocation->size);
  // Host and devices may touch managed memory at any time here (CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS), so
  // that the visibility asked for is there already; the call only takes its place in the stream.
  Operation operation;
  operation.label = "cuStreamAttachMemAsync";
  stream->enqueue(std::move(operation));
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000

CUresult driver::call_cuMemPrefetchBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count, CUmemLocation* places,
                                              size_t* starts, size_t locations, unsigned long long flags,
                                              CUstream stream) {
  return prefetch_batch(pointers, sizes, count, places, starts, locations, flags, stream);
}

// The contents are undefined afterwards, so they may stay as they are.
CUresult driver::call_cuMemDiscardBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count,
                                             unsigned long long flags, CUstream stream) {
  const auto discards = get_stream(stream);
  require(!discards->legacy);
  require_not_captured(*discards);
  return batch(pointers, sizes, count, nullptr, 0, false, flags, [](CUdeviceptr, size_t, size_t) {});
}

CUresult driver::call_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count,
                                                        CUmemLocation* places, size_t* starts, size_t locations,
                                                        unsigned long long flags, CUstream stream) {
  return prefetch_batch(pointers, sizes, count, places, starts, locations, flags, stream);
}
#endif

}  // namespace cudasim
