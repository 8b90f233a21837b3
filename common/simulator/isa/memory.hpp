// What loads and stores have in common: Instruction::control, the addresses of a warp, and the choice of a handler.
//
// All addresses of a warp are checked at once (pattern.hpp) against the allocation that this instruction accessed last
// (view_of). If that does not settle it, each lane's address is looked up (exec/access.hpp).
#pragma once
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/described.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/isa/pattern.hpp"
#include "common/simulator/isa/row.hpp"

#include <type_traits>

namespace cudasim {

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

inline Space space_in(const Instruction& i) { return static_cast<Space>(i.control >> kSpaceShift & 15); }

alignas(64) inline constexpr u64 kNoBase[kWarpSize] = {};

template <class Address>
const Address* base_of(const Warp& warp, Slot slot) {
  return slot == kNoSlot ? reinterpret_cast<const Address*>(kNoBase) : warp.in<Address>(slot);
}

// `address`: one of those that the instruction uses; a generic one may be in the block's shared memory.
inline Region global_region(Warp& warp, const Instruction& i, u64 address) {
  const u64 own = kSharedWindow + warp.block->shared_begin;
  if (space_in(i) == Space::generic && address - own < kSharedStride) {
    return {own, warp.block->quick_shared_bytes, reinterpret_cast<u64>(warp.block->shared) - own};
  }
  const View& view = view_of(warp, i);
  return {view.begin, view.end - view.begin, static_cast<u64>(view.delta)};
}
// Without a base register, an address is an offset in the block's own memory, whichever block that is.
inline Region shared_region(Warp& warp, Slot base) {
  const u64 begin = base == kNoSlot ? 0 : warp.block->shared_begin;
  return {begin, warp.block->quick_shared_bytes, reinterpret_cast<u64>(warp.block->shared) - begin};
}

inline std::byte* at(u64 host) { return reinterpret_cast<std::byte*>(host); }

inline u64 offset_of(const Instruction& i) { return static_cast<u64>(i.offset); }

// Where the lanes touch memory: a register and an offset.
template <class T>
struct Based {
  using Value = T;
  static constexpr bool kIndexed = false;
  static constexpr u64 scale = 1;
  const Value* values;
  u64 offset;

