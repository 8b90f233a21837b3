// Loads, stores, and what else is about addresses. PTX ISA, "Data Movement and Conversion Instructions": ld, ldu, st,
// prefetch, applypriority, discard, createpolicy, cvta, isspacep, mapa, getctarank.
//
// The warp's accesses are checked all at once: the lowest and the highest address against the allocation that this
// instruction has met before (view_of). When that does not settle it, each lane's address is looked up (exec/access).
#include "common/simulator/check/watch.hpp"
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/order.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/row.hpp"

#include <algorithm>

namespace cudasim {
namespace {

// Instruction::control of a load or store.
constexpr u32 kElements = 15;  // of the vector
constexpr u32 kPoll = 1 << 4;  // may be a spin's read
constexpr u32 kAcquire = 1 << 5;
constexpr u32 kRelease = 1 << 6;
constexpr u32 kNarrow = 1 << 7;  // the base register has 4 bytes
constexpr u32 kSpaceShift = 8;

Space space_in(const Instruction& i) { return static_cast<Space>(i.control >> kSpaceShift & 15); }

alignas(64) constexpr u64 kNoBase[kWarpSize] = {};

template <class Address>
const Address* base_of(const Warp& warp, Slot slot) {
  return slot == kNoSlot ? reinterpret_cast<const Address*>(kNoBase) : warp.in<Address>(slot);
}

// Memory that may be touched at once, by its first and last address plus one.
struct Region {
  u64 begin, end;
  u64 host;  // address on the host - address, modulo 2^64
};

// `address`: one of those that the instruction uses; a generic one may lie in the block's shared memory.
Region global_region(Warp& warp, const Instruction& i, u64 address) {
  const u64 own = kSharedWindow + warp.block->shared_begin;
  if (space_in(i) == Space::generic && address - own < kSharedStride) {
    return {own, own + warp.block->quick_shared_bytes, reinterpret_cast<u64>(warp.block->shared) - own};
  }
  const View& view = view_of(warp, i);
  return {view.begin, view.end, static_cast<u64>(view.delta)};
}
// Without a base register, an address is an offset in the block's own memory, whichever block that is.
Region shared_region(Warp& warp, Slot base) {
  const u64 begin = base == kNoSlot ? 0 : warp.block->shared_begin;
  return {begin, begin + warp.block->quick_shared_bytes, reinterpret_cast<u64>(warp.block->shared) - begin};
}

std::byte* at(u64 host) { return reinterpret_cast<std::byte*>(host); }

u64 some_address(const Warp& warp, const Instruction& i, Slot base) {
  return base_of<u64>(warp, base)[__builtin_ctz(warp.mask)] + static_cast<u64>(i.offset);
}

// How the addresses of a full warp lie: in four groups of eight lanes, each group's one after the other (rows), or all
// the same (points); or otherwise (scattered). Tiles and broadcasts are rows and points. outside: see load_carefully.
enum class Pattern : u8 { outside, rows, points, scattered };
constexpr u32 kGroups = 4, kGroup = 8;

template <class T>
struct GroupOf {
  typedef T type __attribute__((vector_size(kGroup * sizeof(T))));
};

template <u32 kStep, class Address>
inline bool in_groups(const Address* base) {
  using Group = typename GroupOf<Address>::type;
  constexpr Group steps = {0, kStep, 2 * kStep, 3 * kStep, 4 * kStep, 5 * kStep, 6 * kStep, 7 * kStep};
  Group wrong = {};
  for (u32 g = 0; g < kGroups; ++g) {
    Group addresses;
    std::memcpy(&addresses, base + g * kGroup, sizeof addresses);
    wrong |= (addresses - base[g * kGroup]) ^ steps;
  }
  Address any = 0;
  for (u32 lane = 0; lane < kGroup; ++lane) any |= wrong[lane];
  return any == 0;
}

// Each lane touches kBytes at base[lane] + offset. Addresses that wrap around are outside.
template <u32 kBytes, class Address>
inline Pattern pattern_of(const Address* base, u64 offset, const Region& region) {
  const Address step = base[1] - base[0];
  if (step == 0 ? in_groups<0>(base) : step == kBytes && in_groups<kBytes>(base)) {
    const u64 span = step == 0 ? kBytes : kGroup * kBytes;
    u64 least = ~u64{0}, most = 0, all = 0;
    for (u32 g = 0; g < kGroups; ++g) {
      const u64 address = u64{base[g * kGroup]} + offset;
      least = std::min(least, address);
      most = std::max(most, address);
      all |= address;
    }
    const bool inside =
        least >= region.begin && most <= region.end - span && region.end - region.begin >= span && all % kBytes == 0;
    return !inside ? Pattern::outside : step == 0 ? Pattern::points : Pattern::rows;
  }
  Address least = base[0], most = base[0], all = 0;
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    least = std::min(least, base[lane]);
    most = std::max(most, base[lane]);
    all |= static_cast<Address>(base[lane] + static_cast<Address>(offset));
  }
  const u64 low = u64{least} + offset, high = u64{most} + offset;
  const bool inside = low >= region.begin && high <= region.end - kBytes && low <= high &&
                      region.end - region.begin >= kBytes && all % kBytes == 0;
  return inside ? Pattern::scattered : Pattern::outside;
}

// The same for some lanes only: true if all are inside and aligned.
template <u32 kBytes, class Address>
inline bool inside(const Address* base, u64 offset, const Region& region, u32 mask) {
  u64 least = ~u64{0}, most = 0, all = 0;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const u64 address = u64{base[__builtin_ctz(rest)]} + offset;
    least = std::min(least, address);
    most = std::max(most, address);
    all |= address;
  }
  return least >= region.begin && most <= region.end - kBytes && region.end - region.begin >= kBytes &&
         all % kBytes == 0;
}

