#include "common/simulator/memory/written.hpp"

#include "common/simulator/wanted.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace cudasim {
namespace {

// f(word, mask) for each word of bits that [offset, offset + size) has a part in; stops when f returns false.
template <class F>
void each_word(u64 offset, u64 size, F f) {
  const u64 end = offset + size;
  while (offset < end) {
    const u64 word = offset / 64, first = offset % 64, count = std::min<u64>(64 - first, end - offset);
    const u64 mask = (count == 64 ? ~u64{0} : (u64{1} << count) - 1) << first;
    if (!f(word, mask)) return;
    offset += count;
  }
}

}  // namespace

// Pages from the system: zero, and free of cost until they are touched.
Written::Written(u64 size) : words_((size + 63) / 64), unwritten_(size) {
  void* memory = mmap(nullptr, std::max<u64>(words_, 1) * 8, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  bits_ = static_cast<u64*>(memory);
}
Written::~Written() { munmap(bits_, std::max<u64>(words_, 1) * 8); }

// Copies and kernels may write at the same time.
void Written::set(u64 offset, u64 size) {
  if (all(offset, size)) return;
  u64 count = 0;
  each_word(offset, size, [&](u64 word, u64 mask) {
    count += static_cast<u64>(__builtin_popcountll(mask & ~__atomic_fetch_or(&bits_[word], mask, __ATOMIC_RELAXED)));
    return true;
  });
  __atomic_fetch_sub(&unwritten_, count, __ATOMIC_RELAXED);
}
void Written::unset(u64 offset, u64 size) {
  u64 count = 0;
  each_word(offset, size, [&](u64 word, u64 mask) {
    count += static_cast<u64>(__builtin_popcountll(mask & __atomic_fetch_and(&bits_[word], ~mask, __ATOMIC_RELAXED)));
    return true;
  });
  __atomic_fetch_add(&unwritten_, count, __ATOMIC_RELAXED);
}
void Written::unset(u64 offset, u64 size, Mark mark) {
  unset(offset, size);
  const std::scoped_lock lock(mutex_);
  for (u64 at = offset; at < offset + size; ++at) {
    if (marks_.size() >= kMostMarks && marks_.count(at / 8) == 0) continue;
    Mark& now = marks_[at / 8];
    const u8 bit = static_cast<u8>(1u << at % 8);
    now.origin = mark.origin;
    now.not_padding = static_cast<u8>((now.not_padding & ~bit) | ((mark.not_padding >> at % 8 & 1) != 0 ? bit : 0));
  }
}
Written::Mark Written::mark_of(u64 offset) const {
  const std::scoped_lock lock(mutex_);
  const auto found = marks_.find(offset / 8);
  return found == marks_.end() ? Mark{} : found->second;
}
u64 Written::first_unwritten(u64 offset, u64 size) const {
  u64 found = size;
  each_word(offset, size, [&](u64 word, u64 mask) {
    const u64 missing = mask & ~__atomic_load_n(&bits_[word], __ATOMIC_RELAXED);
    if (missing == 0) return true;
    found = word * 64 + static_cast<u64>(__builtin_ctzll(missing)) - offset;
    return false;
  });
  return found;
}

// ---- Device memory

namespace {

struct Entry {
  u64 size = 0;
  std::shared_ptr<Written> written;
};
struct Memory {
  std::shared_mutex mutex;
  std::map<u64, Entry> tracked;
  std::atomic<u64> generation{0};  // changes with every begin and end
};
Memory& memory() {
  static Memory& only = *new Memory;
  return only;
}

// f(written, offset, address, size) for each tracked part of [address, address + size).
template <class F>
void each_tracked(u64 address, u64 size, F f) {
  Memory& all = memory();
  const std::shared_lock lock(all.mutex);
  const u64 end = address + size;
  auto at = all.tracked.upper_bound(address);
  if (at != all.tracked.begin()) --at;
  for (; at != all.tracked.end() && at->first < end; ++at) {
    const u64 first = std::max(address, at->first), last = std::min(end, at->first + at->second.size);
    if (first < last) f(*at->second.written, first - at->first, first, last - first);
  }
}

}  // namespace

void memory_begins(u64 base, u64 size) {
  if (!checks().init) return;
  Memory& all = memory();
  const std::unique_lock lock(all.mutex);
  all.tracked[base] = {size, std::make_shared<Written>(size)};
  ++all.generation;
}

void memory_ends(u64 base) {
  if (!checks().init) return;
  Memory& all = memory();
  const std::unique_lock lock(all.mutex);
  all.tracked.erase(base);
  ++all.generation;
}

void memory_is_written(u64 address, u64 size) {
  if (!checks().init) return;
  each_tracked(address, size, [](Written& w, u64 offset, u64, u64 part) { w.set(offset, part); });
}

void memory_is_copied(u64 to, u64 from, u64 size) {
  if (!checks().init) return;
  memory_is_written(to, size);
  struct Hole {
    u64 at = 0, size = 0;
    Written::Mark mark;
  };
  std::vector<Hole> holes;
  each_tracked(from, size, [&](Written& w, u64 offset, u64 address, u64 part) {
    for (u64 done = 0; done < part;) {
      const u64 hole = done + w.first_unwritten(offset + done, part - done);
      if (hole >= part) break;
      const Written::Mark mark = w.mark_of(offset + hole);
      u64 end = hole;
      // Marked ones word by word.
      const u64 stop = mark.origin == 0 ? part : std::min(part, hole / 8 * 8 + 8 - offset % 8);
      while (end < std::max(stop, hole + 1) && w.first_unwritten(offset + end, 1) == 0) ++end;
      holes.push_back({address - from + hole, end - hole, mark});
      done = end;
    }
  });
  for (const Hole& hole : holes) {
    each_tracked(to + hole.at, hole.size, [&](Written& w, u64 offset, u64, u64 part) {
      if (hole.mark.origin == 0)
        w.unset(offset, part);
      else
        w.unset(offset, part, {hole.mark.origin, static_cast<u8>(hole.mark.not_padding != 0 ? 0xff : 0)});
    });
  }
}

namespace {

bool may_be_padding(const Written& w, u64 hole, u64 end) {
  constexpr u64 kWord = 8;
  const u64 word = hole / kWord * kWord, next = word + kWord;
  if (w.first_unwritten(word, 1) == 0) return false;
  u64 bytes = 0;
  while (hole + bytes < std::min(next, end) && w.first_unwritten(hole + bytes, 1) == 0) ++bytes;
  return bytes != 4 || (next < end && w.first_unwritten(next, 1) == 1);
}

}  // namespace

std::optional<Missing> first_unwritten_beside_padding(u64 address, u64 size) {
  std::optional<Missing> missing;
  each_tracked(address, size, [&](Written& w, u64 offset, u64 at, u64 part) {
    for (u64 done = 0; done < part && !missing;) {
      const u64 hole = done + w.first_unwritten(offset + done, part - done);
      if (hole >= part) return;
      const Written::Mark mark = w.mark_of(offset + hole);
      const bool known = (mark.not_padding >> (offset + hole) % 8 & 1) != 0;
      if (known || !may_be_padding(w, offset + hole, offset + part)) missing = Missing{at + hole, mark.origin};
      done = hole + 1;
    }
  });
  return missing;
}

Tracked tracked_at(u64 address) {
  Memory& all = memory();
  const std::shared_lock lock(all.mutex);
  const auto after = all.tracked.upper_bound(address);
  Tracked gap;
  gap.end = after == all.tracked.end() ? ~u64{0} : after->first;
  if (after == all.tracked.begin()) return gap;
  const auto& [begin, entry] = *std::prev(after);
  const u64 end = begin + entry.size;
  if (address < end) return {begin, end, entry.written};
  gap.begin = end;
  return gap;
}

u64 tracked_generation() { return memory().generation.load(std::memory_order_acquire); }

}  // namespace cudasim
