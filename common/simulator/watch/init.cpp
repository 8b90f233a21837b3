#include "common/simulator/watch/init.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/isa/memory.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/wanted.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/watch.hpp"

#include <mutex>
#include <optional>

namespace cudasim {
namespace {

constexpr const char* kTitle = "use of memory never written";

// A load that has read unwritten memory, in words: the first time it did.
struct Origin {
  std::string kernel, at, thread, access, lies;
};
class Origins {
 public:
  u32 add(Origin origin) {
    const std::scoped_lock lock(mutex_);
    all_.push_back(std::move(origin));
    return static_cast<u32>(all_.size());
  }
  Origin of(u32 number) const {
    const std::scoped_lock lock(mutex_);
    return number == 0 || number > all_.size() ? Origin{} : all_[number - 1];
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Origin> all_;
};
Origins& origins() {
  static Origins& only = *new Origins;
  return only;
}

}  // namespace

void memory_is_read(u64 address, u64 size, const char* by) {
  if (!checks().init) return;
  const std::optional<Missing> missing = first_unwritten_beside_padding(address, size);
  if (!missing) return;
  const std::string lies = AddressSpace::instance().describe(missing->address, 1);
  std::vector<std::pair<const char*, std::string>> rows{
      {"access", plain_name(by) + " of " + std::to_string(size) + " bytes at " + hex(address)}, {"which is", lies}};
  const Origin origin = origins().of(missing->origin);
  if (!origin.at.empty()) {
    rows.insert(rows.end(), {{"loaded", "in " + origin.kernel + " at " + origin.at},
                             {"thread", origin.thread},
                             {"access", origin.access},
                             {"which is", origin.lies}});
  }
  find(kTitle, "init " + plain_name(by) + lies.substr(lies.find("the ")), rows);
}

Written* GridReads::find(u64 address, u64& base) {
  const u64 now = tracked_generation();
  if (generation_ != now || address < last_.begin || address >= last_.end) {
    generation_ = now;
    last_ = tracked_at(address);
  }
  base = last_.begin;
  return last_.written.get();
}

bool GridReads::find(const Together& all, Written*& written, u64& base) {
  written = find(all.address(first_lane(all.lanes)), base);
  u32 least = ~u32{0}, most = 0;
  for (u32 lane = 0; lane < kWarpSize; ++lane)
    least = std::min(least, all.offset[lane]), most = std::max(most, all.offset[lane]);
  return all.begin + least >= last_.begin && all.begin + most + all.size <= last_.end;
}

template <class Describe>
u32 GridReads::origin(const Site& site, Describe describe) {
  u32& number = origins_[site.instruction];
  if (number == 0) number = origins().add(describe());
  return number;
}

// ---- Blocks

void BlockReads::start() {
  if (shared_ == nullptr)
    shared_ = std::make_unique<Written>(block_.grid->stored_shared_bytes);
  else
    shared_->unset(0, block_.shared_bytes);
  if (block_.grid->kernel.reserved_shared) shared_->set(reserved_shared_at(block_.shared_bytes), kSharedReserved);
  frames_.clear();
  local_.resize(block_.grid->threads);
  for (auto& each : local_) {
    if (each != nullptr) each->unset(0, block_.grid->local_bytes);
  }
}

Unwritten& BlockReads::unwritten_of(const Frame* frame) { return frames_[frame]; }

Written& BlockReads::local(u32 thread) {
  if (local_[thread] == nullptr) local_[thread] = std::make_unique<Written>(block_.grid->local_bytes);
  return *local_[thread];
}

void BlockReads::local_is_new(const Warp& warp, u32 offset, u32 size) {
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 thread = warp.index * kWarpSize + lane;
    if (local_[thread] != nullptr) local_[thread]->unset(offset, size);
  }
}

void BlockReads::local_is_written(const Warp& warp, u32 lane, u32 offset, u32 size) {
  local(warp.index * kWarpSize + lane).set(offset, size);
}

BlockReads::Place BlockReads::place_of(const Warp& warp, const Touch& touch) {
  if (touch.space == Space::shared) return {Watch::of(*touch.owner).reads()->shared_.get(), touch.address};
  if (touch.space == Space::local) return {&local(warp.index * kWarpSize + touch.lane), touch.address};
  u64 base = 0;
  Written* const written = grid_.find(touch.address, base);
  return {written, touch.address - base};
}

// ---- Loads and stores

namespace {

// f(register, offset, bytes) for each element that an instruction moves between memory and registers.
template <class F>
void each_element(const Site& site, const Touch& touch, F f) {
  const Instruction& i = *site.instruction;
  switch (site.code->statements[i.statement].carries) {
    case Carries::loads:
    case Carries::stores: {
      const bool stores = touch.kind == Access::write;
      const u32 elements = i.control & kElements, bytes = touch.size / std::max(elements, 1u);
      for (u32 e = 0; e < elements; ++e) f(i.slot[stores ? 1 + e : e], e * bytes, bytes);
      return;
    }
    case Carries::swaps: f(i.slot[0], 0, touch.size); return;
    default: return;
  }
}

u32 width_of(std::span<const Code::Use> uses, Slot slot) {
  const auto found = std::find_if(uses.begin(), uses.end(), [&](auto& use) { return use.slot == slot && use.written; });
  return found == uses.end() ? 0 : found->bytes;
}

}  // namespace

void BlockReads::loaded(const Warp& warp, const Site& site, const Touch& touch, const Place& place, Slot slot, u32 at,
                        u32 size) {
  const u32 width = width_of(grid_.uses(site), slot);
  const u64 missing = place.written->first_unwritten(place.offset + at, size);
  if (missing == size || width == 0) return;
  std::array<u8, Unwritten::Register::kWidest> bits{};
  for (u32 b = 0; b < std::min(size, width); ++b)
    bits[b] = place.written->first_unwritten(place.offset + at + b, 1) == 0 ? 0xff : 0;
  u32 origin = place.written->mark_of(place.offset + at + missing).origin;
  if (origin == 0) {
    origin = grid_.origin(site, [&] {
      const Grid& grid = *block_.grid;
      return Origin{readable(grid.kernel.name), where(grid.program, site),
                    thread_name(grid, block_.number, warp.index * kWarpSize + touch.lane), access_of(touch),
                    lies(touch, at + missing)};
    });
  }
  unwritten_of(warp.frame).set(slot, width, touch.lane, bits.data(), origin);
}

// Members are aligned, so padding is never at the beginning of a word of 8 bytes. Less than such a word may be padding
// as a whole, except at its beginning.
void BlockReads::stored(Warp& warp, const Site& site, const Touch& touch, const Place& place, Slot slot, u32 at,
                        u32 size) {
  const Source* const from = source(slot);
  if (from == nullptr || (from->bits.lanes >> touch.lane & 1) == 0) return;
  const u8* const bits = from->bits.of(touch.lane);
  const auto unwritten = [&](u32 b) { return b < from->bits.bytes && bits[b] == 0xff; };
  u32 count = 0;
  for (u32 b = 0; b < size; ++b) count += unwritten(b);
  const bool whole = count == size && size < 8 && (place.offset + at) % 8 != 0;
  const bool not_padding = touch.space == Space::global && unwritten(0) && !whole;
  const u32 origin = from->bits.origin[touch.lane];
  if (place.written == nullptr) {
    if (not_padding) report_use(warp, site, touch.lane, origin, "a value in memory that the host can read");
    return;
  }
  for (u32 b = 0; b < size; ++b) {
    if (unwritten(b)) place.written->unset(place.offset + at + b, 1, {origin, static_cast<u8>(not_padding ? 0xff : 0)});
  }
}

void BlockReads::read(Warp& warp, const Site& site, const std::vector<Touch>& touches, const Touch& touch,
                      const Place& place) {
  if (place.written->all(place.offset, touch.size)) return;
  const u64 missing = place.written->first_unwritten(place.offset, touch.size);
  const Carries carries = site.code->statements[site.instruction->statement].carries;
  if (carries == Carries::loads || carries == Carries::swaps) {
    return each_element(site, touch,
                        [&](Slot slot, u32 at, u32 size) { loaded(warp, site, touch, place, slot, at, size); });
  }
  // An asynchronous copy reads once, and writes once, or in several blocks of a cluster.
  const auto count = [&](auto holds) {
    return std::count_if(touches.begin(), touches.end(),
                         [&](const Touch& each) { return each.lane == touch.lane && holds(each); });
  };
  const bool copies = touch.asynchronous && count([](const Touch& t) { return t.kind == Access::read; }) == 1 &&
                      count([](const Touch& t) { return t.kind == Access::atomic; }) == 0;
  if (!copies) return report_read(warp, site, touch, missing);
  for (const Touch& to : touches) {
    if (to.lane != touch.lane || to.kind != Access::write) continue;
    const Place there = place_of(warp, to);
    if (there.written == nullptr) continue;
    for (u64 b = missing; b < std::min(touch.size, to.size); ++b) {
      if (place.written->first_unwritten(place.offset + b, 1) == 0) there.written->unset(there.offset + b, 1);
    }
  }
}

void BlockReads::wrote(Warp& warp, const Site& site, const Touch& touch, const Place& place) {
  if (place.written != nullptr) place.written->set(place.offset, touch.size);
  if (sources_.empty()) return;
  const Carries carries = site.code->statements[site.instruction->statement].carries;
  if (carries == Carries::stores) {
    return each_element(site, touch,
                        [&](Slot slot, u32 at, u32 size) { stored(warp, site, touch, place, slot, at, size); });
  }
  if (carries == Carries::swaps) return stored(warp, site, touch, place, site.instruction->slot[2], 0, touch.size);
  // stmatrix, st.async and their kin: which register goes where is not known here.
  for (const Source& each : sources_) {
    if (place.written == nullptr || (each.bits.lanes >> touch.lane & 1) == 0) continue;
    place.written->unset(place.offset, touch.size, {each.bits.origin[touch.lane], 0});
  }
}

// First what is written, then what is read where: an asynchronous copy passes on what it has read.
void BlockReads::touched(Warp& warp, const Site& site, const std::vector<Touch>& touches) {
  const bool swaps = site.code->statements[site.instruction->statement].carries == Carries::swaps;
  for (const Touch& touch : touches) {
    if (touch.kind != Access::atomic) continue;
    const Place place = place_of(warp, touch);
    if (place.written == nullptr) continue;
    const u64 missing = place.written->first_unwritten(place.offset, touch.size);
    if (missing < touch.size && !swaps) report_read(warp, site, touch, missing);
    if (missing < touch.size && swaps) read(warp, site, touches, touch, place);
    wrote(warp, site, touch, place);
  }
  for (const Touch& touch : touches) {
    if (touch.kind == Access::write) wrote(warp, site, touch, place_of(warp, touch));
  }
  for (const Touch& touch : touches) {
    if (touch.kind != Access::read) continue;
    const Place place = place_of(warp, touch);
    if (place.written != nullptr) read(warp, site, touches, touch, place);
  }
}

bool BlockReads::touched(const Together& all) {
  Written* written = shared_.get();
  u64 base = 0;
  if (holds() || (!all.shared && !grid_.find(all, written, base))) return false;
  if (written == nullptr || written->complete()) return true;
  if (all.row()) {
    const u64 offset = all.address(0) - base, size = u64{kWarpSize} * all.size;
    if (!all.writes) return written->all(offset, size);
    written->set(offset, size);
    return true;
  }
  for (const u32 lane : set_bits(all.lanes)) {
    const u64 offset = all.address(lane) - base;
    if (all.writes)
      written->set(offset, all.size);
    else if (!written->all(offset, all.size))
      return false;
  }
  return true;
}

// ---- Calls

void BlockReads::passed(const Warp& warp, const Passed& to, const Passed& from, u32 size) {
  const auto found = from.in_register ? frames_.find(from.frame) : frames_.end();
  const Unwritten::Register* const reg = found == frames_.end() ? nullptr : found->second.find(from.slot);
  const auto target = to.in_register ? frames_.find(to.frame) : frames_.end();
  if (target != frames_.end()) target->second.clear(to.slot, warp.mask);
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 thread = warp.index * kWarpSize + lane;
    Written* const source = from.in_register ? nullptr : &local(thread);
    Written* const place = to.in_register ? nullptr : &local(thread);
    if (place != nullptr) place->set(to.local, size);
    const bool clean = source != nullptr ? source->first_unwritten(from.local, size) == size
                                         : reg == nullptr || (reg->lanes >> lane & 1) == 0;
    if (clean) continue;
    std::array<u8, Unwritten::Register::kWidest> bits{};
    u32 origin = reg != nullptr ? reg->origin[lane] : 0;
    for (u32 b = 0; b < size; ++b) {
      const bool missing =
          source != nullptr ? source->first_unwritten(from.local + b, 1) == 0 : reg->of(lane)[b] == 0xff;
      if (source != nullptr && missing) origin = source->mark_of(from.local + b).origin;
      if (place != nullptr && missing) place->unset(to.local + b, 1, {origin, 0});
      if (place == nullptr) bits[b] = source != nullptr ? (missing ? 0xff : 0) : reg->of(lane)[b];
    }
    if (to.in_register) unwritten_of(to.frame).set(to.slot, size, lane, bits.data(), origin);
  }
}

