// Unified memory: one pointer for host and devices. The simulated device reads and writes the host's bytes in place, so
// prefetching and advice move nothing; what was said is kept, and can be asked for.
#include "common/simulator/api/call.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/allocations.hpp"
#include "common/simulator/state/capture.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace cudasim {
namespace {

constexpr u64 kPage = 4096;

// A place as cuMemAdvise and its kin name it. The numbers are CUmemLocationType's and CUdevice's.
struct Location {
  int type = 0;  // 0: none
  int id = kNone;
  enum : int { kDevice = 1, kHost = 2, kNuma = 3, kNumaHere = 4 };
  static constexpr int kCpu = -1, kNone = -2;
  // As a device number, the older way to write it.
  int number() const { return type == kDevice ? id : type == 0 ? kNone : kCpu; }
  bool operator==(const Location& other) const { return type == other.type && id == other.id; }
};

struct Advice {
  bool read_mostly = false;
  Location preferred, prefetched;
  std::set<int> accessed_by;  // device numbers; -1: the host
};

// What was said about stretches of managed memory: a stretch goes from its key to the next one.
class AdviceMap {
 public:
  void forget(u64 begin, u64 end) {
    const std::scoped_lock lock(mutex_);
    split(begin);
    split(end);
    map_.erase(map_.lower_bound(begin), map_.lower_bound(end));
    map_[begin];
  }

  template <class Change>
  void change(u64 begin, u64 end, Change change) {
    begin = begin / kPage * kPage;
    end = round_up(end, kPage);
    const std::scoped_lock lock(mutex_);
    split(begin);
    split(end);
    for (auto at = map_.lower_bound(begin); at != map_.lower_bound(end); ++at) change(at->second);
  }

  // Calls `look` with the advice of each stretch in [begin, end).
  template <class Look>
  void each(u64 begin, u64 end, Look look) {
    const std::scoped_lock lock(mutex_);
    split(begin);
    for (auto at = map_.lower_bound(begin); at != map_.lower_bound(end); ++at) look(at->second);
  }

 private:
  void split(u64 at) {
    auto next = map_.upper_bound(at);
    if (next == map_.begin()) {
      map_[at];
      return;
    }
    const Advice before = std::prev(next)->second;
    map_.emplace(at, before);
  }
  std::mutex mutex_;
  std::map<u64, Advice> map_;
};

AdviceMap& advice() {
  static AdviceMap& only = *new AdviceMap;
  return only;
}

// Throws CUDA_ERROR_INVALID_VALUE unless the range is managed memory.
void require_managed(CUdeviceptr pointer, std::size_t count) {
  require(count != 0);
  const auto allocation = AddressSpace::instance().find(pointer);
  require(allocation && allocation->kind == MemoryKind::managed);
  require(count <= allocation->size - (pointer - allocation->base));
}

Location from_number(CUdevice dev) {
  if (dev == CU_DEVICE_CPU) return {Location::kHost, 0};
  device_at(dev);
  return {Location::kDevice, dev};
}

Location from_location(const CUmemLocation& location) {
  const int type = static_cast<int>(location.type);
  require(type >= Location::kDevice && type <= Location::kNumaHere);
  if (type == Location::kDevice) device_at(location.id);
  require(type != Location::kNuma || location.id == 0);  // the host's memory counts as one node
  return {type, type == Location::kNumaHere || type == Location::kHost ? 0 : location.id};
}

CUresult advise(CUdeviceptr pointer, std::size_t count, CUmem_advise what, Location where) {
  require_managed(pointer, count);
  if (what == CU_MEM_ADVISE_SET_PREFERRED_LOCATION && where.number() == Location::kCpu) {
    where = {Location::kHost, Location::kCpu};  // whichever node was named
  }
  const bool a_node = where.type == Location::kNuma || where.type == Location::kNumaHere;
  require(!a_node || what != CU_MEM_ADVISE_SET_ACCESSED_BY);
  advice().change(pointer, pointer + count, [&](Advice& said) {
    switch (what) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY: said.read_mostly = true; break;
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY: said.read_mostly = false; break;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: said.preferred = where; break;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: said.preferred = {}; break;
      case CU_MEM_ADVISE_SET_ACCESSED_BY: said.accessed_by.insert(where.number()); break;
      case CU_MEM_ADVISE_UNSET_ACCESSED_BY: said.accessed_by.erase(where.number()); break;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  });
  return CUDA_SUCCESS;
}

// Advice that does not concern a place ignores the one it is given.
bool concerns_place(CUmem_advise what) {
  return what == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || what == CU_MEM_ADVISE_SET_ACCESSED_BY ||
         what == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

CUresult prefetch(CUdeviceptr pointer, std::size_t count, const Location& where, Stream& stream) {
  require_managed(pointer, count);
  advice().change(pointer, pointer + count, [&](Advice& said) { said.prefetched = where; });
  Operation operation;
  operation.kind = OperationKind::copy;
  operation.label = "cuMemPrefetchAsync";
  stream.enqueue(std::move(operation));
  return CUDA_SUCCESS;
}

// The location that all of the range has in common, none if it has several.
Location common(CUdeviceptr pointer, std::size_t count, Location Advice::*which) {
  Location location;
  bool first = true, same = true;
  advice().each(pointer, pointer + count, [&](const Advice& said) {
    same = same && (first || said.*which == location);
    location = said.*which;
    first = false;
  });
  return same ? location : Location{};
}

CUresult store_number(void* data, std::size_t size, int number) {
  require(size == sizeof number);
  std::memcpy(data, &number, sizeof number);
  return CUDA_SUCCESS;
}

// The devices that all of the range has been said to be accessed by; unused places hold "no device".
CUresult store_devices(void* data, std::size_t size, CUdeviceptr pointer, std::size_t count) {
  require(size != 0 && size % sizeof(int) == 0);
  std::set<int> all;
  bool first = true;
  advice().each(pointer, pointer + count, [&](const Advice& said) {
    if (first) all = said.accessed_by;
    std::set<int> both;
    std::set_intersection(all.begin(), all.end(), said.accessed_by.begin(), said.accessed_by.end(),
                          std::inserter(both, both.end()));
    all = std::move(both);
    first = false;
  });
  const bool by_host = all.erase(Location::kCpu) != 0;  // devices come first
  std::vector<int> listed(all.begin(), all.end());
  if (by_host) listed.push_back(Location::kCpu);
  listed.resize(size / sizeof(int), Location::kNone);
  std::memcpy(data, listed.data(), size);
  return CUDA_SUCCESS;
}

CUresult range_attribute(void* data, std::size_t size, int attribute, CUdeviceptr pointer, std::size_t count) {
  // CUmem_range_attribute; the last four are newer than the oldest headers that this compiles with.
  enum {
    kReadMostly = 1,
    kPreferred,
    kAccessedBy,
    kPrefetched,
    kPreferredType,
    kPreferredId,
    kPrefetchedType,
    kPrefetchedId
  };
  require(data != nullptr);
  require_managed(pointer, count);
  switch (attribute) {
    case kReadMostly: {
      bool all = true;
      advice().each(pointer, pointer + count, [&](const Advice& said) { all = all && said.read_mostly; });
      return store_number(data, size, all);
    }
    case kPreferred: return store_number(data, size, common(pointer, count, &Advice::preferred).number());
    case kAccessedBy: return store_devices(data, size, pointer, count);
    case kPrefetched: return store_number(data, size, common(pointer, count, &Advice::prefetched).number());
    case kPreferredType: return store_number(data, size, common(pointer, count, &Advice::preferred).type);
    case kPreferredId: return store_number(data, size, common(pointer, count, &Advice::preferred).id);
    case kPrefetchedType: return store_number(data, size, common(pointer, count, &Advice::prefetched).type);
    case kPrefetchedId: return store_number(data, size, common(pointer, count, &Advice::prefetched).id);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

#if CUDA_VERSION >= 13000
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
                 prefetch(pointer, size, from_location(places[place]), *stream);
               });
}

#endif

}  // namespace

