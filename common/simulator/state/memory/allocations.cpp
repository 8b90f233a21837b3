#include "common/simulator/state/memory/allocations.hpp"

#include "common/simulator/numbers.hpp"
#include "common/simulator/state/contexts/first_contexts.hpp"
#include "common/simulator/state/processes/family.hpp"
#include "common/simulator/state/streams/thread.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <mutex>
#include <unordered_map>

namespace cudasim {
namespace {

// A device deals in units; what is asked for is rounded up to them.
constexpr u64 kUnit = 512;
constexpr u64 kBig = u64{1} << 20, kBigAlign = u64{2} << 20;

// What AddressSpace does not know of an allocation.
struct Owned {
  std::weak_ptr<Context> context;
  u64 context_id = 0;
  std::shared_ptr<Share> share;
};

struct Ledger {
  std::mutex mutex;
  std::unordered_map<u64, Owned> by_base;
};

void drop_memory_of(Context& context);

Ledger& ledger() {
  static Ledger& only = *[] {
    at_context_end(drop_memory_of);
    return new Ledger;
  }();
  return only;
}

void drop_memory_of(Context& context) {
  std::vector<std::pair<u64, Owned>> theirs;
  Ledger& all = ledger();
  {
    const std::scoped_lock lock(all.mutex);
    for (auto at = all.by_base.begin(); at != all.by_base.end();) {
      if (at->second.context_id != context.id) {
        ++at;
        continue;
      }
      theirs.emplace_back(at->first, std::move(at->second));
      at = all.by_base.erase(at);
    }
  }
  for (const auto& [base, owned] : theirs) AddressSpace::instance().release(base, "the end of its context");
}

void remember(u64 base, Context& context, std::shared_ptr<Share> share) {
  Ledger& all = ledger();
  const std::scoped_lock lock(all.mutex);
  all.by_base[base] = {context.weak_from_this(), context.id, std::move(share)};
}

// What is free if this process has allocated so many bytes.
u64 free_beside(const Device& device, u64 used) {
  const i64 all = static_cast<i64>(used) + memory_of_others(device.index);
  return device.memory - std::min(device.memory, static_cast<u64>(std::max<i64>(all, 0)));
}

}  // namespace

Share::Share(Device& device, u64 bytes) : device_(device), bytes_(round_up(bytes, kUnit)) {
  require(bytes_ >= bytes, CUDA_ERROR_OUT_OF_MEMORY);
  std::atomic<u64>& used = device.memory_used;
  u64 before = used.load();
  do {
    const u64 free = free_beside(device, before);
    require(bytes_ <= free, CUDA_ERROR_OUT_OF_MEMORY, [&] {
      return std::to_string(bytes_) + " bytes were requested, but only " + std::to_string(free) + " of " +
             std::to_string(device.memory) + " are free on the device";
    });
  } while (!used.compare_exchange_weak(before, before + bytes_));
  count_memory(device.index, static_cast<i64>(bytes_));
}

Share::~Share() {
  device_.memory_used -= bytes_;
  count_memory(device_.index, -static_cast<i64>(bytes_));
}

u64 free_memory(Device& device) { return free_beside(device, device.memory_used); }

u64 in_units_of_shares(u64 bytes) { return round_up(bytes, kUnit); }

void require_host_memory(u64 bytes) {
  constexpr u64 kAlwaysThere = u64{64} << 20;  // too little to ask about
  if (bytes <= kAlwaysThere) return;
  u64 left = ~u64{0};
  std::ifstream meminfo("/proc/meminfo");
  for (std::string word; meminfo >> word;) {
    if (word == "MemAvailable:" && meminfo >> left) left *= 1024;
  }
  u64 limit = 0, used = 0;  // a group without a limit says "max"
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && std::ifstream("/sys/fs/cgroup/memory.current") >> used) {
    left = std::min(left, limit - std::min(limit, used));
  }
  require(bytes <= left, CUDA_ERROR_OUT_OF_MEMORY);
}

