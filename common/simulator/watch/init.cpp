#include "common/simulator/watch/init.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/wanted.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/watch.hpp"

#include <optional>

namespace cudasim {
void memory_is_read(u64 address, u64 size, const char* by) {
  if (!checks().init) return;
  const std::optional<u64> missing = first_unwritten_beside_padding(address, size);
  if (!missing) return;
  const std::string lies = AddressSpace::instance().describe(*missing, 1);
  find("read of memory never written", "init " + plain_name(by) + lies.substr(lies.find("the ")),
       {{"access", plain_name(by) + " of " + std::to_string(size) + " bytes at " + hex(address)}, {"which is", lies}});
}

GridReads::GridReads(Grid& grid) : grid(grid), copies(grid.program) {}

Written* GridReads::find(u64 address, u64& base) {
  const u64 now = tracked_generation();
  if (generation_ != now || address < last_.begin || address >= last_.end) {
    generation_ = now;
    last_ = tracked_at(address);
  }
  base = last_.begin;
  return last_.written.get();
}

// ---- Blocks

BlockReads::BlockReads(GridReads& grid, Block& block) : grid_(grid), block_(block) {}

void BlockReads::start() {
  if (shared_ == nullptr)
    shared_ = std::make_unique<Written>(block_.grid->stored_shared_bytes);
  else
    shared_->unset(0, block_.shared_bytes);
  if (block_.grid->kernel.reserved_shared) shared_->set(reserved_shared_at(block_.shared_bytes), kSharedReserved);
  unwritten_.clear();
  for (auto& each : local_) each.reset();
  local_.resize(block_.grid->threads);
}

Written& BlockReads::local(u32 thread) {
  if (local_[thread] == nullptr) local_[thread] = std::make_unique<Written>(block_.grid->local_bytes);
  return *local_[thread];
}

void BlockReads::local_begins(const Warp& warp, u32 lanes, u32 offset, u32 size) {
  for (const u32 lane : set_bits(lanes)) {
    const u32 thread = warp.index * kWarpSize + lane;
    if (local_[thread] != nullptr) local_[thread]->unset(offset, size);
  }
}

void BlockReads::local_is_written(const Warp& warp, u32 lanes, u32 offset, u32 size) {
  for (const u32 lane : set_bits(lanes)) local(warp.index * kWarpSize + lane).set(offset, size);
}

BlockReads::Place BlockReads::place_of(const Warp& warp, const Touch& touch) {
  if (touch.space == Space::shared) return {Watch::of(*touch.owner).reads()->shared_.get(), touch.address};
  if (touch.space == Space::local) return {&local(warp.index * kWarpSize + touch.lane), touch.address};
  u64 base = 0;
  Written* const written = grid_.find(touch.address, base);
  return {written, touch.address - base};
}

namespace {

// f(register, offset of its element, bytes) for each register that an access moves.
template <class F>
void each_element(const Copies::Moved& moved, const Touch& touch, F f) {
  const u32 count = static_cast<u32>(moved.registers.size());
  if (count == 0 || touch.size % count != 0 || touch.size / count > 32) return;
  const u32 bytes = touch.size / count;
  for (u32 i = 0; i < count; ++i) f(moved.registers[i], i * bytes, bytes);
}

}  // namespace

// Members are aligned, so padding is never at the beginning of a word of 8 bytes. A number of 4 bytes or more that is
// not written at all may be padding only if it is copied with what is beside it. In local memory it may also be a
// member that has no value yet.
bool BlockReads::is_copy(const Site& site, const Touch& touch, const Place& place) {
  const Copies::Moved& moved = grid_.copies.of(site);
  if (touch.kind != Access::read || touch.asynchronous || !moved.only_copied) return false;
  bool copied = true;
  each_element(moved, touch, [&](u32, u32 offset, u32 bytes) {
    const u64 at = place.offset + offset;
    if (place.written->first_unwritten(at, bytes) == bytes) return;
    const u64 begin = bytes >= 4 && !moved.in_a_row ? at : at / 8 * 8;
    copied = copied && (bytes == 1 || ((moved.in_a_row || moved.passed) && touch.space == Space::local) ||
                        place.written->first_unwritten(begin, 1) == 1);
  });
  return copied;
}

bool BlockReads::writes_bits(const Site& site, const Touch& touch) {
  const Copies::Bits bits = grid_.copies.of(site).bits;
  return bits == Copies::Bits::replaced || (bits == Copies::Bits::cleared && touch.space == Space::local);
}

void BlockReads::loaded(u32 thread, const Site& site, const Touch& touch, const Place& place) {
  each_element(grid_.copies.of(site), touch, [&](u32 name, u32 offset, u32 bytes) {
    u32 missing = 0;
    for (u32 b = 0; b < bytes; ++b)
      missing |= static_cast<u32>(place.written->first_unwritten(place.offset + offset + b, 1) == 0) << b;
    const u64 key = u64{thread} << 32 | name;
    if (missing != 0)
      unwritten_[key] = missing;
    else
      unwritten_.erase(key);
  });
}

void BlockReads::stored(u32 thread, const Site& site, const Touch& touch, const Place& place) {
  each_element(grid_.copies.of(site), touch, [&](u32 name, u32 offset, u32) {
    const auto found = unwritten_.find(u64{thread} << 32 | name);
    if (found == unwritten_.end()) return;
    for (const u32 b : set_bits(found->second)) place.written->unset(place.offset + offset + b, 1);
  });
}

// First what is read, then what is written: an instruction reads before it writes.
void BlockReads::touched(Warp& warp, const Site& site, const std::vector<Touch>& touches) {
  for (const Touch& touch : touches) {
    const Place place = place_of(warp, touch);
    if (place.written == nullptr) continue;
    const u32 thread = warp.index * kWarpSize + touch.lane;
    if (touch.kind != Access::write) {
      const u64 missing = place.written->first_unwritten(place.offset, touch.size);
      const bool copied = missing < touch.size && is_copy(site, touch, place);
      if (missing < touch.size && !copied && !writes_bits(site, touch)) report(warp, site, touch, missing);
      if (copied || !unwritten_.empty()) loaded(thread, site, touch, place);
    }
    if (touch.kind == Access::read) continue;
    place.written->set(place.offset, touch.size);
    if (!unwritten_.empty() && touch.kind == Access::write) stored(thread, site, touch, place);
  }
}

void BlockReads::report(Warp& warp, const Site& site, const Touch& touch, u64 missing) {
  const Grid& grid = *block_.grid;
  const std::string at = where(grid.program, site);
  const std::string key = "init " + at;
  const u64 address = touch.address + missing;
  const std::string place_name = name(touch.space);
  std::string lies;
  if (touch.space == Space::shared)
    lies = shared_name(grid, address);
  else if (touch.space == Space::local)
    lies = "at offset " + std::to_string(address) + " of the thread's local memory, in a variable of its own";
  else
    lies = AddressSpace::instance().describe(address, 1, grid.launch.context);
  const std::string what = touch.kind == Access::read ? "read of " : "atomic operation on ";
  find(grid, "read of memory never written", key,
       {{"at", at},
        {"thread", thread_name(grid, block_.number, warp.index * kWarpSize + touch.lane)},
        {"access", what + std::to_string(touch.size) + (touch.size == 1 ? " byte at " : " bytes at ") +
                       hex(touch.address) + " (" + place_name + ")"},
        {"which is", lies}});
}

}  // namespace cudasim