CUresult driver::call_cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  const auto context = current_context();
  require(pointer != nullptr && bytes != 0 && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
  require_no_unsafe_capture();
  require_host_memory(bytes);
  const auto memory = std::make_shared<HostBytes>(bytes);
  advice().forget(reinterpret_cast<u64>(memory->get()), reinterpret_cast<u64>(memory->get()) + bytes);
  enter_host_memory(*context, MemoryKind::managed, memory->get(), bytes, flags, "cuMemAllocManaged", memory);
  *pointer = reinterpret_cast<CUdeviceptr>(memory->get());
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPrefetchAsync(CUdeviceptr pointer, std::size_t count, CUdevice dev, CUstream handle) {
  const auto stream = get_stream(handle);
  return prefetch(pointer, count, from_number(dev), *stream);
}

CUresult driver::call_cuMemPrefetchAsync_v2(CUdeviceptr pointer, std::size_t count, CUmemLocation location,
                                            unsigned flags, CUstream handle) {
  const auto stream = get_stream(handle);
  require(flags == 0);
  return prefetch(pointer, count, from_location(location), *stream);
}

CUresult driver::call_cuMemAdvise(CUdeviceptr pointer, size_t count, CUmem_advise what, CUdevice dev) {
  const auto context = current_context();
  return advise(pointer, count, what, concerns_place(what) ? from_number(dev) : Location{});
}

CUresult driver::call_cuMemAdvise_v2(CUdeviceptr pointer, size_t count, CUmem_advise what, CUmemLocation location) {
  const auto context = current_context();
  if (!concerns_place(what)) return advise(pointer, count, what, Location{});
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) device_at(location.id, CUDA_ERROR_INVALID_VALUE);
  return advise(pointer, count, what, from_location(location));
}

CUresult driver::call_cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute,
                                             CUdeviceptr pointer, size_t count) {
  const auto context = current_context();
  return range_attribute(data, size, attribute, pointer, count);
}

CUresult driver::call_cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes,
                                              size_t attribute_count, CUdeviceptr pointer, size_t count) {
  const auto context = current_context();
  require(data != nullptr && sizes != nullptr && attributes != nullptr && attribute_count != 0);
  for (size_t i = 0; i < attribute_count; ++i) {
    const CUresult answer = range_attribute(data[i], sizes[i], attributes[i], pointer, count);
    if (answer != CUDA_SUCCESS) return answer;
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, std::size_t length, unsigned flags) {
  const auto stream = get_stream(handle);
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

// The contents may be anything afterwards, also what they were.
CUresult driver::call_cuMemDiscardBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count,
                                             unsigned long long flags, CUstream stream) {
  require(!get_stream(stream)->legacy);
  return batch(pointers, sizes, count, nullptr, 0, false, flags, [](CUdeviceptr, size_t, size_t) {});
}

CUresult driver::call_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count,
                                                        CUmemLocation* places, size_t* starts, size_t locations,
                                                        unsigned long long flags, CUstream stream) {
  return prefetch_batch(pointers, sizes, count, places, starts, locations, flags, stream);
}

#endif

}  // namespace cudasim
