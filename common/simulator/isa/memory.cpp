// Loads and stores. PTX ISA, "Data Movement and Conversion Instructions": ld, ldu, st.
//
// All addresses of a warp are checked at once (isa/pattern.hpp) against the allocation that this instruction accessed
// last (view_of). If that does not settle it, each lane's address is looked up (exec/access.hpp).
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/isa/pattern.hpp"
#include "common/simulator/isa/row.hpp"

namespace cudasim {
namespace {

// Instruction::control of a load or store.
constexpr u32 kElements = 15;  // of the vector
constexpr u32 kPoll = 1 << 4;  // may be a spin's read
constexpr u32 kAcquire = 1 << 5;
constexpr u32 kRelease = 1 << 6;
constexpr u32 kNarrow = 1 << 7;  // the base register has 4 bytes
constexpr u32 kSpaceShift = 8;
constexpr u32 kScaleShift = 12;  // Form::scale
constexpr u32 kSignedIndex = 1u << 31;
static_assert(kMaxScale < 1u << (24 - kScaleShift));  // there begins what order_of() tells

Space space_in(const Instruction& i) { return static_cast<Space>(i.control >> kSpaceShift & 15); }

alignas(64) constexpr u64 kNoBase[kWarpSize] = {};

template <class Address>
const Address* base_of(const Warp& warp, Slot slot) {
  return slot == kNoSlot ? reinterpret_cast<const Address*>(kNoBase) : warp.in<Address>(slot);
}

// `address`: one of those that the instruction uses; a generic one may be in the block's shared memory.
Region global_region(Warp& warp, const Instruction& i, u64 address) {
  const u64 own = kSharedWindow + warp.block->shared_begin;
  if (space_in(i) == Space::generic && address - own < kSharedStride) {
    return {own, warp.block->quick_shared_bytes, reinterpret_cast<u64>(warp.block->shared) - own};
  }
  const View& view = view_of(warp, i);
  return {view.begin, view.end - view.begin, static_cast<u64>(view.delta)};
}
// Without a base register, an address is an offset in the block's own memory, whichever block that is.
Region shared_region(Warp& warp, Slot base) {
  const u64 begin = base == kNoSlot ? 0 : warp.block->shared_begin;
  return {begin, warp.block->quick_shared_bytes, reinterpret_cast<u64>(warp.block->shared) - begin};
}

std::byte* at(u64 host) { return reinterpret_cast<std::byte*>(host); }

u64 offset_of(const Instruction& i) { return static_cast<u64>(i.offset); }

// Where the lanes touch memory: a register and an offset.
template <class T>
struct Based {
  using Value = T;
  static constexpr bool kIndexed = false;
  static constexpr u64 scale = 1;
  const Value* values;
  u64 offset;

  Based(const Warp& warp, const Instruction& i, Slot base) : values(base_of<Value>(warp, base)), offset(offset_of(i)) {}
  static Value rank(Value value) { return value; }                // the higher, the higher the address …
  u64 of(Value rank) const { return u64{rank} + offset; }         // … which is this
  Value low(Value value) const { return value + Value(offset); }  // its low bits
  u64 operator[](u32 lane) const { return of(values[lane]); }
};

// The same with an index register: one address for all lanes, plus an index times the scale.
struct Indexed {
  using Value = u32;
  static constexpr bool kIndexed = true;
  const Value* values;
  u64 begin, scale, sign;  // sign: the bit that makes an index negative, if any does

