// The map of device addresses: allocating them, finding the allocation at one, and describing where a bad one points.
#include "common/simulator/memory/address_space.hpp"

#include "common/simulator/hardware.hpp"
#include "common/simulator/memory/written.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/wanted.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace cudasim {
namespace {

constexpr u64 kLeastGap = u64{64} << 10;        // between allocations; half the size for big ones
constexpr std::size_t kFreedRemembered = 4096;  // allocations, for reports
constexpr u64 kNear = u64{1} << 30;             // further off than this, an allocation explains nothing

// How many bytes from the beginning of an allocation on can be accessed on a GPU, which maps whole pages.
u64 mapped_bytes(const Allocation& a) {
  const bool on_host = a.kind == MemoryKind::host_pinned || a.kind == MemoryKind::host_registered;
  if (on_host) return round_up(a.base + a.size, kHostPage) - a.base;
  return round_up(a.size, kDevicePage);
}

std::string count(u64 n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

// 0 inside, else how far [base, base + size) is from `address`.
u64 distance(const Allocation& a, u64 address) {
  if (address < a.base) return a.base + a.lead - address;
  return address < a.base + a.size ? 0 : address - (a.base + a.size) + 1;
}

std::string called(const Allocation& a, const std::string& freed_by, bool freed) {
  const bool variable = a.kind == MemoryKind::module_global || a.kind == MemoryKind::module_constant;
  std::string text = freed ? "the freed " : "the ";
  if (variable && !a.label.empty())
    return text + "variable '" + a.label + "' of " + count(a.size) + " at " + hex(a.base);
  text += "allocation of " + count(a.size - a.lead) + " at " + hex(a.base + a.lead);
  std::string notes = a.label;
  if (freed && !freed_by.empty()) notes += (notes.empty() ? "freed by " : ", freed by ") + freed_by;
  return notes.empty() ? text : text + " (" + notes + ")";
}

// Where [address, address + size) stands to something that is called `it`.
std::string placed(const Allocation& a, u64 address, u32 size, const std::string& it) {
  const u64 end = a.base + a.size;
  if (address >= end) return (address == end ? "just" : count(address - end)) + " past the end of " + it;
  if (address < a.base + a.lead) return count(a.base + a.lead - address) + " before " + it;
  if (size > end - address) return "partly outside, with " + count(size - (end - address)) + " past the end of " + it;
  return count(address - a.base - a.lead) + " into " + it;
}

}  // namespace

AddressSpace& AddressSpace::instance() {
  // Never destroyed: worker threads and the programs' own static objects may outlive main.
  static AddressSpace* space = new AddressSpace;
  return *space;
}

AddressSpace::Storage AddressSpace::Storage::make(u64 size, u64 align, bool zeroed) {
  Storage storage;
  align = std::max<u64>(align, 64);
  const u64 junk = zeroed || size > kJunkLimit ? 0 : size;
  if (hardware_bounds()) size = round_up(std::max<u64>(size, 1), kDevicePage);
  if (size <= kJunkLimit && align <= 4096) {
    const u64 rounded = round_up(std::max<u64>(size, 1), align);
    storage.block_ = storage.bytes_ = static_cast<std::byte*>(std::aligned_alloc(align, rounded));
    if (storage.bytes_ != nullptr) std::memset(storage.bytes_, zeroed ? 0 : kJunk, rounded);
    return storage;
  }
  const u64 slack = align > 4096 ? align : 0;
  if (size + slack < size) return storage;
  void* block = mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return storage;
  storage.block_ = block;
  storage.mapped_ = size + slack;
  storage.bytes_ = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<u64>(block), std::max<u64>(slack, 1)));
  // Big pages: a kernel's first pass over fresh memory is otherwise spent in page faults. Advice, so no error matters.
  madvise(block, storage.mapped_, MADV_HUGEPAGE);
  if (junk != 0) std::memset(storage.bytes_, kJunk, junk);
  return storage;
}

AddressSpace::Storage::~Storage() {
  if (mapped_ != 0)
    munmap(block_, mapped_);
  else
    std::free(block_);
}

// The gap after an allocation grows with it: a[2 * i] for a[i] stays in no man's land.
u64 AddressSpace::choose(u64 size, u64 align) {
  const u64 base = round_up(next_, std::max<u64>(align, 256));
  const u64 end = base + (hardware_bounds() ? round_up(size, kDevicePage) : size);
  next_ = end + std::max(kLeastGap, size / 2);
  return base;
}

