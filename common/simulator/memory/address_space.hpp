// All memory that a device address can mean, of every device and context: which allocation is where, and who owns it.
//
// One address space serves the process (unified addressing). Allocations are far apart and their addresses are not
// reused, so an index one too far or a pointer to freed memory never reaches another allocation.
#pragma once
#include "common/simulator/memory/view.hpp"
#include "common/simulator/types.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
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
  u64 size = 0;               // bytes, as asked for, and those before them (lead)
  u64 lead = 0;               // bytes from base on that may be accessed, but come before what was asked for
  std::byte* host = nullptr;  // where the bytes are
  MemoryKind kind = MemoryKind::device;
  u64 context = 0;  // owner; 0: none (virtual mappings)
  u32 device = 0;
  u32 flags = 0;  // of the call that made it; of a virtual mapping: what the host has to do with it
  static constexpr u32 kForHost = 1, kOnHost = 2;  // may touch it; holds its bytes
  bool device_readable = true, device_writable = true;
  u64 id = 0;         // CU_POINTER_ATTRIBUTE_BUFFER_ID; AddressSpace chooses one if it is 0
  std::string label;  // "cuMemAlloc", or the variable's name, for reports
  // For memory that is entered: what owns its bytes, released when no thread can access them any more.
  std::shared_ptr<const void> keep;
};

// Thread-safe. Check view.epoch == epoch() before each use of a View: any change to the map makes views stale. Hold a
// Hold while you access memory through views or Allocation::host without owning the allocation.
class AddressSpace {
 public:
  static AddressSpace& instance();

  // Makes an allocation with memory of its own; base is chosen, aligned to at least `align` (256 for cuMemAlloc). Fresh
  // memory of at most kJunkLimit bytes is filled with junk unless `zeroed`; bigger memory comes from the system
  // untouched, hence zero, and costs nothing until it is used. Null if the host has no memory left.
  static constexpr u64 kJunkLimit = u64{1} << 20;
  static constexpr u8 kJunk = 0xCD;
  // `low`: below 4 GiB, where addresses are few, and are used again.
  std::shared_ptr<Allocation> allocate(Allocation wanted, u64 align, bool zeroed, bool low = false);
  // Chooses addresses for cuMemAddressReserve: there is nothing until something is entered. Never reused.
  u64 reserve(u64 size, u64 align);
  // The same among the host's own addresses, so that what is entered there can be the host's, too: until then touching
  // them ends the program, as on a real machine. 0 if the system has none to give.
  u64 reserve_for_both(u64 size, u64 align);
  bool reserved_for_both(u64 address, u64 size) const;  // whether some of these addresses are such
  // Enters memory that exists already (host, managed, mapped): base and host are given. False if it overlaps another.
  bool enter(std::shared_ptr<Allocation> allocation);
  // Takes an allocation away; its memory is given back (allocate) or left alone (enter). Remembered for reports, with
  // the name of the call that did it. False if `base` is not the start of one.
  bool release(u64 base, const std::string& by = {});
  // What kernels and copies may do with an allocation from now on (cuMemSetAccess). False as for release.
  bool protect(u64 base, bool readable, bool writable, bool for_host = false);

  // Moves the bytes of an allocation with memory of its own to `host`, which `keep` owns. Nothing may be touching them.
  bool rehome(u64 base, std::byte* host, std::shared_ptr<const void> keep);

  // A context's kernels reach the memory of all contexts that have settled on the same device, as on an H200.
  void settle(u64 context, u32 device);
  void leave(u64 context);
  // Lets kernels of `context` touch what `owner`, on another device, has allocated (peer access), or no longer.
  void grant(u64 context, u64 owner);
  void revoke(u64 context, u64 owner);

  std::shared_ptr<Allocation> find(u64 address) const;  // the one that holds `address`; null if none does
  // The one that held `address` until it was freed, if that is remembered.
  std::optional<Allocation> freed(u64 address) const;
  // The memory at [address, address + size) if one allocation of a context that may touch it holds all of it.
  std::optional<View> view(u64 address, u64 size, u64 context) const;
  // Where the bytes at [address, address + size) are if they lie past the end of an allocation, in the last page that
  // is mapped for it on a GPU; else null. They exist under hardware_bounds() only.
  std::byte* in_last_page(u64 address, u32 size, u64 context) const;
  u64 epoch() const { return epoch_.load(std::memory_order_acquire); }

  // Describes an address for reports: "4 bytes past the end of the allocation of 400 bytes at 0x… (cuMemAlloc)".
  // Freed allocations are named too. `context`: the asking one; 0: any.
  std::string describe(u64 address, u32 size, u64 context = 0) const;

  // While one exists, memory that is released stays mapped: a running grid may have just checked an address in it.
  class Hold {
   public:
    Hold();
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    u64 since_;
  };

 private:
  // Bytes on the host; given back by the destructor.
  class Storage {
   public:
    Storage() = default;
    static Storage make(u64 size, u64 align, bool zeroed);
    Storage(Storage&& other) noexcept { swap(other); }
    Storage& operator=(Storage&& other) noexcept { return swap(other), *this; }
    ~Storage();
    std::byte* get() const { return bytes_; }

   private:
    void swap(Storage& other) noexcept {
      std::swap(bytes_, other.bytes_), std::swap(block_, other.block_), std::swap(mapped_, other.mapped_);
    }
    std::byte* bytes_ = nullptr;
    void* block_ = nullptr;
    u64 mapped_ = 0;  // bytes, if it came from mmap
  };
  struct Entry {
    std::shared_ptr<Allocation> allocation;
    Storage storage;
  };
  struct Freed {
    Allocation allocation;
    std::string by;
  };
  struct Grave {  // released, but a Hold may still look at it
    u64 epoch = 0;
    Storage storage;
    std::shared_ptr<const void> keep;
  };

  AddressSpace() = default;
  u64 choose(u64 size, u64 align);
  u64 choose_low(u64 size, u64 align);
  bool overlaps(u64 base, u64 size) const;
  void insert(Entry entry);
  void sweep(std::vector<Grave>& unused);
  bool may_touch(u64 context, const Allocation& allocation) const;
  // What is nearest to an address, alive or freed; null if nothing is near.
  struct Nearest {
    const Allocation* allocation = nullptr;
    const Freed* freed = nullptr;
    u64 distance = 0;
  };
  Nearest nearest(u64 address) const;

  mutable std::shared_mutex mutex_;
  std::map<u64, Entry> live_;
  std::deque<Freed> freed_;  // the most recent ones
  std::unordered_map<u64, u32> homes_;  // context, device
  std::set<std::pair<u64, u64>> grants_;
  std::vector<std::pair<u64, u64>> for_both_;  // address, size
  std::multiset<u64> holds_;  // the epochs at which they began
  std::vector<Grave> graves_;
  std::atomic<u64> epoch_{0};
  u64 next_ = kHeapWindow;
  u64 low_begin_ = 0, low_end_ = 0, low_next_ = 0;  // below 4 GiB; the host's own allocator is kept away from there
  u64 next_id_ = 1;
};

}  // namespace cudasim
