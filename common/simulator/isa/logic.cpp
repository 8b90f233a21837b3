// Logic and shifts. PTX ISA, "Logic and Shift Instructions".
#include "common/simulator/isa/logic.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/isa/lanes.hpp"

#include <algorithm>

namespace cudasim {
namespace {

using namespace logic;

// Predicates: a bit a lane.
template <class Op>
void run_predicates(Warp& warp, const Instruction& i) {
  described<run_predicates<Op>, Combines<Op>>();
  warp.set_predicate(i.slot[0], Op::of(warp.predicate(i.slot[1]), warp.predicate(i.slot[2])));
}

template <class Op>
Bound bind_logic(const Form& form) {
  if (form.type[0] == Type::pred) return run_predicates<Op>;
  return for_size(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run2<Op, T, T, T>;
  });
}
template <class Op>
Bound bind_not(const Form& form) {
  if (form.type[0] == Type::pred) return run_not_predicate;
  return for_size(form.type[0], [](auto zero) -> Bound { return run1<Op, decltype(zero), decltype(zero)>; });
}
Bound bind_shl(const Form& form) {
  return for_size(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run2<Shl, T, T, u32>;
  });
}
Bound bind_shr(const Form& form) {
  return for_integer(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run2<Shr, T, T, u32>;
  });
}
Bound bind_shf(const Form& form) {
  const bool wrap = form.has("wrap");
  if (form.has("l"))
    return wrap ? run3<Shf<true, true>, u32, u32, u32, u32> : run3<Shf<true, false>, u32, u32, u32, u32>;
  return wrap ? run3<Shf<false, true>, u32, u32, u32, u32> : run3<Shf<false, false>, u32, u32, u32, u32>;
}

// lop3: the table's bit 4a + 2b + c is the result. Instruction::offset is the table.
template <class Result>
void run_lop3(Warp& warp, const Instruction& i, Result result) {
  const u32* a = warp.in<u32>(i.slot[1]);
  const u32* b = warp.in<u32>(i.slot[2]);
  const u32* c = warp.in<u32>(i.slot[3]);
  u32 row[8];
  for (u32 k = 0; k < 8; ++k) row[k] = i.offset >> k & 1 ? ~0u : 0;
  const auto choose = [](u32 by, u32 yes, u32 no) { return (by & yes) | (~by & no); };
  for_lanes(warp.mask, [=](u32 lane) {
    const u32 x = a[lane], y = b[lane], z = c[lane];
    const u32 high = choose(y, choose(z, row[7], row[6]), choose(z, row[5], row[4]));
    const u32 low = choose(y, choose(z, row[3], row[2]), choose(z, row[1], row[0]));
    result(lane, choose(x, high, low));
  });
}
void run_lop3_plain(Warp& warp, const Instruction& i) {
  u32* d = warp.out<u32>(i.slot[0]);
  run_lop3(warp, i, [d](u32 lane, u32 value) { d[lane] = value; });
}
// d|p: p = (d != 0) op q. Slots: d p a b c q; either destination may be missing.
template <class Op>
void run_lop3_predicate(Warp& warp, const Instruction& i) {
  Instruction plain = i;
  std::copy(i.slot + 2, i.slot + 5, plain.slot + 1);
  u32 value[kWarpSize];
  run_lop3(warp, plain, [&value](u32 lane, u32 v) { value[lane] = v; });
  const u32 q = warp.predicate(i.slot[5]);
  u32 nonzero = 0;
  for (const u32 lane : set_bits(warp.mask)) {
    nonzero |= u32{value[lane] != 0} << lane;
    if (i.slot[0] != kNoSlot) warp.out<u32>(i.slot[0])[lane] = value[lane];
  }
  if (i.slot[1] != kNoSlot) warp.set_predicate(i.slot[1], Op::of(nonzero, q));
}
Bound bind_lop3(const Form&) { return run_lop3_plain; }
Bound bind_lop3_predicate(const Form& form) {
  return form.has("or") ? run_lop3_predicate<Or> : run_lop3_predicate<And>;
}

// prmt: four selected bytes of b:a --------------------------------------------------------------------------------

enum : u32 { kPrmtIndex, kPrmtF4e, kPrmtB4e, kPrmtRc8, kPrmtEcl, kPrmtEcr, kPrmtRc16 };
constexpr std::string_view kPrmtModes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};

// Which byte goes to place `at`, by the two lowest bits of the selector.
u32 prmt_source(u32 mode, u32 selector, u32 at) {
  const u32 s = selector & 3;
  switch (mode) {
    case kPrmtF4e: return (s + at) & 7;
    case kPrmtB4e: return (s - at) & 7;
    case kPrmtRc8: return s;
    case kPrmtEcl: return std::max(s, at);
    case kPrmtEcr: return std::min(s, at);
    default: return (s & 1) * 2 + (at & 1);  // rc16
  }
}
template <u32 kMode>
struct PrmtMode {
  static u32 of(u32 a, u32 b, u32 selector) {
    u32 sources = 0;
    for (u32 at = 0; at < 4; ++at) sources |= prmt_source(kMode, selector, at) << 4 * at;
    return Prmt::of(a, b, sources);
  }
};
template <u32 kMode>
Bound bind_prmt_mode(const Form& form) {
  if constexpr (kMode <= kPrmtRc16)
    return form.has(kPrmtModes[kMode]) ? Bound(run3<PrmtMode<kMode>, u32, u32, u32, u32>)
                                       : bind_prmt_mode<kMode + 1>(form);
  else
    return run3<Prmt, u32, u32, u32, u32>;
}
Bound bind_prmt(const Form& form) { return bind_prmt_mode<kPrmtF4e>(form); }

constexpr Row kRows[] = {
    {"and.pred|b16|b32|b64", "=t0 t0 t0", bind_logic<And>, 0, 0, kMovesBits},
    {"or.pred|b16|b32|b64", "=t0 t0 t0", bind_logic<Or>, 0, 0, kMovesBits},
    {"xor.pred|b16|b32|b64", "=t0 t0 t0", bind_logic<Xor>, 0, 0, kMovesBits},
    {"not.pred|b16|b32|b64", "=t0 t0", bind_not<Not>, 0, 0, kMovesBits},
    {"cnot.b16|b32|b64", "=t0 t0", bind_not<Cnot>},
    {"lop3.b32", "=b32_ b32 b32 b32 imm", bind_lop3, 43, 50, kMovesBits},
    {"lop3.or|and.b32", "=b32_ |pred! b32 b32 b32 imm pred", bind_lop3_predicate, 82, 70},
    {"shl.b16|b32|b64", "=t0 t0 u32", bind_shl, 0, 0, kMovesBits},
    {"shr.b16|b32|b64|u16|u32|u64|s16|s32|s64", "=t0 t0 u32", bind_shr, 0, 0, kMovesBits},
    {"shf.l|r.clamp|wrap.b32", "=b32 b32 b32 u32", bind_shf, 31, 32, kMovesBits},
    {"prmt{.f4e|b4e|rc8|ecl|ecr|rc16}.b32", "=b32 b32 b32 b32", bind_prmt, 0, 0, kMovesBits | counts_as(Class::move)},
};

}  // namespace

void run_not_predicate(Warp& warp, const Instruction& i) {
  described<run_not_predicate, Combines<logic::Not>>();
  warp.set_predicate(i.slot[0], ~warp.predicate(i.slot[1]));
}

std::span<const Row> logic_rows() { return kRows; }

}  // namespace cudasim
