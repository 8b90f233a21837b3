// Which bytes of device memory have been written. Nothing is kept unless CUDASIM_CHECK=init asks for it.
#pragma once
#include "common/simulator/types.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace cudasim {

// One bit for each byte of an allocation.
class Written {
 public:
  explicit Written(u64 size);
  ~Written();
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  void set(u64 offset, u64 size);
  void unset(u64 offset, u64 size);
  // Whether all bytes of it have been written; all of [offset, offset + size).
  bool complete() const { return __atomic_load_n(&unwritten_, __ATOMIC_RELAXED) == 0; }
  bool all(u64 offset, u64 size) const {
    const u64 first = offset % 64;
    if (first + size > 64) return first_unwritten(offset, size) == size;
    const u64 mask = (size == 64 ? ~u64{0} : (u64{1} << size) - 1) << first;
    return (__atomic_load_n(&bits_[offset / 64], __ATOMIC_RELAXED) & mask) == mask;
  }
  // The first byte of [offset, offset + size) that has not been written; `size` if all have been.
  u64 first_unwritten(u64 offset, u64 size) const;

  // How bytes became unwritten that a kernel has stored: it copied them, or computed them from what was unwritten.
  struct Mark {
    u32 origin = 0;      // which load; the caller's numbers. 0: none
    u8 not_padding = 0;  // which bytes of the word of 8 are no padding, a bit each
  };
  // [offset, offset + size) becomes unwritten.
  void unset(u64 offset, u64 size, Mark mark);
  Mark mark_of(u64 offset) const;

 private:
  static constexpr std::size_t kMostMarks = 1 << 20;  // others are forgotten
  u64 words_;
  u64* bits_;
  u64 unwritten_;  // bytes
  mutable std::mutex mutex_;  // must be held for:
  std::unordered_map<u64, Mark> marks_;  // by word of 8 bytes
};

// Device memory, of all contexts.
void memory_begins(u64 base, u64 size);
void memory_ends(u64 base);
void memory_is_written(u64 address, u64 size);
// `to` becomes as written as `from` is. Memory that is not tracked counts as written.
void memory_is_copied(u64 to, u64 from, u64 size);

// The first byte that has not been written, if there is one. Bytes that may be padding do not count: fewer than a word
// of 8 bytes, in a word that begins with written ones; 4 bytes, which may be a number, only if the next word begins so,
// too. Marks know better.
struct Missing {
  u64 address = 0;
  u32 origin = 0;
};
std::optional<Missing> first_unwritten_beside_padding(u64 address, u64 size);

// The tracked allocation at an address, or the gap there (`written` is null). Valid until the generation changes.
struct Tracked {
  u64 begin = 0, end = 0;
  std::shared_ptr<Written> written;
};
Tracked tracked_at(u64 address);
u64 tracked_generation();

}  // namespace cudasim