// The next hole behind the last allocation, or from the beginning on. 0: there is none.
u64 AddressSpace::choose_low(u64 size, u64 align) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  constexpr std::pair<u64, u64> kCandidates[] = {
      {0x1000'0000, 0xf000'0000}, {0x2000'0000, 0xe000'0000}, {0x1000'0000, 0x7000'0000}, {0x8000'0000, 0xc000'0000}};
  for (const auto& [begin, end] : kCandidates) {
    if (low_begin_ != 0) break;
    void* const wish = reinterpret_cast<void*>(begin);
    void* const got = mmap(wish, end - begin, PROT_NONE, kFlags, -1, 0);
    if (got == wish) low_begin_ = low_next_ = begin, low_end_ = end;
    if (got != wish && got != MAP_FAILED) munmap(got, end - begin);
  }
  if (low_begin_ == 0 || size > low_end_ - low_begin_) return 0;
  const u64 whole = size + kLeastGap;
  u64 at = round_up(low_next_, std::max<u64>(align, 256));
  for (bool again = false;;) {
    if (at + whole > low_end_) {
      if (std::exchange(again, true)) return 0;
      at = round_up(low_begin_, std::max<u64>(align, 256));
    }
    const auto behind = live_.lower_bound(at + whole);
    const Allocation* before = behind == live_.begin() ? nullptr : std::prev(behind)->second.allocation.get();
    if (before == nullptr || before->base + before->size + kLeastGap <= at) break;
    at = round_up(before->base + before->size + kLeastGap, std::max<u64>(align, 256));
  }
  low_next_ = at + whole;
  return at;
}

u64 AddressSpace::reserve(u64 size, u64 align) {
  std::unique_lock lock(mutex_);
  return choose(size, align);
}

u64 AddressSpace::reserve_for_both(u64 size, u64 align) {
  constexpr u64 kFirst = u64{32} << 40;  // far from where programs, libraries and sanitizers have theirs
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  std::unique_lock lock(mutex_);
  align = std::max<u64>(align, 4096);
  const u64 behind = for_both_.empty() ? kFirst : for_both_.back().first + for_both_.back().second;
  const u64 wish = round_up(behind, align);
  u64 base = wish;
  void* got = mmap(reinterpret_cast<void*>(wish), size, PROT_NONE, kFlags, -1, 0);
  if (got != MAP_FAILED && reinterpret_cast<u64>(got) != wish) {  // then wherever there is room
    munmap(got, size);
    got = mmap(nullptr, size + align, PROT_NONE, kFlags, -1, 0);
    base = round_up(reinterpret_cast<u64>(got), align);
  }
  if (got == MAP_FAILED) return 0;
  for_both_.emplace_back(base, size);
  return base;
}

bool AddressSpace::reserved_for_both(u64 address, u64 size) const {
  std::shared_lock lock(mutex_);
  return std::any_of(for_both_.begin(), for_both_.end(), [&](const auto& range) {
    return address < range.first + range.second && address + size > range.first;
  });
}

bool AddressSpace::overlaps(u64 base, u64 size) const {
  auto after = live_.lower_bound(base + std::max<u64>(size, 1));
  if (after == live_.begin()) return false;
  const Allocation& before = *std::prev(after)->second.allocation;
  return before.base + std::max<u64>(before.size, 1) > base;
}

void AddressSpace::insert(Entry entry) {
  if (entry.allocation->id == 0) entry.allocation->id = next_id_++;
  const u64 base = entry.allocation->base;
  live_.emplace(base, std::move(entry));
  epoch_.fetch_add(1, std::memory_order_acq_rel);
}

std::shared_ptr<Allocation> AddressSpace::allocate(Allocation wanted, u64 align, bool zeroed, bool low) {
  // What comes before is aligned, too: `before` bytes, the last `lead` of which belong to the allocation.
  const u64 before = round_up(wanted.lead, 16);
  Storage storage = Storage::make(wanted.size - wanted.lead + before, align, zeroed);
  if (storage.get() == nullptr) return nullptr;
  auto allocation = std::make_shared<Allocation>(std::move(wanted));
  allocation->host = storage.get() + before - allocation->lead;
  std::unique_lock lock(mutex_);
  allocation->base = low ? choose_low(allocation->size, align) : choose(allocation->size, align);
  if (allocation->base == 0) return nullptr;
  allocation->base += before - allocation->lead;
  insert({allocation, std::move(storage)});
  lock.unlock();
  if (!zeroed) memory_begins(allocation->base, allocation->size);
  return allocation;
}