u64 offset_of(const Instruction& i) { return static_cast<u64>(i.offset); }

void after_load(Warp& warp, const Instruction& i) {
  if ((i.control & kAcquire) != 0) raw_fence_acquire();
  warp.poll();
}

void before_store(const Instruction& i) {
  if ((i.control & kRelease) != 0) raw_fence_release();
}

// A lane's elements, from memory to its registers: M as it lies there, R as the register holds it.
template <class M, class R>
void load_lane(Warp& warp, const Instruction& i, u32 lane, const std::byte* from) {
  const u32 elements = i.control & kElements;
  for (u32 e = 0; e < elements; ++e) {
    if (i.slot[e] != kNoSlot) warp.out<R>(i.slot[e])[lane] = static_cast<R>(raw_load<M>(from + e * sizeof(M)));
  }
}

template <class M, class R>
void store_lane(Warp& warp, const Instruction& i, u32 lane, std::byte* to) {
  const u32 elements = i.control & kElements;
  for (u32 e = 0; e < elements; ++e) raw_store<M>(to + e * sizeof(M), static_cast<M>(warp.in<R>(i.slot[1 + e])[lane]));
}

// What one lane has loaded, for another that reads the same place: lanes of a warp that do so are served by one access,
// and get the same value whatever others write meanwhile. GCC's OpenMP relies on it.
template <class R>
void copy_lane(Warp& warp, const Instruction& i, u32 elements, u32 from, u32 to) {
  for (u32 e = 0; e < elements; ++e) {
    if (i.slot[e] != kNoSlot) warp.out<R>(i.slot[e])[to] = warp.out<R>(i.slot[e])[from];
  }
}

// A lane's address; the name of a shared variable, without a register, stands for the block's own memory.
u64 checked_address(const Warp& warp, const Instruction& i, Slot base, u32 lane) {
  const bool own = base == kNoSlot && space_in(i) == Space::shared;
  return address_of(warp, i, base, (i.control & kNarrow) != 0, lane) + (own ? warp.block->shared_begin : 0);
}

// Lane by lane, every address looked up.
template <class M, class R>
[[gnu::noinline]] void load_carefully(Warp& warp, const Instruction& i) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  const Slot base = i.slot[elements];
  const std::byte* last = nullptr;
  for (u32 rest = warp.mask, before = 0; rest != 0; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(rest));
    const u64 address = checked_address(warp, i, base, lane);
    const std::byte* const place =
        access(warp, lane, space_in(i), address, size, size, Access::read, &view_of(warp, i));
    if (place == last) {
      copy_lane<R>(warp, i, elements, before, lane);
    } else {
      load_lane<M, R>(warp, i, lane, place);
    }
    last = place, before = lane;
  }
  if ((i.control & (kPoll | kAcquire)) != 0) after_load(warp, i);
}

