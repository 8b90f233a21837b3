// What only looks at addresses. PTX ISA, "Data Movement and Conversion Instructions": prefetch, applypriority, discard,
// createpolicy, cvta, isspacep, mapa, getctarank.
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/described.hpp"
#include "common/simulator/isa/row.hpp"

namespace cudasim {
namespace {

void run_nothing(Warp&, const Instruction&) {}

// A cache policy is opaque, and there is no cache whose lines it could keep.
void run_create_policy(Warp& warp, const Instruction& i) {
  u64* d = warp.out<u64>(i.slot[0]);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = u64{1} << 52; });
}

// cvta: control is the space.
template <bool kTo>
void run_convert_address(Warp& warp, const Instruction& i) {
  described<run_convert_address<kTo>, AddsWindow<kTo>>();
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
  for (const u32 lane : set_bits(warp.mask)) {
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

const Row kCacheRows[] = {
    // Prefetches and priorities do nothing, whatever the address. What discard leaves in memory is undefined, so the
    // values may stay.
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
};

const Row kRows[] = {
    // There are no 32-bit forms: the windows of the state spaces do not fit into 32 bits.
    {"cvta.const|global|local|shared|shared::cta|shared::cluster|param|param::entry.u64", "=t0 t0",
     bind_convert_address, 0, 0, kTakesAddress},
    {"cvta.to.const|global|local|shared|shared::cta|shared::cluster|param|param::entry.u64", "=t0 t0",
     bind_convert_address},
    {"isspacep.const|global|local|shared|shared::cta|shared::cluster|param|param::entry", "=pred u32~", bind_is_space},
    {"mapa.u64", "=t0 t0 u32", bind_map_address, 78, 90},
    {"mapa.shared::cluster.u32|u64", "=t0 t0 u32", bind_map_address, 78, 90, kTakesAddress},
    {"getctarank.u64", "=u32 t0", bind_rank_of, 78, 90},
    {"getctarank.shared::cluster.u32|u64", "=u32 t0", bind_rank_of, 78, 90, kTakesAddress},
};

}  // namespace

std::span<const Row> address_rows() { return kRows; }
std::span<const Row> cache_rows() { return kCacheRows; }

}  // namespace cudasim
