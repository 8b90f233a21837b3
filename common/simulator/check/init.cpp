#include "common/simulator/check/init.hpp"

#include "common/simulator/check/checks.hpp"
#include "common/simulator/check/finding.hpp"
#include "common/simulator/check/watch.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <new>
#include <shared_mutex>

namespace cudasim {
namespace {

// f(word, mask) for each word of bits that [offset, offset + size) has a part in; stops where f answers false.
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
Written::Written(u64 size) : words_((size + 63) / 64) {
  void* memory = mmap(nullptr, std::max<u64>(words_, 1) * 8, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  bits_ = static_cast<u64*>(memory);
}
Written::~Written() { munmap(bits_, std::max<u64>(words_, 1) * 8); }

// Copies and kernels may write at the same time.
void Written::set(u64 offset, u64 size) {
  each_word(offset, size, [&](u64 word, u64 mask) {
    if ((__atomic_load_n(&bits_[word], __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(&bits_[word], mask, __ATOMIC_RELAXED);
    return true;
  });
}
void Written::unset(u64 offset, u64 size) {
  each_word(offset, size, [&](u64 word, u64 mask) {
    __atomic_fetch_and(&bits_[word], ~mask, __ATOMIC_RELAXED);
    return true;
  });
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

struct Tracked {
  u64 size = 0;
  std::shared_ptr<Written> written;
};
struct Memory {
  std::shared_mutex mutex;
  std::map<u64, Tracked> tracked;
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
  std::vector<std::pair<u64, u64>> holes;  // offset, size
  each_tracked(from, size, [&](Written& w, u64 offset, u64 address, u64 part) {
    for (u64 done = 0; done < part;) {
      const u64 hole = done + w.first_unwritten(offset + done, part - done);
      if (hole >= part) break;
      u64 end = hole;
      while (end < part && w.first_unwritten(offset + end, 1) == 0) ++end;
      holes.emplace_back(address - from + hole, end - hole);
      done = end;
    }
  });
  for (const auto& [at, bytes] : holes)
    each_tracked(to + at, bytes, [](Written& w, u64 offset, u64, u64 part) { w.unset(offset, part); });
}

void memory_is_read(u64 address, u64 size, const char* by) {
  if (!checks().init) return;
  u64 missing = ~u64{0};
  each_tracked(address, size, [&](Written& w, u64 offset, u64 at, u64 part) {
    const u64 first = w.first_unwritten(offset, part);
    if (first < part && missing == ~u64{0}) missing = at + first;
  });
  if (missing == ~u64{0}) return;
  const std::string lies = AddressSpace::instance().describe(missing, 1);
  find("read of memory never written", "init " + plain_name(by) + lies.substr(lies.find("the ")),
       {{"tried", plain_name(by) + " of " + std::to_string(size) + " bytes at " + hex(address)},
        {"nobody", "has written what lies " + lies}});
}

Written* GridReads::find(u64 address, u64& base) {
  Memory& all = memory();
  const u64 now = all.generation.load(std::memory_order_acquire);
  if (generation_ != now || address < begin_ || address >= end_) {
    const std::shared_lock lock(all.mutex);
    const auto after = all.tracked.upper_bound(address);
    generation_ = now;
    last_ = nullptr;  // unless one holds it: what lies between two of them
    begin_ = 0;
    end_ = after == all.tracked.end() ? ~u64{0} : after->first;
    if (after != all.tracked.begin()) {
      const auto& [start, tracked] = *std::prev(after);
      begin_ = start + tracked.size;
      if (address < begin_) {
        begin_ = start;
        end_ = start + tracked.size;
        last_ = tracked.written;
      }
    }
  }
  base = begin_;
  return last_.get();
}

// ---- Blocks

BlockReads::BlockReads(GridReads& grid, Block& block) : grid_(grid), block_(block) {}

void BlockReads::start() {
  if (shared_ == nullptr)
    shared_ = std::make_unique<Written>(block_.grid->stored_shared_bytes);
  else
    shared_->unset(0, block_.shared_bytes);
  if (block_.grid->kernel.reserved_shared) shared_->set(reserved_shared_at(block_.shared_bytes), kSharedReserved);
  for (auto& each : local_) each.reset();
  local_.resize(block_.grid->threads);
}

Written& BlockReads::local(u32 thread) {
  if (local_[thread] == nullptr) local_[thread] = std::make_unique<Written>(block_.grid->local_bytes);
  return *local_[thread];
}

void BlockReads::local_begins(const Warp& warp, u32 lanes, u32 offset, u32 size) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const u32 thread = warp.index * kWarpSize + static_cast<u32>(__builtin_ctz(lanes));
    if (local_[thread] != nullptr) local_[thread]->unset(offset, size);
  }
}

void BlockReads::local_is_written(const Warp& warp, u32 lanes, u32 offset, u32 size) {
  for (; lanes != 0; lanes &= lanes - 1)
    local(warp.index * kWarpSize + static_cast<u32>(__builtin_ctz(lanes))).set(offset, size);
}

// First what is read, then what is written: an instruction reads before it writes.
void BlockReads::touched(Warp& warp, const Place& place, const std::vector<Touch>& touches) {
  for (const Touch& touch : touches) {
    Written* written = nullptr;
    u64 offset = touch.address;
    if (touch.space == Space::shared) {
      written = touch.owner->watch->reads()->shared_.get();
    } else if (touch.space == Space::local) {
      written = &local(warp.index * kWarpSize + touch.lane);
    } else {
      u64 base = 0;
      written = grid_.find(touch.address, base);
      offset -= base;
    }
    if (written == nullptr) continue;
    if (touch.kind != Access::write) {
      const u64 missing = written->first_unwritten(offset, touch.size);
      if (missing < touch.size) report(warp, place, touch, missing);
    }
    if (touch.kind != Access::read) written->set(offset, touch.size);
  }
}

void BlockReads::report(Warp& warp, const Place& place, const Touch& touch, u64 missing) {
  const Grid& grid = *block_.grid;
  const std::string at = where(grid.program, place);
  const std::string key = "init " + at;
  const u64 address = touch.address + missing;
  const std::string place_name = name(touch.space);
  std::string lies;
  if (touch.space == Space::shared)
    lies = shared_name(grid, address);
  else if (touch.space == Space::local)
    lies = "what lies at offset " + std::to_string(address) + " of the thread's local memory, in a variable of its own";
  else
    lies = "what lies " + AddressSpace::instance().describe(address, 1, grid.launch.context);
  const std::string what = touch.kind == Access::read ? "read of " : "atomic operation on ";
  find(grid, "read of memory never written", key,
       {{"at", at},
        {"thread", thread_name(grid, block_.number, warp.index * kWarpSize + touch.lane)},
        {"tried", what + std::to_string(touch.size) + (touch.size == 1 ? " byte at " : " bytes at ") +
                      hex(touch.address) + " (" + place_name + ")"},
        {"nobody", "has written " + lies}});
}

}  // namespace cudasim