template <class M, class R>
[[gnu::noinline]] void store_carefully(Warp& warp, const Instruction& i) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  before_store(i);
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(rest));
    const u64 address = checked_address(warp, i, i.slot[0], lane);
    store_lane<M, R>(warp, i, lane,
                     access(warp, lane, space_in(i), address, size, size, Access::write, &view_of(warp, i)));
  }
  warp.polls = 0;
}

// Eight lanes, from consecutive elements.
template <class M, class R, u32 kStride>
inline void load_row(R* d, const std::byte* first) {
#pragma GCC unroll 8
  for (u32 l = 0; l < kGroup; ++l) d[l] = static_cast<R>(raw_load<M>(first + l * kStride));
}

// Four times eight lanes, each eight from one place, which is read once (see copy_lane).
template <class M, class R>
inline void load_points(R* d, const std::byte* const* groups, u32 offset) {
  R value = {};
  for (u32 g = 0; g < kGroups; ++g) {
    if (g == 0 || groups[g] != groups[g - 1]) value = static_cast<R>(raw_load<M>(groups[g] + offset));
#pragma GCC unroll 8
    for (u32 l = 0; l < kGroup; ++l) d[g * kGroup + l] = value;
  }
}

template <class M, class R, u32 V, class Address>
inline void load_groups(Warp& warp, const Instruction& i, const Address* base, u64 from, bool rows) {
  constexpr u32 kStride = V * sizeof(M);
  const std::byte* groups[kGroups];  // beforehand: the destination may be the base register
  for (u32 g = 0; g < kGroups; ++g) groups[g] = at(from + base[g * kGroup]);
  for (u32 e = 0; e < V; ++e) {
    if (V > 1 && i.slot[e] == kNoSlot) continue;
    R* d = warp.out<R>(i.slot[e]);
    if (rows) {
      for (u32 g = 0; g < kGroups; ++g) load_row<M, R, kStride>(d + g * kGroup, groups[g] + e * sizeof(M));
    } else {
      load_points<M, R>(d, groups, e * sizeof(M));
    }
  }
}

template <class M, class R, class Address, u32 V>
inline void load_with(Warp& warp, const Instruction& i, const Region& region) {
  constexpr u32 kBytes = V * sizeof(M);
  const Address* base = base_of<Address>(warp, i.slot[V]);
  const u64 from = region.host + offset_of(i);
  if (warp.mask == kAllLanes) {
    const Pattern pattern = pattern_of<kBytes>(base, offset_of(i), region);
    if (pattern == Pattern::outside) return load_carefully<M, R>(warp, i);
    if (pattern == Pattern::scattered) {
      if constexpr (V == 1) {
        R* d = warp.out<R>(i.slot[0]);
        for (u32 lane = 0; lane < kWarpSize; ++lane) d[lane] = static_cast<R>(raw_load<M>(at(from + base[lane])));
      } else {
        for (u32 lane = 0; lane < kWarpSize; ++lane) load_lane<M, R>(warp, i, lane, at(from + base[lane]));
      }
    } else {
      load_groups<M, R, V>(warp, i, base, from, pattern == Pattern::rows);
    }
  } else {
    if (!inside<kBytes>(base, offset_of(i), region, warp.mask)) return load_carefully<M, R>(warp, i);
    const std::byte* last = nullptr;
    for (u32 rest = warp.mask, before = 0; rest != 0; rest &= rest - 1) {
      const u32 lane = static_cast<u32>(__builtin_ctz(rest));
      const std::byte* const place = at(from + base[lane]);
      if (place == last) {
        copy_lane<R>(warp, i, V, before, lane);
      } else {
        load_lane<M, R>(warp, i, lane, place);
      }
      last = place, before = lane;
    }
  }
  if ((i.control & (kPoll | kAcquire)) != 0) after_load(warp, i);
}

