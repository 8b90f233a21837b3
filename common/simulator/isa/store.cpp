// Stores. PTX ISA, "Data Movement and Conversion Instructions": st.
#include "common/simulator/isa/memory.hpp"

namespace cudasim {
namespace {

void before_store(const Instruction& i) {
  if ((i.control & kRelease) != 0) raw_fence_release();
}

template <class M, class Rows>
void store_lane(const Rows& a, u32 elements, u32 lane, std::byte* to) {
  for (u32 e = 0; e < elements; ++e) raw_store<M>(to + e * sizeof(M), a.from(e)[lane]);
}

template <class M, class Rows>
[[gnu::noinline]] void store_carefully(Warp& warp, const Instruction& i, Rows a) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  before_store(i);
  const auto store = [&](u32 lane, std::byte* to) { store_lane<M>(a, elements, lane, to); };
  const bool own = in_own_local(warp, i, i.slot[0], size, store);
  for (const u32 lane : set_bits(own ? 0 : warp.mask)) {
    const u64 address = checked_address(warp, i, i.slot[0], lane);
    store_lane<M>(a, elements, lane,
                  access(warp, lane, space_in(i), address, size, size, Access::write, &view_of(warp, i)));
  }
  warp.polls = 0;
}

template <class M, u32 kStride, u32 kLanes>
inline void store_row(const M* a, std::byte* first) {
  if constexpr (kStride == sizeof(M))
    return raw_copy<M, kLanes * kStride>(first, reinterpret_cast<const std::byte*>(a));
  for (u32 from = 0; from < kLanes; from += kGroup) {
    M row[kGroup];
    for (u32 l = 0; l < kGroup; ++l) row[l] = a[from + l];
    for (u32 l = 0; l < kGroup; ++l) raw_store<M>(first + (from + l) * kStride, row[l]);
  }
}

template <class M, u32 V, u32 kLanes, class Rows, class Where>
inline void store_rows(const Rows& a, const Where& where, u64 host) {
  for (u32 lane = 0; lane < kWarpSize; lane += kLanes) {
    std::byte* first = at(host + where[lane]);
    for (u32 e = 0; e < V; ++e) store_row<M, V * sizeof(M), kLanes>(a.from(e) + lane, first + e * sizeof(M));
  }
}

template <class M, u32 V, class Rows, class Where>
inline void store_with(Warp& warp, const Instruction& i, Rows a, const Where& where, const Region& region) {
  constexpr u32 kBytes = V * sizeof(M);
  if (warp.mask == kAllLanes && is_row<kBytes>(where, region)) {
    before_store(i);
    store_rows<M, V, kWarpSize>(a, where, region.host);
  } else if (warp.mask == kAllLanes) {
    const Pattern pattern = pattern_of<kBytes>(where, region);
    if (pattern == Pattern::outside) return store_carefully<M>(warp, i, a);
    before_store(i);
    if (pattern == Pattern::rows) {
      store_rows<M, V, kGroup>(a, where, region.host);
    } else {  // of those to one address, the last lane's value stays
      for (u32 lane = 0; lane < kWarpSize; ++lane) store_lane<M>(a, V, lane, at(region.host + where[lane]));
    }
  } else {
    if (!inside<kBytes>(where, region, warp.mask)) return store_carefully<M>(warp, i, a);
    before_store(i);
    for (const u32 lane : set_bits(warp.mask)) {
      store_lane<M>(a, V, lane, at(region.host + where[lane]));
    }
  }
  warp.polls = 0;
}

// The values follow the address in an instruction's operands.
template <class M>
Registers<M> stored(Warp& warp, const Instruction& i) {
  return {warp, i.slot + 1};
}
bool may_write(Warp& warp, const Instruction& i, u64 address) {
  const bool in_shared = space_in(i) == Space::generic && space_of(address) == Space::shared;
  return in_shared || view_of(warp, i).writable;
}

template <class M, u32 V, class Where>
void store_global(Warp& warp, const Instruction& i) {
  described<store_global<M, V, Where>, StoresAs<M, M>>();
  const Where where(warp, i, i.slot[0]);
  const u64 address = where[first_lane(warp.mask)];
  if (!may_write(warp, i, address)) return store_carefully<M>(warp, i, stored<M>(warp, i));
  store_with<M, V>(warp, i, stored<M>(warp, i), where, global_region(warp, i, address));
}

template <class M, u32 V, class Address>
void store_shared(Warp& warp, const Instruction& i) {
  described<store_shared<M, V, Address>, StoresAs<M, M>>();
  const Slot base = i.slot[0];
  const Based<Address> where(warp, i, base);
  store_with<M, V>(warp, i, stored<M>(warp, i), where, shared_region(warp, base));
}

// Either.
template <class M, u32 V, class Rows>
[[gnu::noinline]] void store_listed(Warp& warp, const Instruction& i, Rows a) {
  const Listed list(warp, i, i.slot[0]);
  const u64 address = list.address[first_lane(warp.mask)];
  if (space_in(i) != Space::shared && !may_write(warp, i, address)) return store_carefully<M>(warp, i, a);
  store_with<M, V>(warp, i, a, Based<u64>(list.address), region_of(warp, i, i.slot[0], address));
}

template <class M, class Rows>
void store_local(Warp& warp, const Instruction& i, Rows a) {
  const u32 elements = i.control & kElements, size = elements * sizeof(M);
  u32 at = 0;
  if (in_frame<M>(warp, i, i.slot[0], at)) {
    for_lanes(warp.mask, [&](u32 lane) { store_lane<M>(a, elements, lane, warp.block->local(warp, lane) + at); });
    return;
  }
  const auto store = [&](u32 lane, std::byte* to) { store_lane<M>(a, elements, lane, to); };
  if (in_own_local(warp, i, i.slot[0], size, store)) return;
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 address = local_address(warp, i, i.slot[0], lane);
    store_lane<M>(a, elements, lane, access(warp, lane, Space::local, address, size, size, Access::write, nullptr));
  }
}