HostBytes::HostBytes(u64 size, u64 align) : size_(size) {
  const u64 rounded = round_up(size, kHostPage);
  const u64 slack = align > kHostPage ? align : 0;
  require(rounded >= size && rounded + slack >= rounded, CUDA_ERROR_OUT_OF_MEMORY);
  mapped_ = rounded + slack;
  block_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(block_ != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  const u64 start = reinterpret_cast<u64>(block_);
  bytes_ = reinterpret_cast<std::byte*>(slack != 0 ? round_up(start, align) : start);
  madvise(block_, mapped_, MADV_HUGEPAGE);  // advice: no error matters
}

HostBytes::~HostBytes() { munmap(block_, mapped_); }

void HostBytes::populate() {
  require_host_memory(size_);
#ifdef MADV_POPULATE_WRITE
  if (madvise(block_, mapped_, MADV_POPULATE_WRITE) == 0) return;
  require(errno == EINVAL, CUDA_ERROR_OUT_OF_MEMORY);  // a system too old to know the advice
#endif
  for (u64 at = 0; at < size_; at += 4096) reinterpret_cast<volatile std::byte*>(bytes_)[at] = std::byte{0};
}

std::shared_ptr<Allocation> allocate_device_memory(Context& context, MemoryKind kind, u64 size, const char* label,
                                                   bool zeroed, u64 align) {
  auto share = std::make_shared<Share>(context.device, size);
  Allocation wanted;
  wanted.size = size;
  wanted.kind = kind;
  wanted.context = context.id;
  wanted.device = static_cast<u32>(context.device.ordinal);
  wanted.label = label;
  // What is big begins where a page of the device does, as a driver has it; programs that divide it up rely on that.
  const u64 least = size > kBig ? kBigAlign : kUnit;
  auto made =
      AddressSpace::instance().allocate(std::move(wanted), std::max<u64>(align, least), zeroed, is_first(context));
  require(made != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  remember(made->base, context, std::move(share));
  return made;
}

static std::shared_ptr<Allocation> on_host(Context& context, u64 base, std::byte* host, u64 size, MemoryKind kind,
                                           u32 flags, const char* label, std::shared_ptr<const void> keep) {
  auto made = std::make_shared<Allocation>();
  made->base = base;
  made->host = host;
  made->size = size;
  made->kind = kind;
  made->context = context.id;
  made->device = static_cast<u32>(context.device.ordinal);
  made->flags = flags;
  made->label = label;
  made->keep = std::move(keep);
  require(AddressSpace::instance().enter(made), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  remember(base, context, nullptr);
  return made;
}

std::shared_ptr<Allocation> enter_host_memory(Context& context, MemoryKind kind, void* host, u64 size, u32 flags,
                                              const char* label, std::shared_ptr<const void> keep) {
  const u64 base = reinterpret_cast<u64>(host);
  return on_host(context, base, static_cast<std::byte*>(host), size, kind, flags, label, std::move(keep));
}

std::shared_ptr<Allocation> enter_shared_memory(Context& context, std::byte* host, u64 size, u32 flags,
                                                const char* label, std::shared_ptr<const void> keep, MemoryKind kind) {
  const u64 base = AddressSpace::instance().reserve(size, kUnit);
  return on_host(context, base, host, size, kind, flags, label, std::move(keep));
}

std::shared_ptr<void> claim_allocation(u64 base, const char* by) {
  Ledger& all = ledger();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.by_base.find(base);
  if (found == all.by_base.end()) return nullptr;
  const auto owned = std::make_shared<Owned>(std::move(found->second));
  all.by_base.erase(found);
  return std::shared_ptr<void>(owned.get(), [owned, base, by](void*) { AddressSpace::instance().release(base, by); });
}

void require_sound_context_if_any() {
  require_calls_permitted();
  if (!this_thread().stack.empty()) current_context();
}

bool end_allocation(u64 base, const char* by) { return claim_allocation(base, by) != nullptr; }

std::shared_ptr<Context> owner_of(const Allocation& allocation) {
  Ledger& all = ledger();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.by_base.find(allocation.base);
  return found == all.by_base.end() ? nullptr : found->second.context.lock();
}

}  // namespace cudasim