// ---- Reports

std::string BlockReads::access_of(const Touch& touch) const {
  const std::string what = touch.kind == Access::atomic ? "atomic operation on " : "read of ";
  return what + std::to_string(touch.size) + (touch.size == 1 ? " byte at " : " bytes at ") + hex(touch.address) +
         " (" + name(touch.space) + ")";
}

std::string BlockReads::lies(const Touch& touch, u64 missing) const {
  const u64 address = touch.address + missing;
  if (touch.space == Space::shared) return shared_name(*block_.grid, address);
  if (touch.space == Space::local)
    return "at offset " + std::to_string(address) + " of the thread's local memory, in a variable of its own";
  return AddressSpace::instance().describe(address, 1, block_.grid->launch.context);
}

// What is used as soon as it is read.
void BlockReads::report_read(Warp& warp, const Site& site, const Touch& touch, u64 missing) {
  const Grid& grid = *block_.grid;
  const std::string at = where(grid.program, site);
  find(grid, kTitle, "init " + at,
       {{"at", at},
        {"thread", thread_name(grid, block_.number, warp.index * kWarpSize + touch.lane)},
        {"access", access_of(touch)},
        {"which is", lies(touch, missing)}});
}

void BlockReads::report_use(const Warp& warp, const Site& site, u32 lane, u32 origin, const std::string& use) {
  const Grid& grid = *block_.grid;
  const std::string at = where(grid.program, site);
  const Origin from = origins().of(origin);
  find(grid, kTitle, "init " + at,
       {{"at", at},
        {"thread", thread_name(grid, block_.number, warp.index * kWarpSize + lane)},
        {"use", use},
        {"loaded", "at " + from.at},
        {"access", from.access},
        {"which is", from.lies}});
}

}  // namespace cudasim
