// Stores. PTX ISA, "Data Movement and Conversion Instructions": st.
#include "common/simulator/isa/memory.hpp"

namespace cudasim {
namespace {

void before_store(const Instruction& i) {
  if ((i.control & kRelease) != 0) raw_fence_release();
}

template <class M, class R>
void store_lane(Warp& warp, const Instruction& i, u32 lane, std::byte* to) {
  const u32 elements = i.control & kElements;
  for (u32 e = 0; e < elements; ++e) raw_store<M>(to + e * sizeof(M), static_cast<M>(warp.in<R>(i.slot[1 + e])[lane]));
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
template <class M, class R, u32 V, u32 kLanes, class Where>
inline void store_rows(Warp& warp, const Instruction& i, const Where& where, u64 host) {
  for (u32 lane = 0; lane < kWarpSize; lane += kLanes) {
    std::byte* first = at(host + where[lane]);
    for (u32 e = 0; e < V; ++e)
      store_row<M, R, V * sizeof(M), kLanes>(warp.in<R>(i.slot[1 + e]) + lane, first + e * sizeof(M));
  }
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
template <class M, class R, u32 V, class Address>
void store_shared(Warp& warp, const Instruction& i) {
  const Slot base = i.slot[0];
  store_with<M, R, V>(warp, i, Based<Address>(warp, i, base), shared_region(warp, base));
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

struct Stores {
  template <class M, class R, u32 V>
  static Handler handler(Way way) {
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
};

// A store takes the low bits: the sign does not matter.
Bound bind_store(const Form& form) {
  const u32 width = form.width[1], control = control_of(form);
  switch (bytes(form.type[0])) {
    case 1: return {by_register<Stores, u8>(form, width), control};
    case 2: return {by_register<Stores, u16>(form, width), control};
    case 4: return {by_register<Stores, u32>(form, width), control};
    case 8: return {by_register<Stores, u64>(form, width), control};
    case 16: return {by_register<Stores, u128>(form, width), control};
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
    STORES_HINT("st.relaxed|release.scope{.global}", 60, 70),
    STORES("st.relaxed|release.scope" SHARED_NEAR, "", 60, 70),
    STORES_HINT("st.relaxed|release.scope{.global}" EVICT, 74, 70),
    {"st.mmio.relaxed.sys{.global}" UP_TO_64, "[m] t0~", bind_store, 82, 70},
    {"st.mmio.relaxed.sys{.global}.b128", "[m] t0", bind_store, 84, 70},
};

}  // namespace

std::span<const Row> store_rows() { return kRows; }

}  // namespace cudasim
