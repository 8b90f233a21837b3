#include "common/simulator/state/memory/sharing.hpp"

#include "common/simulator/state/processes/checkpoint.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace cudasim {

namespace {

// Allocations that have been given a handle: their bytes are in memory that can be opened from elsewhere.
struct Exports {
  std::mutex mutex;
  std::map<u64, std::weak_ptr<SharedMemory>> by_base;
};

Exports& exported_memory() {
  static Exports& only = *new Exports;
  return only;
}

}  // namespace

std::shared_ptr<SharedMemory> shared_bytes(const Allocation& allocation, Context& owner) {
  Exports& all = exported_memory();
  const std::scoped_lock lock(all.mutex);
  std::weak_ptr<SharedMemory>& known = all.by_base[allocation.base];
  if (auto memory = known.lock()) return memory;
  std::erase_if(all.by_base, [&](const auto& one) { return one.first != allocation.base && one.second.expired(); });
  auto memory = SharedMemory::make(SharedMemory::Purpose::allocation, allocation.size);
  memory->count_on(owner.device.index, in_units_of_shares(allocation.size), true);
  owner.synchronize();  // whatever may be writing while the bytes move
  require(AddressSpace::instance().rehome(allocation.base, memory->get(), memory));
  known = memory;
  return memory;
}

std::shared_ptr<SharedMemory> describable(const Allocation& allocation) {
  constexpr const char* kCall = "cuMemGetHandleForAddressRange";
  if (allocation.kind == MemoryKind::virtual_mapping) {
    auto memory = shared_memory_at(allocation.base);
    if (!memory) fail(refuse(kCall, "for memory that cuMemCreate did not make shareable"));
    return memory;
  }
  const auto owner = owner_of(allocation);
  require(allocation.kind == MemoryKind::device && owner != nullptr);
  if (allocation.flags != 0) fail(refuse(kCall, "for memory from another process"));
  return shared_bytes(allocation, *owner);
}

u64 open_shared_memory(Context& context, const MemoryHandle& handle, unsigned flags) {
  OpenedMemory& all = context.opened_memory;
  const std::scoped_lock lock(all.mutex);
  const auto known = all.by_serial.find(handle.where.serial);
  if (known != all.by_serial.end()) {
    ++known->second.count;
    return known->second.base;
  }
  const auto memory = SharedMemory::open(SharedMemory::Purpose::allocation, handle.where);
  memory->count_on(context.device.index, in_units_of_shares(handle.size), false);
  const u64 base = enter_shared_memory(context, memory->get(), handle.size, flags, "cuIpcOpenMemHandle", memory)->base;
  all.by_serial[handle.where.serial] = {base, 1};
  count_opened(1);
  return base;
}

bool close_shared_memory(Context& context, u64 address) {
  OpenedMemory& all = context.opened_memory;
  const std::scoped_lock lock(all.mutex);
  const auto import = std::find_if(all.by_serial.begin(), all.by_serial.end(),
                                   [&](const auto& each) { return each.second.base == address; });
  if (import == all.by_serial.end()) return false;
  if (--import->second.count != 0) return true;
  all.by_serial.erase(import);
  count_opened(-1);
  context.synchronize();
  end_allocation(address, "cuIpcCloseMemHandle");
  return true;
}

}  // namespace cudasim
