// All memory that a device address can mean, of every device and context: what lies where, and whose it is.
//
// One address space serves the process (unified addressing). Allocations stand far apart and their addresses are not
// handed out again soon, so that an index one too far or a pointer to freed memory never lands in a neighbour.
#pragma once
#include "common/simulator/types.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace cudasim {

enum class MemoryKind : u8 {
  device,
  host_pinned,
  host_registered,
  managed,
  module_global,
  module_constant,
  array,
  pool,
  virtual_mapping
};

struct Allocation {
  u64 base = 0;               // the device address; for host memory and managed memory also the host's
  u64 size = 0;               // bytes, as asked for
  std::byte* host = nullptr;  // where the bytes are
  MemoryKind kind = MemoryKind::device;
  u64 context = 0;  // owner; 0: none (virtual mappings)
  u32 device = 0;
  u32 flags = 0;  // of the call that made it
  bool device_readable = true, device_writable = true;
  u64 id = 0;         // CU_POINTER_ATTRIBUTE_BUFFER_ID
  std::string label;  // "cuMemAlloc", or the variable's name, for reports
};

// A stretch of memory that may be touched at once, for the executor's fast path.
struct View {
  u64 begin = 1, end = 0;    // empty until filled
  std::ptrdiff_t delta = 0;  // host address - device address
  bool readable = false, writable = false;
  u64 epoch = ~u64{0};
};

// Thread-safe. Whoever uses a View checks view.epoch == epoch() before each use: any change to the map makes views
// stale.
class AddressSpace {
 public:
  static AddressSpace& instance();

  // Makes an allocation with memory of its own; base is chosen, aligned to at least `align` (256 for cuMemAlloc). Fresh
  // memory is filled with junk unless `zeroed`. Null if the host has no memory left.
  std::shared_ptr<Allocation> allocate(Allocation wanted, u64 align, bool zeroed);
  // Enters memory that exists already (host, managed, mapped): base and host are given. False if it overlaps another.
  bool enter(std::shared_ptr<Allocation> allocation);
  // Takes an allocation away; its memory is given back (allocate) or left alone (enter). Remembered for reports.
  // False if `base` is not the start of one.
  bool release(u64 base);

  std::shared_ptr<Allocation> find(u64 address) const;  // the one that holds `address`; null if none does
  // The memory at [address, address + size) if one allocation of a context that may touch it holds all of it.
  std::optional<View> view(u64 address, u64 size, u64 context) const;
  u64 epoch() const { return epoch_.load(std::memory_order_acquire); }

  // For reports: "4 bytes past the end of an allocation of 400 bytes at 0x… (cuMemAlloc)", freed ones included.
  std::string describe(u64 address, u32 size) const;

 private:
  AddressSpace() = default;
  struct Freed {
    Allocation allocation;
  };
  mutable std::shared_mutex mutex_;
  std::map<u64, std::shared_ptr<Allocation>> live_;
  std::vector<Freed> freed_;  // the most recent ones
  std::atomic<u64> epoch_{0};
  u64 next_ = 0;
};

}  // namespace cudasim
