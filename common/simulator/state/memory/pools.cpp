#include "common/simulator/state/memory/pools.hpp"

#include "common/simulator/numbers.hpp"
#include "common/simulator/state/devices/driver.hpp"

#include <algorithm>
#include <unordered_map>

namespace cudasim {
namespace {

constexpr u64 kPoolUnit = 512;

struct AllPools {
  std::recursive_mutex mutex;
  struct Pair {
    std::shared_ptr<Pool> original, current;
  };
  std::map<PoolPlace, Pair> by_place;
  std::vector<std::weak_ptr<Pool>> all;
};

AllPools& all_pools() {
  static AllPools& only = *new AllPools;
  return only;
}

// Which pool an address belongs to.
struct Owners {
  std::mutex mutex;
  std::unordered_map<u64, std::shared_ptr<Pool>> by_base;
};

Owners& owners() {
  static Owners& only = *new Owners;
  return only;
}

}  // namespace

Registry<Pool, CUmemoryPool>& pools() {
  static auto& all = *new Registry<Pool, CUmemoryPool>;
  return all;
}

std::shared_ptr<Pool> get_pool(CUmemoryPool handle) { return pools().get(handle, CUDA_ERROR_INVALID_VALUE); }

std::shared_ptr<Pool> make_pool(Device& device, const PoolPlace& place, u64 max_size, Pool::Sharing sharing,
                                std::shared_ptr<SharedMemory> shared) {
  auto made = std::make_shared<Pool>(device, place, max_size, sharing, std::move(shared));
  made->handle = pools().add(made);
  AllPools& here = all_pools();
  const std::scoped_lock lock(here.mutex);
  std::erase_if(here.all, [](const auto& weak) { return weak.expired(); });
  here.all.push_back(made);
  return made;
}

std::shared_ptr<Pool> default_pool(const PoolPlace& place) {
  AllPools& here = all_pools();
  const std::scoped_lock lock(here.mutex);
  std::shared_ptr<Pool>& original = here.by_place[place].original;
  if (!original) {
    original = make_pool(device_at(place.location == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : 0), place, 0);
    original->is_default = true;
  }
  return original;
}

std::shared_ptr<Pool> current_pool(const PoolPlace& place) {
  auto original = default_pool(place);
  AllPools& here = all_pools();
  const std::scoped_lock lock(here.mutex);
  const auto& current = here.by_place[place].current;
  return current ? current : original;
}

void set_current_pool(const PoolPlace& place, std::shared_ptr<Pool> pool) {
  AllPools& here = all_pools();
  const std::scoped_lock lock(here.mutex);
  here.by_place[place].current = std::move(pool);
}

std::shared_ptr<Pool> pool_of(u64 base) {
  Owners& all = owners();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.by_base.find(base);
  return found == all.by_base.end() ? nullptr : found->second;
}

void trim_pools(Device& device) {
  AllPools& here = all_pools();
  std::vector<std::shared_ptr<Pool>> all;
  {
    const std::scoped_lock lock(here.mutex);
    for (const auto& weak : here.all) {
      if (auto pool = weak.lock(); pool && &pool->device == &device) all.push_back(std::move(pool));
    }
  }
  for (const auto& pool : all) pool->trim_to_threshold();
}

// The block that fits best: one whose free the device has come to, or one freed in the same stream and asked for again
// in the same size, so that the stream's order alone keeps the two uses apart.
Pool::Blocks::iterator Pool::reusable(const Stream& stream, u64 size) {
  auto best = blocks_.end();
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    const Block& candidate = block->second;
    if (candidate.in_use || candidate.capacity < size || candidate.capacity / 2 > std::max(size, kPoolUnit)) continue;
    const bool same_stream = candidate.stream == stream.id;
    const bool done = !candidate.freed || candidate.freed->done();
    if (done ? !same_stream && opportunistic_ == 0 : !same_stream || candidate.size != size) continue;
    if (best == blocks_.end() || candidate.capacity < best->second.capacity) best = block;
  }
  return best;
}