template <class M, class R, class Address, u32 V>
inline void store_with(Warp& warp, const Instruction& i, const Region& region) {
  constexpr u32 kBytes = V * sizeof(M);
  const Address* base = base_of<Address>(warp, i.slot[0]);
  const u64 to = region.host + offset_of(i);
  if (warp.mask == kAllLanes) {
    const Pattern pattern = pattern_of<kBytes>(base, offset_of(i), region);
    if (pattern == Pattern::outside) return store_carefully<M, R>(warp, i);
    before_store(i);
    if (pattern == Pattern::rows) {
      for (u32 e = 0; e < V; ++e) {
        const R* a = warp.in<R>(i.slot[1 + e]);
        for (u32 g = 0; g < kGroups; ++g) {
          std::byte* first = at(to + base[g * kGroup]) + e * sizeof(M);
#pragma GCC unroll 8
          for (u32 l = 0; l < kGroup; ++l) raw_store<M>(first + l * kBytes, static_cast<M>(a[g * kGroup + l]));
        }
      }
    } else {  // of those to one address, the last lane's value stays
      for (u32 lane = 0; lane < kWarpSize; ++lane) store_lane<M, R>(warp, i, lane, at(to + base[lane]));
    }
  } else {
    if (!inside<kBytes>(base, offset_of(i), region, warp.mask)) return store_carefully<M, R>(warp, i);
    before_store(i);
    for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
      const u32 lane = static_cast<u32>(__builtin_ctz(rest));
      store_lane<M, R>(warp, i, lane, at(to + base[lane]));
    }
  }
  warp.polls = 0;
}

// Global and constant memory, and generic addresses, most of which are global.
template <class M, class R, u32 V>
void load_global(Warp& warp, const Instruction& i) {
  load_with<M, R, u64, V>(warp, i, global_region(warp, i, some_address(warp, i, i.slot[V])));
}
template <class M, class R, u32 V>
void store_global(Warp& warp, const Instruction& i) {
  const u64 address = some_address(warp, i, i.slot[0]);
  const bool in_shared = space_in(i) == Space::generic && space_of(address) == Space::shared;
  if (!in_shared && !view_of(warp, i).writable) return store_carefully<M, R>(warp, i);
  store_with<M, R, u64, V>(warp, i, global_region(warp, i, address));
}

// The block's own shared memory; compilers write 32-bit addresses, or the variable's name.
template <class M, class R, class Address, u32 V>
void load_shared(Warp& warp, const Instruction& i) {
  load_with<M, R, Address, V>(warp, i, shared_region(warp, i.slot[V]));
}
template <class M, class R, class Address, u32 V>
void store_shared(Warp& warp, const Instruction& i) {
  store_with<M, R, Address, V>(warp, i, shared_region(warp, i.slot[0]));
}

// Local memory: each lane has its own. A variable of the frame is at the same place in all.
template <class M>
bool in_frame(const Warp& warp, const Instruction& i, Slot base, u32& at) {
  const u64 size = (i.control & kElements) * sizeof(M), offset = offset_of(i);
  at = warp.frame->local_base + static_cast<u32>(offset);
  const u32 end = warp.frame->code->local_bytes;
  if (warp.watch != nullptr && warp.watch->accesses()) return false;  // each is to be seen
  return base == kNoSlot && offset <= end && size <= end - offset && offset % size == 0;
}

// In local space an address is relative to the frame if there is no base register.
u64 local_address(const Warp& warp, const Instruction& i, Slot base, u32 lane) {
  return address_of(warp, i, base, (i.control & kNarrow) != 0, lane) + (base == kNoSlot ? warp.frame->local_base : 0);
}

template <class M, class R>
void load_local(Warp& warp, const Instruction& i) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  const Slot base = i.slot[elements];
  u32 at = 0;
  if (in_frame<M>(warp, i, base, at)) {
    for_lanes(warp.mask, [&](u32 lane) { load_lane<M, R>(warp, i, lane, warp.block->local(warp, lane) + at); });
    return;
  }
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(rest));
    const u64 address = local_address(warp, i, base, lane);
    load_lane<M, R>(warp, i, lane, access(warp, lane, Space::local, address, size, size, Access::read, nullptr));
  }
}

