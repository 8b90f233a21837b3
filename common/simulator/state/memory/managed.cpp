#include "common/simulator/state/memory/managed.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace cudasim {

namespace {

struct Advice {
  bool read_mostly = false;
  ManagedLocation preferred, prefetched;
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
    begin = begin / kHostPage * kHostPage;
    end = round_up(end, kHostPage);
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

}  // namespace

u64 allocate_managed(Context& context, u64 bytes, unsigned flags) {
  require_host_memory(bytes);
  const auto memory = std::make_shared<HostBytes>(bytes);
  const u64 begin = reinterpret_cast<u64>(memory->get());
  advice().forget(begin, begin + bytes);
  enter_host_memory(context, MemoryKind::managed, memory->get(), bytes, flags, "cuMemAllocManaged", memory);
  return begin;
}

void require_managed(CUdeviceptr pointer, std::size_t count) {
  require(count != 0);
  const auto allocation = AddressSpace::instance().find(pointer);
  require(allocation && allocation->kind == MemoryKind::managed);
  require(count <= allocation->size - (pointer - allocation->base));
}

CUresult advise_managed(CUdeviceptr pointer, std::size_t count, CUmem_advise what, ManagedLocation where) {
  require_managed(pointer, count);
  if (what == CU_MEM_ADVISE_SET_PREFERRED_LOCATION && where.number() == ManagedLocation::kCpu) {
    where = {ManagedLocation::kHost, ManagedLocation::kCpu};  // whichever node was named
  }
  const bool a_node = where.type == ManagedLocation::kNuma || where.type == ManagedLocation::kNumaHere;
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

CUresult prefetch_managed(CUdeviceptr pointer, std::size_t count, const ManagedLocation& where, Stream& stream) {
  require_managed(pointer, count);
  advice().change(pointer, pointer + count, [&](Advice& said) { said.prefetched = where; });
  Operation operation;
  operation.kind = OperationKind::copy;
  operation.label = "cuMemPrefetchAsync";
  stream.enqueue(std::move(operation));
  return CUDA_SUCCESS;
}

namespace {

// The location that all of the range has in common, none if it has several.
ManagedLocation common(CUdeviceptr pointer, std::size_t count, ManagedLocation Advice::* which) {
  ManagedLocation location;
  bool first = true, same = true;
  advice().each(pointer, pointer + count, [&](const Advice& said) {
    same = same && (first || said.*which == location);
    location = said.*which;
    first = false;
  });
  return same ? location : ManagedLocation{};
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
  const bool by_host = all.erase(ManagedLocation::kCpu) != 0;  // devices come first
  std::vector<int> listed(all.begin(), all.end());
  if (by_host) listed.push_back(ManagedLocation::kCpu);
  listed.resize(size / sizeof(int), ManagedLocation::kNone);
  std::memcpy(data, listed.data(), size);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult managed_range_attribute(void* data, std::size_t size, int attribute, CUdeviceptr pointer, std::size_t count) {
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

}  // namespace cudasim