void Pool::hold(u64 bytes) {
  require(bytes <= device.memory || !place.on_device(), CUDA_ERROR_OUT_OF_MEMORY);
  held_ += bytes;
  try {
    if (!place.on_device()) require_host_memory(bytes);
    while (place.on_device() && pieces_.size() * kPiece < reserved())
      pieces_.push_back(std::make_unique<Share>(device, kPiece));
  } catch (const Failure&) {
    release(bytes);
    throw;
  }
  reserved_high_ = std::max(reserved_high_, reserved());
}

void Pool::release(u64 bytes) {
  held_ -= bytes;
  while (pieces_.size() * kPiece > reserved()) pieces_.pop_back();
}

Pool::Blocks::iterator Pool::make_block(u64 size) {
  const u64 capacity = round_up(size, kPoolUnit);
  const u64 most = round_up(max_size_, kPiece);  // in whole pieces, as driver 580 counts
  require(capacity >= size && (max_size_ == 0 || capacity <= most - std::min(most, held_)), CUDA_ERROR_OUT_OF_MEMORY);
  Block block;
  block.capacity = capacity;
  try {
    hold(capacity);
  } catch (const Failure&) {
    trim_locked(0);  // what this pool only keeps in reserve goes first
    hold(capacity);
  }
  try {
    if (sharing == Sharing::exported) {
      block.shared = SharedMemory::make(SharedMemory::Purpose::pool_block, capacity);
      block.host = block.shared->get();
      block.bytes = block.shared;
    } else {
      const auto bytes = std::make_shared<HostBytes>(capacity);
      block.host = bytes->get();
      block.bytes = bytes;
    }
  } catch (const Failure&) {
    release(capacity);
    throw;
  }
  const u64 address =
      place.on_device() ? AddressSpace::instance().reserve(capacity, kPoolUnit) : reinterpret_cast<u64>(block.host);
  return blocks_.emplace(address, std::move(block)).first;
}

void Pool::leave(Blocks::iterator block, const char* by) {
  if (block->second.entered) AddressSpace::instance().release(block->first, by);
  block->second.entered = false;
}

Pool::Blocks::iterator Pool::erase(Blocks::iterator block) {
  release(block->second.capacity);
  Owners& all = owners();
  const std::scoped_lock lock(all.mutex);
  all.by_base.erase(block->first);
  return blocks_.erase(block);
}

u64 Pool::allocate(Stream& stream, u64 size) {
  require(sharing != Sharing::imported);  // it only takes in what others have allocated
  const std::scoped_lock lock(mutex_);
  auto block = reusable(stream, size);
  if (block == blocks_.end()) block = make_block(size);
  return give_out(block, size);
}

std::pair<SharedMemory::Locator, u64> Pool::locate(u64 base) {
  const std::scoped_lock lock(mutex_);
  const auto block = blocks_.find(base);
  require(block != blocks_.end() && block->second.in_use && block->second.shared);
  return {block->second.shared->locator(), block->second.size};
}

u64 Pool::import(const SharedMemory::Locator& where, u64 size) {
  Block block;
  block.shared = SharedMemory::open(SharedMemory::Purpose::pool_block, where);
  require(size <= block.shared->size());
  block.host = block.shared->get();
  block.bytes = block.shared;
  const std::scoped_lock lock(mutex_);
  return give_out(blocks_.emplace(AddressSpace::instance().reserve(size, kPoolUnit), std::move(block)).first, size);
}

u64 Pool::give_out(Blocks::iterator block, u64 size) {
  Block& chosen = block->second;
  // A free that the stream has not come to yet is taken back; otherwise the address is entered anew.
  const bool pending = chosen.freed && !chosen.freed->done();
  if (!pending) leave(block, "cuMemFreeAsync");
  chosen.size = size;
  chosen.in_use = true;
  ++chosen.use;
  chosen.freed = nullptr;
  used_ += size;
  used_high_ = std::max(used_high_, used_);
  if (!chosen.entered) {
    auto made = std::make_shared<Allocation>();
    made->base = block->first;
    made->size = size;
    made->host = chosen.host;
    made->kind = place.managed ? MemoryKind::managed : place.on_host() ? MemoryKind::host_pinned : MemoryKind::pool;
    if (place.on_host()) made->device_readable = made->device_writable = !access_.empty();
    made->device = static_cast<u32>(device.ordinal);
    made->label = "cuMemAllocAsync";
    made->keep = chosen.bytes;
    AddressSpace::instance().enter(std::move(made));
    chosen.entered = true;
  }
  Owners& all = owners();
  const std::scoped_lock owners_lock(all.mutex);
  all.by_base[block->first] = shared_from_this();
  return block->first;
}