template <class M, class R>
void store_local(Warp& warp, const Instruction& i) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  u32 at = 0;
  if (in_frame<M>(warp, i, i.slot[0], at)) {
    for_lanes(warp.mask, [&](u32 lane) { store_lane<M, R>(warp, i, lane, warp.block->local(warp, lane) + at); });
    return;
  }
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(rest));
    const u64 address = local_address(warp, i, i.slot[0], lane);
    store_lane<M, R>(warp, i, lane, access(warp, lane, Space::local, address, size, size, Access::write, nullptr));
  }
}

// The launch's parameters, the same for all threads.
template <class M, class R>
void load_parameter(Warp& warp, const Instruction& i) {
  const u32 elements = i.control & kElements;
  const auto& parameters = warp.block->grid->launch.parameters;
  const u64 offset = offset_of(i), size = elements * sizeof(M);
  if (i.slot[elements] != kNoSlot || offset > parameters.size() || size > parameters.size() - offset)
    return load_carefully<M, R>(warp, i);
  for (u32 e = 0; e < elements; ++e) {
    if (i.slot[e] == kNoSlot) continue;
    const R value = static_cast<R>(raw_load<M>(parameters.data() + offset + e * sizeof(M)));
    R* d = warp.out<R>(i.slot[e]);
    for_lanes(warp.mask, [=](u32 lane) { d[lane] = value; });
  }
}

u32 control_of(const Form& form) {
  u32 control = form.vector | static_cast<u32>(form.space) << kSpaceShift | order_of(form, false);
  const bool shared_between_threads = form.space != Space::local && form.space != Space::param;
  if (form.has("volatile") || form.has("relaxed") || form.has("mmio")) control |= shared_between_threads ? kPoll : 0;
  if (form.has("acquire")) control |= kAcquire;
  if (form.has("release")) control |= kRelease;
  if (form.address_bytes == 4) control |= kNarrow;
  return control;
}

enum class Way : u8 { global, shared, shared_wide, local, parameter, carefully };

Way way_of(const Form& form) {
  const bool narrow = form.address_bytes == 4;
  switch (form.space) {
    case Space::generic:
    case Space::global:
    case Space::constant: return narrow ? Way::carefully : Way::global;
    case Space::shared: return narrow ? Way::shared : Way::shared_wide;
    case Space::local: return Way::local;
    case Space::param: return Way::parameter;
    default: return Way::carefully;
  }
}

template <class M, class R, u32 V>
Handler load_handler(Way way) {
  if constexpr (V * sizeof(M) > 16) {
    return nullptr;
  } else {
    switch (way) {
      case Way::global: return load_global<M, R, V>;
      case Way::shared: return load_shared<M, R, u32, V>;
      case Way::shared_wide: return load_shared<M, R, u64, V>;
      case Way::local: return load_local<M, R>;
      case Way::parameter: return load_parameter<M, R>;
      case Way::carefully: return load_carefully<M, R>;
    }
    return nullptr;
  }
}

template <class M, class R, u32 V>
Handler store_handler(Way way) {
  if constexpr (V * sizeof(M) > 16) {
    return nullptr;
  } else {
    switch (way) {
      case Way::global: return store_global<M, R, V>;
      case Way::shared: return store_shared<M, R, u32, V>;
      case Way::shared_wide: return store_shared<M, R, u64, V>;
      case Way::local: return store_local<M, R>;
      default: return store_carefully<M, R>;
    }
  }
}

template <bool kLoad, class M, class R>
Handler by_vector(const Form& form) {
  const Way way = way_of(form);
  switch (form.vector) {
    case 1: return kLoad ? load_handler<M, R, 1>(way) : store_handler<M, R, 1>(way);
    case 2: return kLoad ? load_handler<M, R, 2>(way) : store_handler<M, R, 2>(way);
    case 4: return kLoad ? load_handler<M, R, 4>(way) : store_handler<M, R, 4>(way);
    default: return nullptr;
  }
}