bool AddressSpace::enter(std::shared_ptr<Allocation> allocation) {
  std::unique_lock lock(mutex_);
  if (overlaps(allocation->base, allocation->size)) return false;
  const Allocation made = *allocation;
  insert({std::move(allocation), Storage()});
  lock.unlock();
  if (made.kind == MemoryKind::pool) memory_begins(made.base, made.size);
  return true;
}

bool AddressSpace::release(u64 base, const std::string& by) {
  std::vector<Grave> unused;  // given back after the lock: munmap of gigabytes takes a while
  std::unique_lock lock(mutex_);
  auto found = live_.find(base);
  if (found == live_.end()) return false;
  freed_.push_back({*found->second.allocation, by});
  auto keep = std::move(freed_.back().allocation.keep);
  found->second.allocation->keep.reset();  // other owners of the allocation have no claim on its bytes
  if (freed_.size() > kFreedRemembered) freed_.pop_front();
  graves_.push_back(
      {epoch_.fetch_add(1, std::memory_order_acq_rel), std::move(found->second.storage), std::move(keep)});
  live_.erase(found);
  sweep(unused);
  lock.unlock();
  memory_ends(base);
  return true;
}

bool AddressSpace::protect(u64 base, bool readable, bool writable, bool for_host) {
  std::unique_lock lock(mutex_);
  auto found = live_.find(base);
  if (found == live_.end()) return false;
  // A new object: others may be reading the old one.
  auto changed = std::make_shared<Allocation>(*found->second.allocation);
  changed->device_readable = readable;
  changed->device_writable = writable;
  if (for_host)
    changed->flags |= Allocation::kForHost;
  else if (changed->kind == MemoryKind::virtual_mapping)
    changed->flags &= ~Allocation::kForHost;
  found->second.allocation = std::move(changed);
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

bool AddressSpace::rehome(u64 base, std::byte* host, std::shared_ptr<const void> keep) {
  std::vector<Grave> unused;
  std::unique_lock lock(mutex_);
  auto found = live_.find(base);
  if (found == live_.end() || found->second.storage.get() == nullptr) return false;
  auto moved = std::make_shared<Allocation>(*found->second.allocation);  // others may be reading the old one
  std::memcpy(host, moved->host, moved->size);
  moved->host = host;
  moved->keep = std::move(keep);
  graves_.push_back({epoch_.fetch_add(1, std::memory_order_acq_rel), std::move(found->second.storage), nullptr});
  found->second = {std::move(moved), Storage()};
  sweep(unused);
  return true;
}

// A grave is empty once every Hold that began before the release is gone.
void AddressSpace::sweep(std::vector<Grave>& unused) {
  const u64 oldest = holds_.empty() ? ~u64{0} : *holds_.begin();
  auto kept = std::partition(graves_.begin(), graves_.end(), [&](const Grave& g) { return g.epoch >= oldest; });
  for (auto grave = kept; grave != graves_.end(); ++grave) unused.push_back(std::move(*grave));
  graves_.erase(kept, graves_.end());
}

AddressSpace::Hold::Hold() {
  AddressSpace& space = instance();
  std::unique_lock lock(space.mutex_);
  since_ = space.epoch_.load(std::memory_order_relaxed);
  space.holds_.insert(since_);
}

AddressSpace::Hold::~Hold() {
  std::vector<Grave> unused;
  AddressSpace& space = instance();
  std::unique_lock lock(space.mutex_);
  space.holds_.erase(space.holds_.find(since_));
  space.sweep(unused);
  lock.unlock();
}

void AddressSpace::settle(u64 context, u32 device) {
  std::unique_lock lock(mutex_);
  homes_.emplace(context, device);
}

void AddressSpace::leave(u64 context) {
  std::unique_lock lock(mutex_);
  homes_.erase(context);
  std::erase_if(grants_, [&](const auto& grant) { return grant.first == context || grant.second == context; });
  epoch_.fetch_add(1, std::memory_order_acq_rel);
}

void AddressSpace::grant(u64 context, u64 owner) {
  std::unique_lock lock(mutex_);
  grants_.insert({context, owner});
  epoch_.fetch_add(1, std::memory_order_acq_rel);
}

void AddressSpace::revoke(u64 context, u64 owner) {
  std::unique_lock lock(mutex_);
  grants_.erase({context, owner});
  epoch_.fetch_add(1, std::memory_order_acq_rel);
}

// Host memory is portable between contexts under unified addressing; device memory belongs to its context.
bool AddressSpace::may_touch(u64 context, const Allocation& a) const {
  if (context == 0 || a.context == 0 || a.context == context) return true;
  if (a.kind == MemoryKind::host_pinned || a.kind == MemoryKind::host_registered || a.kind == MemoryKind::managed)
    return true;
  const auto asks = homes_.find(context), owns = homes_.find(a.context);
  if (asks != homes_.end() && owns != homes_.end() && asks->second == owns->second) return true;
  return grants_.count({context, a.context}) != 0;
}

std::shared_ptr<Allocation> AddressSpace::find(u64 address) const {
  std::shared_lock lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  const auto& found = std::prev(after)->second.allocation;
  return address - found->base < found->size ? found : nullptr;
}

std::optional<View> AddressSpace::view(u64 address, u64 size, u64 context) const {
  std::shared_lock lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return std::nullopt;
  const Allocation& a = *std::prev(after)->second.allocation;
  if (address - a.base >= a.size || size > a.size - (address - a.base) || !may_touch(context, a)) return std::nullopt;
  View view;
  view.begin = a.base;
  view.end = a.base + a.size;
  view.delta = static_cast<std::ptrdiff_t>(reinterpret_cast<u64>(a.host) - a.base);
  view.readable = a.device_readable;
  view.writable = a.device_writable;
  view.epoch = epoch_.load(std::memory_order_relaxed);  // cannot change under the lock
  return view;
}

std::byte* AddressSpace::in_last_page(u64 address, u32 size, u64 context) const {
  std::shared_lock lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  const auto& [base, entry] = *std::prev(after);
  const Allocation& a = *entry.allocation;
  const bool on_host = a.kind == MemoryKind::host_pinned || a.kind == MemoryKind::host_registered;
  if (entry.storage.get() == nullptr && !on_host) return nullptr;  // its owner knows how far it reaches
  const u64 offset = address - base, mapped = mapped_bytes(a);
  if (offset > mapped || size > mapped - offset || !may_touch(context, a) || !a.device_writable) return nullptr;
  // Without hardware_bounds(), other allocations are in this page, too, and the address may be before one of them.
  if (!hardware_bounds() && nearest(address).allocation != &a) return nullptr;
  return a.host + offset;
}

AddressSpace::Nearest AddressSpace::nearest(u64 address) const {
  Nearest found{.distance = kNear};
  const auto consider = [&](const Allocation& a, const Freed* freed) {
    const u64 d = distance(a, address);
    if (d < found.distance) found = {&a, freed, d};
  };
  auto after = live_.upper_bound(address);
  if (after != live_.end()) consider(*after->second.allocation, nullptr);
  if (after != live_.begin()) consider(*std::prev(after)->second.allocation, nullptr);
  // The latest first: host addresses may have been used several times.
  for (auto f = freed_.rbegin(); f != freed_.rend() && found.distance != 0; ++f) consider(f->allocation, &*f);
  return found;
}

std::optional<Allocation> AddressSpace::freed(u64 address) const {
  std::shared_lock lock(mutex_);
  const Nearest found = nearest(address);
  return found.freed != nullptr && found.distance == 0 ? std::optional(*found.allocation) : std::nullopt;
}

std::string AddressSpace::describe(u64 address, u32 size, u64 context) const {
  if (address < 4096) return address == 0 ? "a null pointer" : count(address) + " past a null pointer";
  if (const u64 below = u64{0} - address; below < 4096) return count(below) + " before a null pointer";
  std::shared_lock lock(mutex_);
  const auto [nearest, freed, best] = this->nearest(address);
  if (nearest == nullptr) {
    for (const auto& [begin, bytes] : for_both_) {
      if (address - begin < bytes) return "where no memory is mapped, nor near it";
    }
    if (address < kDeviceBase) return "an address of the host: not memory that the driver has allocated or registered";
    return "not near any allocation";
  }
  std::string text = placed(*nearest, address, size, called(*nearest, freed ? freed->by : "", freed != nullptr));
  if (best == 0 && freed == nullptr) {
    if (!may_touch(context, *nearest))
      text += ", of another context";
    else if (!nearest->device_readable)
      text += ", which the device may not touch";
    else if (!nearest->device_writable)
      text += ", which the device may only read";
  }
  return text;
}

}  // namespace cudasim