void Pool::begin_free(Block& block) {
  block.in_use = false;
  used_ -= block.size;
}

void Pool::free_in_order(u64 base, Stream& stream) {
  const std::scoped_lock lock(mutex_);
  const auto block = blocks_.find(base);
  require(block != blocks_.end() && block->second.in_use);
  Operation operation;
  operation.kind = OperationKind::allocation;
  operation.label = "cuMemFreeAsync";
  operation.run = [pool = shared_from_this(), base, use = block->second.use] {
    const std::scoped_lock task_lock(pool->mutex_);
    const auto freed = pool->blocks_.find(base);
    if (freed == pool->blocks_.end() || freed->second.use != use) return CUDA_SUCCESS;
    pool->leave(freed, "cuMemFreeAsync");
    if (pool->sharing == Sharing::imported) pool->erase(freed);
    return CUDA_SUCCESS;
  };
  block->second.freed = stream.enqueue(std::move(operation));
  block->second.stream = stream.id;
  begin_free(block->second);
}

void Pool::free_now(u64 base) {
  const std::scoped_lock lock(mutex_);
  const auto block = blocks_.find(base);
  require(block != blocks_.end() && block->second.in_use);
  begin_free(block->second);
  leave(block, "cuMemFree");
  block->second.freed = nullptr;
  block->second.stream = 0;
  if (sharing == Sharing::imported) erase(block);
}

void Pool::trim_locked(u64 keep) {
  for (auto block = blocks_.begin(); block != blocks_.end() && reserved() > keep;) {
    const Block& candidate = block->second;
    if (candidate.in_use || (candidate.freed && !candidate.freed->done())) {
      ++block;
      continue;
    }
    leave(block, "cuMemFreeAsync");
    block = erase(block);
  }
}

void Pool::trim(u64 keep) {
  const std::scoped_lock lock(mutex_);
  trim_locked(keep);
}

void Pool::trim_to_threshold() {
  const std::scoped_lock lock(mutex_);
  if (reserved() > release_threshold_) trim_locked(release_threshold_);
}

void Pool::get(CUmemPool_attribute attribute, void* value) {
  const std::scoped_lock lock(mutex_);
  const auto number = [value](int n) { *static_cast<int*>(value) = n; };
  const auto bytes = [value](u64 n) { *static_cast<cuuint64_t*>(value) = n; };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return number(follow_events_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return number(opportunistic_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return number(internal_dependencies_);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return bytes(release_threshold_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return bytes(reserved());
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return bytes(reserved_high_);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return bytes(used_);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return bytes(used_high_);
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

void Pool::set(CUmemPool_attribute attribute, const void* value) {
  const std::scoped_lock lock(mutex_);
  const auto flag = [value](int& into) { into = *static_cast<const int*>(value) != 0; };
  const cuuint64_t* const bytes = static_cast<const cuuint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return flag(follow_events_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return flag(opportunistic_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return flag(internal_dependencies_);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: release_threshold_ = *bytes; return;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:  // both can only be set back
      require(*bytes == 0);
      reserved_high_ = reserved();
      return;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      require(*bytes == 0);
      used_high_ = used_;
      return;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

CUmemAccess_flags Pool::access(CUdevice from) {
  if (place.managed || (place.on_device() && from == device.ordinal)) return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const std::scoped_lock lock(mutex_);
  const auto found = access_.find(from);
  return found == access_.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

void Pool::set_access(CUdevice from, CUmemAccess_flags flags) {
  // The device whose memory it is cannot be shut out.
  require(place.on_host() || from != device.ordinal || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
          CUDA_ERROR_INVALID_DEVICE);
  const std::scoped_lock lock(mutex_);
  if (flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
    access_.erase(from);
  } else {
    access_[from] = flags;
  }
  if (!place.on_host()) return;
  for (const auto& [base, block] : blocks_) {
    if (block.entered) AddressSpace::instance().protect(base, !access_.empty(), !access_.empty());
  }
}

}  // namespace cudasim