// The register may be wider than what is read or written.
template <bool kLoad, class M>
Handler by_register(const Form& form, u32 width) {
  if (width < sizeof(M)) return nullptr;
  switch (width) {
    case 1:
      if constexpr (sizeof(M) <= 1) return by_vector<kLoad, M, u8>(form);
      break;
    case 2:
      if constexpr (sizeof(M) <= 2) return by_vector<kLoad, M, u16>(form);
      break;
    case 4:
      if constexpr (sizeof(M) <= 4) return by_vector<kLoad, M, u32>(form);
      break;
    case 8:
      if constexpr (sizeof(M) <= 8) return by_vector<kLoad, M, u64>(form);
      break;
    case 16:
      if constexpr (sizeof(M) == 16) return by_vector<kLoad, M, u128>(form);
      break;
  }
  return nullptr;
}

// Signed types are extended by their sign, all others by zeros.
Bound bind_load(const Form& form) {
  const u32 width = form.width[0], control = control_of(form);
  switch (form.type[0]) {
    case Type::s8: return {by_register<true, i8>(form, width), control};
    case Type::s16: return {by_register<true, i16>(form, width), control};
    case Type::s32: return {by_register<true, i32>(form, width), control};
    default: break;
  }
  switch (bytes(form.type[0])) {
    case 1: return {by_register<true, u8>(form, width), control};
    case 2: return {by_register<true, u16>(form, width), control};
    case 4: return {by_register<true, u32>(form, width), control};
    case 8: return {by_register<true, u64>(form, width), control};
    case 16: return {by_register<true, u128>(form, width), control};
    default: return {};
  }
}

// A store takes the low bits: the sign does not matter.
Bound bind_store(const Form& form) {
  const u32 width = form.width[1], control = control_of(form);
  switch (bytes(form.type[0])) {
    case 1: return {by_register<false, u8>(form, width), control};
    case 2: return {by_register<false, u16>(form, width), control};
    case 4: return {by_register<false, u32>(form, width), control};
    case 8: return {by_register<false, u64>(form, width), control};
    case 16: return {by_register<false, u128>(form, width), control};
    default: return {};
  }
}

// ---- What only looks at addresses

void run_nothing(Warp&, const Instruction&) {}

// A cache policy is opaque, and there is no cache whose lines it could keep.
void run_create_policy(Warp& warp, const Instruction& i) {
  u64* d = warp.out<u64>(i.slot[0]);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = u64{1} << 52; });
}

// cvta: control is the space.
template <bool kTo>
void run_convert_address(Warp& warp, const Instruction& i) {
  u64* d = warp.out<u64>(i.slot[0]);
  const u64* a = warp.in<u64>(i.slot[1]);
  const u64 begin = window(static_cast<Space>(i.control));
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = kTo ? a[lane] - begin : a[lane] + begin; });
}
Bound bind_convert_address(const Form& form) {
  const u32 control = static_cast<u32>(form.space);
  return form.has("to") ? Bound(run_convert_address<true>, control) : Bound(run_convert_address<false>, control);
}

template <class T>
void run_is_space(Warp& warp, const Instruction& i) {
  const T* a = warp.in<T>(i.slot[1]);
  const Space wanted = static_cast<Space>(i.control);
  u32 result = 0;
  for (u32 rest = warp.mask; rest != 0; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(rest));
    const Space space = space_of(a[lane]);
    bool is = space == wanted;
    if (space == Space::shared) {  // another block's shared memory is in shared::cluster only
      const bool own = shared_rank(a[lane] - kSharedWindow) == warp.block->rank;
      is = wanted == Space::shared_cluster || (wanted == Space::shared && own);
    }
    if (wanted == Space::constant && space == Space::global) {
      const auto found = AddressSpace::instance().find(a[lane]);
      is = found != nullptr && found->kind == MemoryKind::module_constant;
    }
    if (is) result |= 1u << lane;
  }
  warp.set_predicate(i.slot[0], result);
}

Bound bind_is_space(const Form& form) {
  const u32 control = static_cast<u32>(form.space);
  return form.width[1] == 8 ? Bound(run_is_space<u64>, control) : Bound(run_is_space<u32>, control);
}