  Indexed(const Warp& warp, const Instruction& i, Slot base)
      : values(warp.in<Value>(i.slot[(i.control & kElements) + 1])),
        begin(*warp.in<u64>(base) + offset_of(i)),
        scale(i.control >> kScaleShift & kMaxScale),
        sign((i.control & kSignedIndex) != 0 ? u64{1} << 31 : 0) {}
  Value rank(Value value) const { return value ^ Value(sign); }
  u64 of(Value rank) const { return begin + (rank - sign) * scale; }
  Value low(Value value) const { return Value(begin) + value * Value(scale); }
  u64 operator[](u32 lane) const { return of(rank(values[lane])); }
};

bool is_indexed(const Instruction& i) { return (i.control >> kScaleShift & kMaxScale) != 0; }

void after_load(Warp& warp, const Instruction& i) {
  if ((i.control & kAcquire) != 0) raw_fence_acquire();
  warp.poll();
}

void before_store(const Instruction& i) {
  if ((i.control & kRelease) != 0) raw_fence_release();
}

// A lane's elements, from memory to its registers. M: the type in memory, R: in the register.
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

// Copies what one lane has loaded to another that reads the same address. One access serves all such lanes of a warp, so
// they get the same value even if another thread writes at that moment. GCC's OpenMP relies on it.
template <class R>
void copy_lane(Warp& warp, const Instruction& i, u32 elements, u32 from, u32 to) {
  for (u32 e = 0; e < elements; ++e) {
    if (i.slot[e] != kNoSlot) warp.out<R>(i.slot[e])[to] = warp.out<R>(i.slot[e])[from];
  }
}

// A lane's address; the name of a shared variable, without a register, stands for the block's own memory.
u64 checked_address(const Warp& warp, const Instruction& i, Slot base, u32 lane) {
  if (is_indexed(i)) return Indexed(warp, i, base)[lane];
  const bool own = base == kNoSlot && space_in(i) == Space::shared;
  return address_of(warp, i, base, (i.control & kNarrow) != 0, lane) + (own ? warp.block->shared_begin : 0);
}

// Lane by lane, every address looked up.
template <class M, class R>
[[gnu::noinline]] void load_carefully(Warp& warp, const Instruction& i) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  const Slot base = i.slot[elements];
  const std::byte* last = nullptr;
  u32 before = 0;
  for (const u32 lane : set_bits(warp.mask)) {
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
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 address = checked_address(warp, i, i.slot[0], lane);
    store_lane<M, R>(warp, i, lane,
                     access(warp, lane, space_in(i), address, size, size, Access::write, &view_of(warp, i)));
  }
  warp.polls = 0;
}

// Eight lanes at a time, from or to elements that lie kStride apart: first all are read, then all written, which makes
// vector code.
template <class M, class R, u32 kStride, u32 kLanes>
inline void load_row(R* d, const std::byte* first) {
  if constexpr (sizeof(M) == sizeof(R) && kStride == sizeof(M))
    return raw_copy<M, kLanes * kStride>(reinterpret_cast<std::byte*>(d), first);
  for (u32 from = 0; from < kLanes; from += kGroup) {
    R row[kGroup];
    for (u32 l = 0; l < kGroup; ++l) row[l] = static_cast<R>(raw_load<M>(first + (from + l) * kStride));
    for (u32 l = 0; l < kGroup; ++l) d[from + l] = row[l];
  }
}
template <class M, class R, u32 kStride, u32 kLanes>
inline void store_row(const R* a, std::byte* first) {
  if constexpr (sizeof(M) == sizeof(R) && kStride == sizeof(M))
    return raw_copy<M, kLanes * kStride>(first, reinterpret_cast<const std::byte*>(a));
  for (u32 from = 0; from < kLanes; from += kGroup) {
    M row[kGroup];
    for (u32 l = 0; l < kGroup; ++l) row[l] = static_cast<M>(a[from + l]);
    for (u32 l = 0; l < kGroup; ++l) raw_store<M>(first + (from + l) * kStride, row[l]);
  }
}

// Whole rows, of kLanes each. The destination may be the register that says where.
template <class M, class R, u32 V, u32 kLanes, class Where>
inline void load_rows(Warp& warp, const Instruction& i, const Where& where, u64 host) {
  for (u32 lane = 0; lane < kWarpSize; lane += kLanes) {
    const std::byte* first = at(host + where[lane]);
    for (u32 e = 0; e < V; ++e) {
      if (V > 1 && i.slot[e] == kNoSlot) continue;
      load_row<M, R, V * sizeof(M), kLanes>(warp.out<R>(i.slot[e]) + lane, first + e * sizeof(M));
    }
  }
}
template <class M, class R, u32 V, u32 kLanes, class Where>
inline void store_rows(Warp& warp, const Instruction& i, const Where& where, u64 host) {
  for (u32 lane = 0; lane < kWarpSize; lane += kLanes) {
    std::byte* first = at(host + where[lane]);
    for (u32 e = 0; e < V; ++e)
      store_row<M, R, V * sizeof(M), kLanes>(warp.in<R>(i.slot[1 + e]) + lane, first + e * sizeof(M));
  }
}

// kLanes each from one place, which is read once (see copy_lane).
template <class M, class R, u32 V, u32 kLanes, class Where>
inline void load_points(Warp& warp, const Instruction& i, const Where& where, u64 host) {
  R values[V] = {};
  const std::byte* before = nullptr;
  for (u32 first = 0; first < kWarpSize; first += kLanes) {
    const std::byte* place = at(host + where[first]);
    for (u32 e = 0; e < V && place != before; ++e) values[e] = static_cast<R>(raw_load<M>(place + e * sizeof(M)));
    before = place;
    for (u32 e = 0; e < V; ++e) {
      if (V > 1 && i.slot[e] == kNoSlot) continue;
      R* d = warp.out<R>(i.slot[e]) + first;
      for (u32 lane = 0; lane < kLanes; ++lane) d[lane] = values[e];
    }
  }
}

template <class M, class R, u32 V, class Where>
inline void load_with(Warp& warp, const Instruction& i, const Where& where, const Region& region) {
  constexpr u32 kBytes = V * sizeof(M);
  if (warp.mask == kAllLanes && is_row<kBytes>(where, region)) {
    load_rows<M, R, V, kWarpSize>(warp, i, where, region.host);
  } else if (warp.mask == kAllLanes) {
    switch (pattern_of<kBytes>(where, region)) {
      case Pattern::outside: return load_carefully<M, R>(warp, i);
      case Pattern::rows: load_rows<M, R, V, kGroup>(warp, i, where, region.host); break;
      case Pattern::point: load_points<M, R, V, kWarpSize>(warp, i, where, region.host); break;
      case Pattern::points: load_points<M, R, V, kGroup>(warp, i, where, region.host); break;
      case Pattern::scattered:
        for (u32 lane = 0; lane < kWarpSize; ++lane) load_lane<M, R>(warp, i, lane, at(region.host + where[lane]));
    }
  } else {
    if (!inside<kBytes>(where, region, warp.mask)) return load_carefully<M, R>(warp, i);
    const std::byte* last = nullptr;
    u32 before = 0;
    for (const u32 lane : set_bits(warp.mask)) {
      const std::byte* const place = at(region.host + where[lane]);
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

template <class M, class R, u32 V, class Where>
inline void store_with(Warp& warp, const Instruction& i, const Where& where, const Region& region) {
  constexpr u32 kBytes = V * sizeof(M);
  if (warp.mask == kAllLanes && is_row<kBytes>(where, region)) {
    before_store(i);
    store_rows<M, R, V, kWarpSize>(warp, i, where, region.host);
  } else if (warp.mask == kAllLanes) {
    const Pattern pattern = pattern_of<kBytes>(where, region);
    if (pattern == Pattern::outside) return store_carefully<M, R>(warp, i);
    before_store(i);
    if (pattern == Pattern::rows) {
      store_rows<M, R, V, kGroup>(warp, i, where, region.host);
    } else {  // of those to one address, the last lane's value stays
      for (u32 lane = 0; lane < kWarpSize; ++lane) store_lane<M, R>(warp, i, lane, at(region.host + where[lane]));
    }
  } else {
    if (!inside<kBytes>(where, region, warp.mask)) return store_carefully<M, R>(warp, i);
    before_store(i);
    for (const u32 lane : set_bits(warp.mask)) {
      store_lane<M, R>(warp, i, lane, at(region.host + where[lane]));
    }
  }
  warp.polls = 0;
}

// Global and constant memory, and generic addresses, most of which are global.
template <class M, class R, u32 V, class Where>
void load_global(Warp& warp, const Instruction& i) {
  const Where where(warp, i, i.slot[V]);
  load_with<M, R, V>(warp, i, where, global_region(warp, i, where[first_lane(warp.mask)]));
}
template <class M, class R, u32 V, class Where>
void store_global(Warp& warp, const Instruction& i) {
  const Where where(warp, i, i.slot[0]);
  const u64 address = where[first_lane(warp.mask)];
  const bool in_shared = space_in(i) == Space::generic && space_of(address) == Space::shared;
  if (!in_shared && !view_of(warp, i).writable) {
    return store_carefully<M, R>(warp, i);
  }
  store_with<M, R, V>(warp, i, where, global_region(warp, i, address));
}

// The block's own shared memory; compilers write 32-bit addresses, or the variable's name.
template <class M, class R, u32 V, class Address>
void load_shared(Warp& warp, const Instruction& i) {
  const Slot base = i.slot[V];
  load_with<M, R, V>(warp, i, Based<Address>(warp, i, base), shared_region(warp, base));
}
template <class M, class R, u32 V, class Address>
void store_shared(Warp& warp, const Instruction& i) {
  const Slot base = i.slot[0];
  store_with<M, R, V>(warp, i, Based<Address>(warp, i, base), shared_region(warp, base));
}

// Local memory: each lane has its own. A variable of the frame is at the same place in all.
template <class M>
bool in_frame(const Warp& warp, const Instruction& i, Slot base, u32& at) {
  const u64 size = (i.control & kElements) * sizeof(M), offset = offset_of(i);
  at = warp.frame->local_base + static_cast<u32>(offset);
  const u32 end = warp.frame->code->local_bytes;
  if (warp.observer != nullptr && warp.observer->wants_accesses()) return false;  // each is to be seen
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
  for (const u32 lane : set_bits(warp.mask)) {
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
  for (const u32 lane : set_bits(warp.mask)) {
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
  control |= form.scale << kScaleShift;
  if (form.index_signed) control |= kSignedIndex;
  return control;
}

enum class Way : u8 { global, indexed, shared, shared_wide, local, parameter, carefully };

Way way_of(const Form& form) {
  const bool narrow = form.address_bytes == 4;
  switch (form.space) {
    case Space::generic:
    case Space::global:
    case Space::constant: return narrow ? Way::carefully : form.scale != 0 ? Way::indexed : Way::global;
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
      case Way::global: return load_global<M, R, V, Based<u64>>;
      case Way::indexed: return load_global<M, R, V, Indexed>;
      case Way::shared: return load_shared<M, R, V, u32>;
      case Way::shared_wide: return load_shared<M, R, V, u64>;
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
      case Way::global: return store_global<M, R, V, Based<u64>>;
      case Way::indexed: return store_global<M, R, V, Indexed>;
      case Way::shared: return store_shared<M, R, V, u32>;
      case Way::shared_wide: return store_shared<M, R, V, u64>;
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

// Where caches have their say, where only some of it, and what threads share.
#define LOADED_NEAR ".const|local|param|param::entry|param::func|shared|shared::cta|shared::cluster"
#define STORED_NEAR ".local|param|param::func|shared|shared::cta|shared::cluster"
#define SHARED_BY_ALL "{.global|shared|shared::cta|shared::cluster}"
#define SHARED_NEAR ".shared|shared::cta|shared::cluster"
#define EVICT ".L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"
#define PREFETCH "{.L2::64B|L2::128B|L2::256B}"
#define UP_TO_32 "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"
#define UP_TO_64 "." UP_TO_32 "|b64|u64|s64|f64"
constexpr u32 kAddressed = kSharedOffset | kTakesIndex;
// All widths: at most 16 bytes a lane.
#define LOADS(syntax, more, ptx, target)                                                                  \
  {syntax "{.v2}" UP_TO_64, "={t0~}v [m]" more, bind_load, ptx, target, kAddressed},                      \
      {syntax ".v4." UP_TO_32, "={t0~}v [m]" more, bind_load, ptx, target, kAddressed}, {                 \
    syntax ".b128", "=t0 [m]" more, bind_load, ptx > 83 ? ptx : 83, target > 70 ? target : 70, kAddressed \
  }
#define STORES(syntax, more, ptx, target)                                                                 \
  {syntax "{.v2}" UP_TO_64, "[m] {t0~}v" more, bind_store, ptx, target, kAddressed},                      \
      {syntax ".v4." UP_TO_32, "[m] {t0~}v" more, bind_store, ptx, target, kAddressed}, {                 \
    syntax ".b128", "[m] t0" more, bind_store, ptx > 83 ? ptx : 83, target > 70 ? target : 70, kAddressed \
  }
// With and without a cache policy behind the address.
#define LOADS_HINT(syntax, ptx, target) \
  LOADS(syntax PREFETCH, "", ptx, target), LOADS(syntax ".L2::cache_hint" PREFETCH, " b64", 74, 80)
#define STORES_HINT(syntax, ptx, target) \
  STORES(syntax, "", ptx, target), STORES(syntax ".L2::cache_hint", " b64", 74, 80)

const Row kRows[] = {
    // Cache operators, priorities and prefetch sizes are accepted where the manual allows them. They change nothing.
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
};

}  // namespace

std::span<const Row> memory_rows() { return kRows; }

}  // namespace cudasim
