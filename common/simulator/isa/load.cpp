// Loads. PTX ISA, "Data Movement and Conversion Instructions": ld, ldu.
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/isa/memory.hpp"

namespace cudasim {
namespace {

void after_load(Warp& warp, const Instruction& i) {
  if ((i.control & kAcquire) != 0) raw_fence_acquire();
  warp.poll();
}

// A lane's elements, from memory to where `d` says.
template <class M, class Rows>
void load_lane(const Rows& d, u32 elements, u32 lane, const std::byte* from) {
  for (u32 e = 0; e < elements; ++e) {
    if (d.has(e)) d.to(e)[lane] = raw_load<M>(from + e * sizeof(M));
  }
}

// Copies what one lane has loaded to another that reads the same address. One access serves all such lanes of a warp,
// so they get the same value even if another thread writes at that moment. GCC's OpenMP relies on it.
template <class Rows>
void copy_lane(const Rows& d, u32 elements, u32 from, u32 to) {
  for (u32 e = 0; e < elements; ++e) {
    if (d.has(e)) d.to(e)[to] = d.to(e)[from];
  }
}

// Lane by lane, every address looked up.
template <class M, class Rows>
[[gnu::noinline]] void load_carefully(Warp& warp, const Instruction& i, Rows d) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  const Slot base = i.slot[elements];
  const auto load = [&](u32 lane, const std::byte* from) { load_lane<M>(d, elements, lane, from); };
  const bool own = in_own_local(warp, i, base, size, load);
  const std::byte* last = nullptr;
  u32 before = 0;
  for (const u32 lane : set_bits(own ? 0 : warp.mask)) {
    const u64 address = checked_address(warp, i, base, lane);
    const std::byte* const place =
        access(warp, lane, space_in(i), address, size, size, Access::read, &view_of(warp, i));
    if (place == last) {
      copy_lane(d, elements, before, lane);
    } else {
      load_lane<M>(d, elements, lane, place);
    }
    last = place, before = lane;
  }
  if ((i.control & (kPoll | kAcquire)) != 0) after_load(warp, i);
}

// Eight lanes at a time, from elements that lie kStride apart: first all are read, then all written, which makes vector
// code.
template <class M, u32 kStride, u32 kLanes>
inline void load_row(M* d, const std::byte* first) {
  if constexpr (kStride == sizeof(M)) return raw_copy<M, kLanes * kStride>(reinterpret_cast<std::byte*>(d), first);
  for (u32 from = 0; from < kLanes; from += kGroup) {
    M row[kGroup];
    for (u32 l = 0; l < kGroup; ++l) row[l] = raw_load<M>(first + (from + l) * kStride);
    for (u32 l = 0; l < kGroup; ++l) d[from + l] = row[l];
  }
}

// Whole rows, of kLanes each. The destination may be the register that says where.
template <class M, u32 V, u32 kLanes, class Rows, class Where>
inline void load_rows(const Rows& d, const Where& where, u64 host) {
  for (u32 lane = 0; lane < kWarpSize; lane += kLanes) {
    const std::byte* first = at(host + where[lane]);
    for (u32 e = 0; e < V; ++e) {
      if (V == 1 || d.has(e)) load_row<M, V * sizeof(M), kLanes>(d.to(e) + lane, first + e * sizeof(M));
    }
  }
}

// kLanes each from one place, which is read once (see copy_lane).
template <class M, u32 V, u32 kLanes, class Rows, class Where>
inline void load_points(const Rows& d, const Where& where, u64 host) {
  M values[V] = {};
  const std::byte* before = nullptr;
  for (u32 first = 0; first < kWarpSize; first += kLanes) {
    const std::byte* place = at(host + where[first]);
    for (u32 e = 0; e < V && place != before; ++e) values[e] = raw_load<M>(place + e * sizeof(M));
    before = place;
    for (u32 e = 0; e < V; ++e) {
      if (V > 1 && !d.has(e)) continue;
      M* const row = d.to(e) + first;
      for (u32 lane = 0; lane < kLanes; ++lane) row[lane] = values[e];
    }
  }
}

template <class M, u32 V, class Rows, class Where>
inline void load_with(Warp& warp, const Instruction& i, Rows d, const Where& where, const Region& region) {
  constexpr u32 kBytes = V * sizeof(M);
  if (warp.mask == kAllLanes && is_row<kBytes>(where, region)) {
    load_rows<M, V, kWarpSize>(d, where, region.host);
  } else if (warp.mask == kAllLanes) {
    switch (pattern_of<kBytes>(where, region)) {
      case Pattern::outside: return load_carefully<M>(warp, i, d);
      case Pattern::rows: load_rows<M, V, kGroup>(d, where, region.host); break;
      case Pattern::point: load_points<M, V, kWarpSize>(d, where, region.host); break;
      case Pattern::points: load_points<M, V, kGroup>(d, where, region.host); break;
      case Pattern::scattered:
        for (u32 lane = 0; lane < kWarpSize; ++lane) load_lane<M>(d, V, lane, at(region.host + where[lane]));
    }
  } else {
    if (!inside<kBytes>(where, region, warp.mask)) return load_carefully<M>(warp, i, d);
    const std::byte* last = nullptr;
    u32 before = 0;
    for (const u32 lane : set_bits(warp.mask)) {
      const std::byte* const place = at(region.host + where[lane]);
      if (place == last) {
        copy_lane(d, V, before, lane);
      } else {
        load_lane<M>(d, V, lane, place);
      }
      last = place, before = lane;
    }
  }
  if ((i.control & (kPoll | kAcquire)) != 0) after_load(warp, i);
}

// Global and constant memory, and generic addresses, most of which are global.
template <class M, u32 V, class Where>
void load_global(Warp& warp, const Instruction& i) {
  described<load_global<M, V, Where>, LoadsAs<M, M>>();
  const Where where(warp, i, i.slot[V]);
  const Region region = global_region(warp, i, where[first_lane(warp.mask)]);
  load_with<M, V>(warp, i, Registers<M>{warp, i.slot}, where, region);
}

// The block's own shared memory; compilers write 32-bit addresses, or the variable's name.
template <class M, u32 V, class Address>
void load_shared(Warp& warp, const Instruction& i) {
  described<load_shared<M, V, Address>, LoadsAs<M, M>>();
  const Slot base = i.slot[V];
  const Based<Address> where(warp, i, base);
  load_with<M, V>(warp, i, Registers<M>{warp, i.slot}, where, shared_region(warp, base));
}

// Either.
template <class M, u32 V, class Rows>
[[gnu::noinline]] void load_listed(Warp& warp, const Instruction& i, Rows d) {
  const Listed list(warp, i, i.slot[V]);
  const Region region = region_of(warp, i, i.slot[V], list.address[first_lane(warp.mask)]);
  load_with<M, V>(warp, i, d, Based<u64>(list.address), region);
}

template <class M, class Rows>
void load_local(Warp& warp, const Instruction& i, Rows d) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  const Slot base = i.slot[elements];
  u32 at = 0;
  if (in_frame<M>(warp, i, base, at)) {
    for_lanes(warp.mask, [&](u32 lane) { load_lane<M>(d, elements, lane, warp.block->local(warp, lane) + at); });
    return;
  }
  const auto load = [&](u32 lane, const std::byte* from) { load_lane<M>(d, elements, lane, from); };
  if (in_own_local(warp, i, base, size, load)) return;
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 address = local_address(warp, i, base, lane);
    load_lane<M>(d, elements, lane, access(warp, lane, Space::local, address, size, size, Access::read, nullptr));
  }
}

