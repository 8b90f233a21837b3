// Loads. PTX ISA, "Data Movement and Conversion Instructions": ld, ldu.
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/isa/memory.hpp"

namespace cudasim {
namespace {

void after_load(Warp& warp, const Instruction& i) {
  if ((i.control & kAcquire) != 0) raw_fence_acquire();
  warp.poll();
}

// A lane's elements, from memory to its registers. M: the type in memory, R: in the register.
template <class M, class R>
void load_lane(Warp& warp, const Instruction& i, u32 lane, const std::byte* from) {
  const u32 elements = i.control & kElements;
  for (u32 e = 0; e < elements; ++e) {
    if (i.slot[e] != kNoSlot) warp.out<R>(i.slot[e])[lane] = static_cast<R>(raw_load<M>(from + e * sizeof(M)));
  }
}

// Copies what one lane has loaded to another that reads the same address. One access serves all such lanes of a warp,
// so they get the same value even if another thread writes at that moment. GCC's OpenMP relies on it.
template <class R>
void copy_lane(Warp& warp, const Instruction& i, u32 elements, u32 from, u32 to) {
  for (u32 e = 0; e < elements; ++e) {
    if (i.slot[e] != kNoSlot) warp.out<R>(i.slot[e])[to] = warp.out<R>(i.slot[e])[from];
  }
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

// Global and constant memory, and generic addresses, most of which are global.
template <class M, class R, u32 V, class Where>
void load_global(Warp& warp, const Instruction& i) {
  const Where where(warp, i, i.slot[V]);
  load_with<M, R, V>(warp, i, where, global_region(warp, i, where[first_lane(warp.mask)]));
}

// The block's own shared memory; compilers write 32-bit addresses, or the variable's name.
template <class M, class R, u32 V, class Address>
void load_shared(Warp& warp, const Instruction& i) {
  const Slot base = i.slot[V];
  load_with<M, R, V>(warp, i, Based<Address>(warp, i, base), shared_region(warp, base));
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

struct Loads {
  template <class M, class R, u32 V>
  static Handler handler(Way way) {
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
};

// Signed types are extended by their sign, all others by zeros.
Bound bind_load(const Form& form) {
  const u32 width = form.width[0], control = control_of(form);
  switch (form.type[0]) {
    case Type::s8: return {by_register<Loads, i8>(form, width), control};
    case Type::s16: return {by_register<Loads, i16>(form, width), control};
    case Type::s32: return {by_register<Loads, i32>(form, width), control};
    default: break;
  }
  switch (bytes(form.type[0])) {
    case 1: return {by_register<Loads, u8>(form, width), control};
    case 2: return {by_register<Loads, u16>(form, width), control};
    case 4: return {by_register<Loads, u32>(form, width), control};
    case 8: return {by_register<Loads, u64>(form, width), control};
    case 16: return {by_register<Loads, u128>(form, width), control};
    default: return {};
  }
}

#define LOADED_NEAR ".const|local|param|param::entry|param::func|shared|shared::cta|shared::cluster"
#define PREFETCH "{.L2::64B|L2::128B|L2::256B}"
#define LOADS(syntax, more, ptx, target)                                                                  \
  {syntax "{.v2}" UP_TO_64, "={t0~}v [m]" more, bind_load, ptx, target, kAddressed},                      \
      {syntax ".v4." UP_TO_32, "={t0~}v [m]" more, bind_load, ptx, target, kAddressed}, {                 \
    syntax ".b128", "=t0 [m]" more, bind_load, ptx > 83 ? ptx : 83, target > 70 ? target : 70, kAddressed \
  }
#define LOADS_HINT(syntax, ptx, target) \
  LOADS(syntax PREFETCH, "", ptx, target), LOADS(syntax ".L2::cache_hint" PREFETCH, " b64", 74, 80)

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
};

}  // namespace

std::span<const Row> load_rows() { return kRows; }

}  // namespace cudasim
