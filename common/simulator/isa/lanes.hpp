// What the compute families share: running one function for each executing lane, picking a C++ type for a PTX type,
// and integer arithmetic without undefined behaviour.
#pragma once
#include "common/simulator/exec/described.hpp"
#include "common/simulator/exec/warp.hpp"
#include "common/simulator/isa/row.hpp"
#include "common/simulator/isa/values.hpp"

#include <bit>
#include <type_traits>

namespace cudasim {

// d[lane] = f(lane) for each executing lane. If some lanes are missing, all are computed and the executing ones kept,
// which is still vector code. f must therefore be defined for any operands, and only read.
constexpr int kWorthAll = 7;  // with fewer lanes it is faster to go from one to the next
template <class D, class F>
[[gnu::noinline]] void write_some_lanes(u32 mask, D* d, F f) {
  if (__builtin_popcount(mask) < kWorthAll) return for_lanes(mask, [=](u32 lane) { d[lane] = f(lane); });
  alignas(64) D all[kWarpSize];
  for_lanes(kAllLanes, [&](u32 lane) { all[lane] = f(lane); });
  for_lanes(kAllLanes, [&](u32 lane) { d[lane] = (mask >> lane & 1) != 0 ? all[lane] : d[lane]; });
}
template <class D, class F>
[[gnu::always_inline]] inline void write_lanes(u32 mask, D* d, F f) {
  if (__builtin_expect(mask == kAllLanes, true))
    for_lanes(kAllLanes, [=](u32 lane) { d[lane] = f(lane); });
  else
    write_some_lanes(mask, d, f);
}

// d = f(a), d = f(a, b) … for each lane; the operands are the instruction's slots in order. A destination may be the
// same register as a source of its own width, which does no harm: a lane reads before it writes.
template <class D, class A, class F>
inline void unary(Warp& warp, const Instruction& i, F f) {
  const A* a = warp.in<A>(i.slot[1]);
  write_lanes(warp.mask, warp.out<D>(i.slot[0]), [=](u32 lane) { return f(a[lane]); });
}
template <class D, class A, class B, class F>
inline void binary(Warp& warp, const Instruction& i, F f) {
  const A* a = warp.in<A>(i.slot[1]);
  const B* b = warp.in<B>(i.slot[2]);
  write_lanes(warp.mask, warp.out<D>(i.slot[0]), [=](u32 lane) { return f(a[lane], b[lane]); });
}
template <class D, class A, class B, class C, class F>
inline void ternary(Warp& warp, const Instruction& i, F f) {
  const A* a = warp.in<A>(i.slot[1]);
  const B* b = warp.in<B>(i.slot[2]);
  const C* c = warp.in<C>(i.slot[3]);
  write_lanes(warp.mask, warp.out<D>(i.slot[0]), [=](u32 lane) { return f(a[lane], b[lane], c[lane]); });
}

// Handlers made of a functor: Op::of(T …) → D.
template <class Op, class D, class A>
void run1(Warp& warp, const Instruction& i) {
  described<run1<Op, D, A>, Computes<Op, D, A>>();
  unary<D, A>(warp, i, [](A a) { return static_cast<D>(Op::of(a)); });
}
template <class Op, class D, class A, class B>
void run2(Warp& warp, const Instruction& i) {
  described<run2<Op, D, A, B>, Computes<Op, D, A, B>>();
  binary<D, A, B>(warp, i, [](A a, B b) { return static_cast<D>(Op::of(a, b)); });
}
template <class Op, class D, class A, class B, class C>
void run3(Warp& warp, const Instruction& i) {
  described<run3<Op, D, A, B, C>, Computes<Op, D, A, B, C>>();
  ternary<D, A, B, C>(warp, i, [](A a, B b, C c) { return static_cast<D>(Op::of(a, b, c)); });
}

// pick(T{}) for the C++ type of an integer PTX type, bits counting as unsigned.
template <class Pick>
Bound for_integer(Type type, Pick pick) {
  switch (type) {
    case Type::u16:
    case Type::b16: return pick(u16{});
    case Type::u32:
    case Type::b32: return pick(u32{});
    case Type::u64:
    case Type::b64: return pick(u64{});
    case Type::s16: return pick(i16{});
    case Type::s32: return pick(i32{});
    case Type::s64: return pick(i64{});
    default: return nullptr;
  }
}
// pick(T{}) for the unsigned type of the same size: for what is the same for signed ones.
template <class Pick>
Bound for_size(Type type, Pick pick) {
  switch (bits(type)) {
    case 16: return pick(u16{});
    case 32: return pick(u32{});
    case 64: return pick(u64{});
    default: return nullptr;
  }
}

}  // namespace cudasim