template <class M, auto kStore>
void from_registers(Warp& warp, const Instruction& i) {
  described<from_registers<M, kStore>, StoresAs<M, M>>();
  kStore(warp, i, stored<M>(warp, i));
}

template <class M>
[[gnu::noinline]] void store_between(Warp& warp, const Instruction& i, Between<M> a) {
  switch (way_of(i.control)) {
    case Way::local: return store_local<M>(warp, i, a);
    case Way::parameter:
    case Way::carefully: return store_carefully<M>(warp, i, a);
    default: break;
  }
  switch (i.control & kElements) {
    case 1: return store_listed<M, 1>(warp, i, a);
    case 2: return store_listed<M, 2>(warp, i, a);
    default: return store_listed<M, 4>(warp, i, a);
  }
}

struct Stores {
  template <class M, u32 V>
  static Handler handler(Way way) {
    using Rows = Registers<M>;
    if constexpr (V * sizeof(M) > 16) {
      return nullptr;
    } else {
      switch (way) {
        case Way::global:
          if constexpr (is_common<M, V>(Way::global)) return store_global<M, V, Based<u64>>;
          break;
        case Way::shared:
          if constexpr (is_common<M, V>(Way::shared)) return store_shared<M, V, u32>;
          break;
        case Way::indexed:
          if constexpr (is_common<M, V>(Way::indexed)) return store_global<M, V, Indexed>;
          break;
        case Way::shared_wide:
          if constexpr (is_common<M, V>(Way::shared_wide)) return store_shared<M, V, u64>;
          break;
        case Way::local: return from_registers<M, store_local<M, Rows>>;
        default: return from_registers<M, store_carefully<M, Rows>>;
      }
      return from_registers<M, store_listed<M, V, Rows>>;
    }
  }
  // The low bits are stored: the sign does not matter.
  template <class M, class R>
  static void converts(Warp& warp, const Instruction& i) {
    described<converts<M, R>, StoresAs<M, R>>();
    alignas(64) M rows[kMostElements][kWarpSize];
    for (u32 e = 0; e < (i.control & kElements); ++e) {
      const R* const a = warp.in<R>(i.slot[1 + e]);
      M* const d = rows[e];
      for_lanes(warp.mask, [=](u32 lane) { d[lane] = static_cast<M>(a[lane]); });
    }
    store_between<M>(warp, i, {rows});
  }
};

Bound bind_store(const Form& form) {
  const u32 width = form.width[1], control = control_of(form);
  switch (bytes(form.type[0])) {
    case 1: return {by_register<Stores, u8>(control, width), control};
    case 2: return {by_register<Stores, u16>(control, width), control};
    case 4: return {by_register<Stores, u32>(control, width), control};
    case 8: return {by_register<Stores, u64>(control, width), control};
    case 16: return {by_register<Stores, u128>(control, width), control};
    default: return {};
  }
}

#define STORED_NEAR ".local|param|param::func|shared|shared::cta|shared::cluster"
#define SHARED_BY_ALL "{.global|shared|shared::cta|shared::cluster}"
#define STORES(syntax, more, ptx, target)                                                                 \
  {syntax "{.v2}" UP_TO_64, "[m] {t0~}v" more, bind_store, ptx, target, kAddressed},                      \
      {syntax ".v4." UP_TO_32, "[m] {t0~}v" more, bind_store, ptx, target, kAddressed}, {                 \
    syntax ".b128", "[m] t0" more, bind_store, ptx > 83 ? ptx : 83, target > 70 ? target : 70, kAddressed \
  }
#define STORES_HINT(syntax, ptx, target) \
  STORES(syntax, "", ptx, target), STORES(syntax ".L2::cache_hint", " b64", 74, 80)

const Row kRows[] = {
    // Cache operators, priorities and prefetch sizes are accepted where the manual allows them. They change nothing.
    STORES_HINT("st{.weak}{.global}{.wb|cg|cs|wt}", 0, 0),
    STORES("st{.weak}" STORED_NEAR "{.wb|cg|cs|wt}", "", 0, 0),
    STORES_HINT("st{.weak}{.global}" EVICT, 74, 70),
    STORES("st.volatile" SHARED_BY_ALL, "", 0, 0),
    STORES("st.volatile.local", "", 91, 0),
    STORES_HINT("st.relaxed|release.scope{.global}", 60, 70),
    STORES("st.relaxed|release.scope" SHARED_NEAR, "", 60, 70),
    STORES_HINT("st.relaxed|release.scope{.global}" EVICT, 74, 70),
    {"st.mmio.relaxed.sys{.global}" UP_TO_64, "[m] t0~", bind_store, 82, 70},
    {"st.mmio.relaxed.sys{.global}.b128", "[m] t0", bind_store, 84, 70},
};

}  // namespace

std::span<const Row> store_rows() { return kRows; }

}  // namespace cudasim