// mapa: the address in another block of the cluster that corresponds to one in this block's shared memory.
template <class T, bool kGeneric>
void run_map_address(Warp& warp, const Instruction& i) {
  T* d = warp.out<T>(i.slot[0]);
  const T* a = warp.in<T>(i.slot[1]);
  const u32* rank = warp.in<u32>(i.slot[2]);
  const u64 begin = kGeneric ? kSharedWindow : 0;
  for_lanes(warp.mask, [=](u32 lane) {
    const u64 offset = (a[lane] - begin) % kSharedStride;
    d[lane] = static_cast<T>(begin + u64{rank[lane]} * kSharedStride + offset);
  });
}
Bound bind_map_address(const Form& form) {
  const bool generic = form.space == Space::generic;
  if (bits(form.type[0]) == 64) return generic ? run_map_address<u64, true> : run_map_address<u64, false>;
  return generic ? Bound() : Bound(run_map_address<u32, false>);
}

template <class T, bool kGeneric>
void run_rank_of(Warp& warp, const Instruction& i) {
  u32* d = warp.out<u32>(i.slot[0]);
  const T* a = warp.in<T>(i.slot[1]);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = shared_rank(a[lane] - (kGeneric ? kSharedWindow : 0)); });
}
Bound bind_rank_of(const Form& form) {
  const bool generic = form.space == Space::generic;
  if (bits(form.type[0]) == 64) return generic ? run_rank_of<u64, true> : run_rank_of<u64, false>;
  return generic ? Bound() : Bound(run_rank_of<u32, false>);
}

template <Handler run>
Bound bind(const Form&) {
  return run;
}

// Where caches have their say, where only some of it, and what threads share.
#define LOADED_NEAR ".const|local|param|param::entry|param::func|shared|shared::cta|shared::cluster"
#define STORED_NEAR ".local|param|param::func|shared|shared::cta|shared::cluster"
#define SHARED_BY_ALL "{.global|shared|shared::cta|shared::cluster}"
#define SHARED_NEAR ".shared|shared::cta|shared::cluster"
#define EVICT ".L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"
#define PREFETCH "{.L2::64B|L2::128B|L2::256B}"
#define UP_TO_32 "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"
#define UP_TO_64 "." UP_TO_32 "|b64|u64|s64|f64"
// All widths: at most 16 bytes a lane.
#define LOADS(syntax, more, ptx, target)                                                                     \
  {syntax "{.v2}" UP_TO_64, "={t0~}v [m]" more, bind_load, ptx, target, kSharedOffset},                      \
      {syntax ".v4." UP_TO_32, "={t0~}v [m]" more, bind_load, ptx, target, kSharedOffset}, {                 \
    syntax ".b128", "=t0 [m]" more, bind_load, ptx > 83 ? ptx : 83, target > 70 ? target : 70, kSharedOffset \
  }
#define STORES(syntax, more, ptx, target)                                                                    \
  {syntax "{.v2}" UP_TO_64, "[m] {t0~}v" more, bind_store, ptx, target, kSharedOffset},                      \
      {syntax ".v4." UP_TO_32, "[m] {t0~}v" more, bind_store, ptx, target, kSharedOffset}, {                 \
    syntax ".b128", "[m] t0" more, bind_store, ptx > 83 ? ptx : 83, target > 70 ? target : 70, kSharedOffset \
  }
// With and without a cache policy behind the address.
#define LOADS_HINT(syntax, ptx, target) \
  LOADS(syntax PREFETCH, "", ptx, target), LOADS(syntax ".L2::cache_hint" PREFETCH, " b64", 74, 80)
#define STORES_HINT(syntax, ptx, target) \
  STORES(syntax, "", ptx, target), STORES(syntax ".L2::cache_hint", " b64", 74, 80)