// The launch's parameters, the same for all threads.
template <class M, class Rows>
void load_parameter(Warp& warp, const Instruction& i, Rows d) {
  const u32 elements = i.control & kElements;
  const auto& parameters = warp.block->grid->launch.parameters;
  const u64 offset = offset_of(i), size = elements * sizeof(M);
  if (i.slot[elements] != kNoSlot || offset > parameters.size() || size > parameters.size() - offset)
    return load_carefully<M>(warp, i, d);
  for (u32 e = 0; e < elements; ++e) {
    if (!d.has(e)) continue;
    const M value = raw_load<M>(parameters.data() + offset + e * sizeof(M));
    M* const row = d.to(e);
    for_lanes(warp.mask, [=](u32 lane) { row[lane] = value; });
  }
}

template <class M, auto kLoad>
void to_registers(Warp& warp, const Instruction& i) {
  described<to_registers<M, kLoad>, LoadsAs<M, M>>();
  kLoad(warp, i, Registers<M>{warp, i.slot});
}

template <class M>
[[gnu::noinline]] void load_between(Warp& warp, const Instruction& i, Between<M> d) {
  switch (way_of(i.control)) {
    case Way::local: return load_local<M>(warp, i, d);
    case Way::parameter: return load_parameter<M>(warp, i, d);
    case Way::carefully: return load_carefully<M>(warp, i, d);
    default: break;
  }
  switch (i.control & kElements) {
    case 1: return load_listed<M, 1>(warp, i, d);
    case 2: return load_listed<M, 2>(warp, i, d);
    default: return load_listed<M, 4>(warp, i, d);
  }
}

