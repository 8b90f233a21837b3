#include "common/simulator/state/memory/graph_memory.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/numbers.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace cudasim {
namespace {

constexpr u64 kGraphUnit = u64{32} << 20;

struct Reservation {
  u64 end = 0;
  bool allocated = false;
};

struct Reservations {
  std::mutex mutex;
  std::map<u64, Reservation> by_base;
};

Reservations& reservations() {
  static auto& all = *new Reservations;
  return all;
}

}  // namespace

u64 reserve_graph_memory(u64 bytes) {
  const u64 address = AddressSpace::instance().reserve(bytes, 512);
  const std::scoped_lock lock(reservations().mutex);
  reservations().by_base[address] = {address + bytes, false};
  return address;
}

bool is_graph_memory(u64 address) {
  const std::scoped_lock lock(reservations().mutex);
  const auto next = reservations().by_base.upper_bound(address);
  return next != reservations().by_base.begin() && address < std::prev(next)->second.end;
}

bool graph_memory_allocated(u64 base) {
  const std::scoped_lock lock(reservations().mutex);
  const auto found = reservations().by_base.find(base);
  return found != reservations().by_base.end() && found->second.allocated;
}

void set_graph_memory_allocated(u64 base, bool allocated) {
  const std::scoped_lock lock(reservations().mutex);
  const auto found = reservations().by_base.find(base);
  if (found != reservations().by_base.end()) found->second.allocated = allocated;
}

GraphMemoryUse graph_memory_use(Device& device) {
  Device::GraphMemory& account = device.graph_memory;
  const std::scoped_lock lock(account.mutex);
  return account.use;
}

void reset_graph_memory_high(Device& device, bool of_reserved) {
  Device::GraphMemory& account = device.graph_memory;
  const std::scoped_lock lock(account.mutex);
  GraphMemoryUse& use = account.use;
  (of_reserved ? use.reserved_high : use.used_high) = of_reserved ? use.reserved : use.used;
}

GraphMemoryHold::GraphMemoryHold(Device& device, std::vector<u64> addresses, u64 bytes)
    : device_(device), addresses_(std::move(addresses)), bytes_(round_up(bytes, kGraphUnit)) {}

void GraphMemoryHold::take() {
  Device::GraphMemory& account = device_.graph_memory;
  const std::scoped_lock lock(account.mutex);
  if (taken_) return;
  taken_ = true;
  GraphMemoryUse& use = account.use;
  use.used_high = std::max(use.used_high, use.used += bytes_);
  use.reserved_high = std::max(use.reserved_high, use.reserved += bytes_);
}

void GraphMemoryHold::drop() {
  Device::GraphMemory& account = device_.graph_memory;
  const std::scoped_lock lock(account.mutex);
  if (!taken_) return;
  taken_ = false;
  account.use.used -= bytes_;
  account.use.reserved -= bytes_;
}

bool GraphMemoryHold::idle() const {
  return std::none_of(addresses_.begin(), addresses_.end(), graph_memory_allocated);
}

std::shared_ptr<GraphMemoryHold> hold_graph_memory(Device& device, std::vector<u64> addresses, u64 bytes) {
  auto made = std::make_shared<GraphMemoryHold>(device, std::move(addresses), bytes);
  Device::GraphMemory& account = device.graph_memory;
  const std::scoped_lock lock(account.mutex);
  std::erase_if(account.holds, [](const auto& weak) { return weak.expired(); });
  account.holds.push_back(made);
  return made;
}

void trim_graph_memory(Device& device) {
  Device::GraphMemory& account = device.graph_memory;
  const std::scoped_lock lock(account.mutex);
  for (const auto& weak : account.holds) {
    if (const auto hold = weak.lock(); hold && hold->idle()) hold->drop();
  }
}

}  // namespace cudasim