const Row kRows[] = {
    // Caching is the device's affair: operators, priorities and prefetch sizes are allowed where the manual allows
    // them,
    // and change nothing here.
    LOADS_HINT("ld{.weak}{.global}{.ca|cg|cs|lu|cv}", 0, 0),
    LOADS("ld{.weak}" LOADED_NEAR "{.ca|cg|cs|lu|cv}", "", 0, 0),
    LOADS_HINT("ld{.weak}{.global}" EVICT, 74, 70),
    LOADS("ld.volatile{.global}" PREFETCH, "", 0, 0),
    LOADS("ld.volatile" SHARED_NEAR, "", 0, 0),
    LOADS_HINT("ld.relaxed|acquire.scope{.global}", 60, 70),
    LOADS("ld.relaxed|acquire.scope" SHARED_NEAR, "", 60, 70),
    LOADS_HINT("ld.relaxed|acquire.scope{.global}" EVICT, 74, 70),
    {"ld.mmio.relaxed.sys{.global}" UP_TO_64, "=t0~ [m]", bind_load, 82, 70},
    {"ld.mmio.relaxed.sys{.global}.b128", "=t0 [m]", bind_load, 84, 70},
    LOADS_HINT("ld.global{.ca|cg|cs}.nc", 31, 32),
    LOADS_HINT("ld.global.nc" EVICT, 74, 70),
    LOADS("ldu{.global}", "", 0, 0),

    STORES_HINT("st{.weak}{.global}{.wb|cg|cs|wt}", 0, 0),
    STORES("st{.weak}" STORED_NEAR "{.wb|cg|cs|wt}", "", 0, 0),
    STORES_HINT("st{.weak}{.global}" EVICT, 74, 70),
    STORES("st.volatile" SHARED_BY_ALL, "", 0, 0),
    STORES_HINT("st.relaxed|release.scope{.global}", 60, 70),
    STORES("st.relaxed|release.scope" SHARED_NEAR, "", 60, 70),
    STORES_HINT("st.relaxed|release.scope{.global}" EVICT, 74, 70),
    {"st.mmio.relaxed.sys{.global}" UP_TO_64, "[m] t0~", bind_store, 82, 70},
    {"st.mmio.relaxed.sys{.global}.b128", "[m] t0", bind_store, 84, 70},

    // Prefetching does nothing, whatever the address; nor does the priority of a line. What discard leaves in memory is
    // undefined, so it may stay.
    {"prefetch{.global|local}.L1|L2", "[m]", bind<run_nothing>},
    {"prefetch.global.L2::evict_last|L2::evict_normal", "[m]", bind<run_nothing>, 74, 80},
    {"prefetch{.const|param}.tensormap", "[m]", bind<run_nothing>, 80, 90},
    {"prefetchu.L1", "[m]", bind<run_nothing>},
    {"applypriority{.global}.L2::evict_normal", "[m] imm(128)", bind<run_nothing>, 74, 80},
    {"discard{.global}.L2", "[m] imm(128)", bind<run_nothing>, 74, 80},
    {"createpolicy.fractional.L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
     "{.L2::evict_first|L2::evict_unchanged}.b64",
     "=b64 f32?", bind<run_create_policy>, 74, 80},
    {"createpolicy.range{.global}.L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
     "{.L2::evict_first|L2::evict_unchanged}.b64",
     "=b64 [m] u32 u32", bind<run_create_policy>, 74, 80},
    {"createpolicy.cvt.L2.b64", "=b64 b64", bind<run_create_policy>, 74, 80},

    // 32-bit addresses went with 32-bit devices: there is no room in them for windows.
    {"cvta.const|global|local|shared|shared::cta|shared::cluster|param|param::entry.u64", "=t0 t0",
     bind_convert_address, 0, 0, kTakesAddress},
    {"cvta.to.const|global|local|shared|shared::cta|shared::cluster|param|param::entry.u64", "=t0 t0",
     bind_convert_address},
    {"isspacep.const|global|local|shared|shared::cta|shared::cluster|param|param::entry", "=pred b32~", bind_is_space},
    {"mapa.u64", "=t0 t0 u32", bind_map_address, 78, 90},
    {"mapa.shared::cluster.u32|u64", "=t0 t0 u32", bind_map_address, 78, 90, kTakesAddress},
    {"getctarank.u64", "=u32 t0", bind_rank_of, 78, 90},
    {"getctarank.shared::cluster.u32|u64", "=u32 t0", bind_rank_of, 78, 90, kTakesAddress},
};

}  // namespace

std::span<const Row> memory_rows() { return kRows; }

}  // namespace cudasim