struct Loads {
  template <class M, u32 V>
  static Handler handler(Way way) {
    using Rows = Registers<M>;
    if constexpr (V * sizeof(M) > 16) {
      return nullptr;
    } else {
      switch (way) {
        case Way::global:
          if constexpr (is_common<M, V>(Way::global)) return load_global<M, V, Based<u64>>;
          break;
        case Way::shared:
          if constexpr (is_common<M, V>(Way::shared)) return load_shared<M, V, u32>;
          break;
        case Way::indexed:
          if constexpr (is_common<M, V>(Way::indexed)) return load_global<M, V, Indexed>;
          break;
        case Way::shared_wide:
          if constexpr (is_common<M, V>(Way::shared_wide)) return load_shared<M, V, u64>;
          break;
        case Way::local: return to_registers<M, load_local<M, Rows>>;
        case Way::parameter: return to_registers<M, load_parameter<M, Rows>>;
        case Way::carefully: return to_registers<M, load_carefully<M, Rows>>;
      }
      return to_registers<M, load_listed<M, V, Rows>>;
    }
  }
  // Signed types are extended by their sign, all others by zeros.
  template <class M, class R>
  static void converts(Warp& warp, const Instruction& i) {
    described<converts<M, R>, LoadsAs<M, R>>();
    using Bits = std::make_unsigned_t<M>;
    alignas(64) Bits rows[kMostElements][kWarpSize];
    load_between<Bits>(warp, i, {rows});
    for (u32 e = 0; e < (i.control & kElements); ++e) {
      if (i.slot[e] == kNoSlot) continue;
      const Bits* const a = rows[e];
      R* const d = warp.out<R>(i.slot[e]);
      for_lanes(warp.mask, [=](u32 lane) { d[lane] = static_cast<R>(static_cast<M>(a[lane])); });
    }
  }
};

Bound bind_load(const Form& form) {
  const u32 width = form.width[0], control = control_of(form);
  const bool extended = width > bytes(form.type[0]);
  switch (form.type[0]) {
    case Type::s8:
      if (extended) return {by_register<Loads, i8>(control, width), control};
      break;
    case Type::s16:
      if (extended) return {by_register<Loads, i16>(control, width), control};
      break;
    case Type::s32:
      if (extended) return {by_register<Loads, i32>(control, width), control};
      break;
    default: break;
  }
  switch (bytes(form.type[0])) {
    case 1: return {by_register<Loads, u8>(control, width), control};
    case 2: return {by_register<Loads, u16>(control, width), control};
    case 4: return {by_register<Loads, u32>(control, width), control};
    case 8: return {by_register<Loads, u64>(control, width), control};
    case 16: return {by_register<Loads, u128>(control, width), control};
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
    LOADS("ld.volatile.local", "", 91, 0),
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