  Based(const Warp& warp, const Instruction& i, Slot base) : values(base_of<Value>(warp, base)), offset(offset_of(i)) {}
  explicit Based(const Value* addresses) : values(addresses), offset(0) {}
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

inline bool is_indexed(const Instruction& i) { return (i.control >> kScaleShift & kMaxScale) != 0; }

// A lane's address; the name of a shared variable, without a register, stands for the block's own memory.
inline u64 checked_address(const Warp& warp, const Instruction& i, Slot base, u32 lane) {
  if (is_indexed(i)) return Indexed(warp, i, base)[lane];
  const bool own = base == kNoSlot && space_in(i) == Space::shared;
  return address_of(warp, i, base, (i.control & kNarrow) != 0, lane) + (own ? warp.block->shared_begin : 0);
}

// Local memory: each lane has its own. A variable of the frame is at the same place in all.
template <class M>
inline bool in_frame(const Warp& warp, const Instruction& i, Slot base, u32& at) {
  const u64 size = (i.control & kElements) * sizeof(M), offset = offset_of(i);
  at = warp.frame->local_base + static_cast<u32>(offset);
  const u32 end = warp.frame->code->local_bytes;
  if (warp.observer != nullptr && warp.observer->wants_accesses()) return false;  // each is to be seen
  return base == kNoSlot && offset <= end && size <= end - offset && offset % size == 0;
}

// In local space an address is relative to the frame if there is no base register.
inline u64 local_address(const Warp& warp, const Instruction& i, Slot base, u32 lane) {
  return address_of(warp, i, base, (i.control & kNarrow) != 0, lane) + (base == kNoSlot ? warp.frame->local_base : 0);
}

// Calls f(lane, place) for each executing lane if all of them access their own local memory, in local space or through
// generic addresses, inside and aligned. Otherwise it does nothing, and access() has to look at each lane.
template <class F>
bool in_own_local(Warp& warp, const Instruction& i, Slot base, u32 size, F f) {
  const bool generic = space_in(i) == Space::generic, narrow = (i.control & kNarrow) != 0;
  if ((!generic && space_in(i) != Space::local) || is_indexed(i)) return false;
  const u64 begin = generic ? kLocalWindow : 0;
  if (generic && address_of(warp, i, base, narrow, first_lane(warp.mask)) - begin >= kWindowBytes) return false;
  const LocalRange local = local_range(warp);
  if (local.end < size) return false;
  const auto offset = [&, at = base == kNoSlot ? local.base - begin : u64{0} - begin](u32 lane) {
    return address_of(warp, i, base, narrow, lane) + at;
  };
  u64 all = 0;
  bool outside = false;
  for (const u32 lane : set_bits(warp.mask)) all |= offset(lane), outside |= offset(lane) > local.end - size;
  if (outside || all % size != 0) return false;
  for (const u32 lane : set_bits(warp.mask)) f(lane, local.at + lane * local.stride + offset(lane));
  return true;
}

inline u32 control_of(const Form& form) {
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

// `control`: of an instruction.
inline Way way_of(u32 control) {
  const bool narrow = (control & kNarrow) != 0, indexed = (control >> kScaleShift & kMaxScale) != 0;
  switch (static_cast<Space>(control >> kSpaceShift & 15)) {
    case Space::generic:
    case Space::global:
    case Space::constant: return narrow ? Way::carefully : indexed ? Way::indexed : Way::global;
    case Space::shared: return narrow ? Way::shared : Way::shared_wide;
    case Space::local: return Way::local;
    case Space::param: return Way::parameter;
    default: return Way::carefully;
  }
}

// The addresses of all lanes in a list, where code of its own for each Where is not worth its size.
struct Listed {
  alignas(64) u64 address[kWarpSize];

  [[gnu::noinline]] Listed(const Warp& warp, const Instruction& i, Slot base) {
    switch (way_of(i.control)) {
      case Way::indexed: fill(Indexed(warp, i, base)); break;
      case Way::shared: fill(Based<u32>(warp, i, base)); break;
      default: fill(Based<u64>(warp, i, base));
    }
  }
  template <class Where>
  void fill(const Where& where) {
    for (u32 lane = 0; lane < kWarpSize; ++lane) address[lane] = where[lane];
  }
};

inline Region region_of(Warp& warp, const Instruction& i, Slot base, u64 address) {
  return space_in(i) == Space::shared ? shared_region(warp, base) : global_region(warp, i, address);
}

// Values that an instruction moves, element by element, each a row of 32 lanes: in registers that are as wide as the
// elements …
template <class M>
struct Registers {
  Warp& warp;
  const Slot* slots;
  bool has(u32 e) const { return slots[e] != kNoSlot; }
  M* to(u32 e) const { return warp.out<M>(slots[e]); }
  const M* from(u32 e) const { return warp.in<M>(slots[e]); }
};
// … or in between memory and registers that are wider.
template <class M>
struct Between {
  M (*rows)[kWarpSize];
  bool has(u32) const { return true; }
  M* to(u32 e) const { return rows[e]; }
  const M* from(u32 e) const { return rows[e]; }
};
constexpr u32 kMostElements = 4;

// Whether V elements are so often accessed in this way that they get a function of their own.
template <class M, u32 V>
constexpr bool is_common(Way way) {
  if (sizeof(M) == 16) return false;
  return way == Way::global || (way == Way::shared && (V == 1 || sizeof(M) > 2)) || V == 1;
}

// Access: Loads (load.cpp) or Stores (store.cpp). Its handler<M, V>(way) is the function for V elements a lane in
// registers of their own width, and converts<M, R> the one for registers R that are wider, or for single bytes.
template <class Access, class M>
Handler by_vector(u32 vector, Way way) {
  switch (vector) {
    case 1: return Access::template handler<M, 1>(way);
    case 2: return Access::template handler<M, 2>(way);
    case 4: return Access::template handler<M, 4>(way);
    default: return nullptr;
  }
}

template <class Access, class M>
Handler by_register(u32 control, u32 width) {
  const u32 vector = control & kElements;
  if constexpr (sizeof(M) > 1 && !std::is_signed_v<M>)
    if (width == sizeof(M)) return by_vector<Access, M>(vector, way_of(control));
  if (vector > kMostElements) return nullptr;
  if constexpr (sizeof(M) == 1)
    if (width == 1) return Access::template converts<M, u8>;
  if constexpr (sizeof(M) < 2)
    if (width == 2) return Access::template converts<M, u16>;
  if constexpr (sizeof(M) < 4)
    if (width == 4) return Access::template converts<M, u32>;
  if constexpr (sizeof(M) < 8)
    if (width == 8) return Access::template converts<M, u64>;
  return nullptr;
}

// Parts of the rows. All widths: at most 16 bytes a lane.
#define SHARED_NEAR ".shared|shared::cta|shared::cluster"
#define EVICT ".L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"
#define UP_TO_32 "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"
#define UP_TO_64 "." UP_TO_32 "|b64|u64|s64|f64"
constexpr u32 kAddressed = kSharedOffset | kTakesIndex;

}  // namespace cudasim
