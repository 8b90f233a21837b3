// Comparison and selection. PTX ISA, "Comparison and Selection Instructions" and their half-precision forms.
#include "common/simulator/isa/comparison.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/lanes.hpp"

namespace cudasim {
namespace {

// What of two values makes a comparison true. Unordered: one is a NaN.
enum : u32 { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

struct Comparison {
  std::string_view name;
  u32 relations;
};
constexpr Comparison kComparisons[] = {
    {"eq", kEqual},
    {"ne", kLess | kGreater},
    {"lt", kLess},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"ge", kGreater | kEqual},
    {"lo", kLess},
    {"ls", kLess | kEqual},
    {"hi", kGreater},
    {"hs", kGreater | kEqual},
    {"equ", kEqual | kUnordered},
    {"neu", kLess | kGreater | kUnordered},
    {"ltu", kLess | kUnordered},
    {"leu", kLess | kEqual | kUnordered},
    {"gtu", kGreater | kUnordered},
    {"geu", kGreater | kEqual | kUnordered},
    {"num", kLess | kEqual | kGreater},
    {"nan", kUnordered},
};

// Instruction::control: the relations, then how the result is combined with the predicate c, then what set writes.
enum : u32 { kCombineNone, kCombineAnd, kCombineOr, kCombineXor };
constexpr u32 kCombineShift = 4, kTrueShift = 8;
enum : u32 { kTrueOnes, kTrueF32, kTrueF16, kTrueBf16 };

u32 comparison(const Form& form) {
  for (const Comparison& each : kComparisons) {
    if (!form.has(each.name)) continue;
    const u32 combine = form.has("and")   ? u32{kCombineAnd}
                        : form.has("or")  ? u32{kCombineOr}
                        : form.has("xor") ? u32{kCombineXor}
                                          : u32{kCombineNone};
    return each.relations | combine << kCombineShift;
  }
  return 0;
}

using namespace comparison;

// One bit a lane: does `holds` hold for the two values? Lanes that do not execute may read anything.
template <class How, class F>
u32 compare_lanes(const Warp& warp, Slot x, Slot y, F holds) {
  const auto* a = warp.in<typename How::Memory>(x);
  const auto* b = warp.in<typename How::Memory>(y);
  return lanes_where([=](u32 lane) { return holds(How::load(a[lane]), How::load(b[lane])); });
}

template <class How>
u32 compare(const Warp& warp, Slot x, Slot y, u32 relations) {
  switch (relations & 15) {
    case kEqual: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a == b; });
    case kLess: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a < b; });
    case kGreater: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a > b; });
    case kLess | kEqual: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a <= b; });
    case kGreater | kEqual: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a >= b; });
    case kLess | kGreater: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return (a < b) | (a > b); });
    case kUnordered: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return (a != a) | (b != b); });
    default: return ~compare<How>(warp, x, y, ~relations & 15);
  }
}
// Integers are never unordered, so eight of the sixteen relations are the others.
template <class How>
u32 compare_integers(const Warp& warp, Slot x, Slot y, u32 relations) {
  switch (relations & 7) {
    case kEqual: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a == b; });
    case kLess: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a < b; });
    case kGreater: return compare_lanes<How>(warp, x, y, [](auto a, auto b) { return a > b; });
    default: return ~compare_integers<How>(warp, x, y, ~relations & 7);
  }
}
template <class How>
u32 relate(const Warp& warp, const Instruction& i, Slot x, Slot y) {
  if constexpr (std::is_integral_v<decltype(How::load({}))>)
    return compare_integers<How>(warp, x, y, i.control);
  else
    return compare<How>(warp, x, y, i.control);
}

u32 combine(const Warp& warp, u32 result, u32 how, Slot with) {
  switch (how >> kCombineShift & 3) {
    case kCombineAnd: return result & warp.predicate(with);
    case kCombineOr: return result | warp.predicate(with);
    case kCombineXor: return result ^ warp.predicate(with);
    default: return result;
  }
}

// setp: slots p q a b c; q is what the negated comparison gives, combined with c likewise.
template <class How>
void run_setp(Warp& warp, const Instruction& i) {
  described<run_setp<How>, cudasim::Compares<How>>();
  const u32 result = relate<How>(warp, i, i.slot[2], i.slot[3]);
  const u32 p = combine(warp, result, i.control, i.slot[4]);
  const u32 q = combine(warp, ~result, i.control, i.slot[4]);
  if (i.slot[0] != kNoSlot) warp.set_predicate(i.slot[0], p);
  if (i.slot[1] != kNoSlot) warp.set_predicate(i.slot[1], q);
}
// setp on pairs: p for the lower halves, q for the upper ones.
template <class Low, class High>
void run_setp_pair(Warp& warp, const Instruction& i) {
  const u32 p = combine(warp, relate<Low>(warp, i, i.slot[2], i.slot[3]), i.control, i.slot[4]);
  const u32 q = combine(warp, relate<High>(warp, i, i.slot[2], i.slot[3]), i.control, i.slot[4]);
  if (i.slot[0] != kNoSlot) warp.set_predicate(i.slot[0], p);
  if (i.slot[1] != kNoSlot) warp.set_predicate(i.slot[1], q);
}

// set: slots d a b c. True is all ones in an integer, 1 in a floating-point destination.
template <class D>
void write_true(Warp& warp, Slot slot, u32 result, D value) {
  D* d = warp.out<D>(slot);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = result >> lane & 1 ? value : D{0}; });
}
template <class How, class D>
void run_set(Warp& warp, const Instruction& i) {
  constexpr u32 kTrue32[] = {~0u, 0x3f80'0000u, 0x3c00u, 0x3f80u};
  const u32 result = combine(warp, relate<How>(warp, i, i.slot[1], i.slot[2]), i.control, i.slot[3]);
  write_true<D>(warp, i.slot[0], result, D(kTrue32[i.control >> kTrueShift]));
}
template <class Low, class High>
void run_set_pair(Warp& warp, const Instruction& i) {
  constexpr u32 kTrue16[] = {0xffffu, 0, 0x3c00u, 0x3f80u};
  const u32 low = combine(warp, relate<Low>(warp, i, i.slot[1], i.slot[2]), i.control, i.slot[3]);
  const u32 high = combine(warp, relate<High>(warp, i, i.slot[1], i.slot[2]), i.control, i.slot[3]);
  const u32 value = kTrue16[i.control >> kTrueShift];
  u32* d = warp.out<u32>(i.slot[0]);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = halves(low >> lane & 1 ? value : 0, high >> lane & 1 ? value : 0); });
}

// pick(How{}) for a source type.
template <class Pick>
Bound for_source(Type type, bool ftz, Pick pick) {
  switch (type) {
    case Type::f32: return ftz ? pick(FlushedFloat{}) : pick(Plain<float>{});
    case Type::f64: return pick(Plain<double>{});
    case Type::f16: return ftz ? pick(HalfAt<2, true>{}) : pick(HalfAt<2, false>{});
    case Type::bf16: return pick(BfHalfAt<2>{});
    default: return for_integer(type, [&](auto zero) -> Bound { return pick(Plain<decltype(zero)>{}); });
  }
}

Bound bind_setp(const Form& form) {
  const u32 control = comparison(form);
  if (form.type[0] == Type::f16x2) {
    return form.has("ftz") ? Bound(run_setp_pair<HalfAt<0, true>, HalfAt<1, true>>, control)
                           : Bound(run_setp_pair<HalfAt<0, false>, HalfAt<1, false>>, control);
  }
  if (form.type[0] == Type::bf16x2) return {run_setp_pair<BfHalfAt<0>, BfHalfAt<1>>, control};
  return for_source(form.type[0], form.has("ftz"),
                    [control](auto how) -> Bound { return {run_setp<decltype(how)>, control}; });
}

u32 what_is_true(Type type) {
  switch (type) {
    case Type::f32: return kTrueF32 << kTrueShift;
    case Type::f16:
    case Type::f16x2: return kTrueF16 << kTrueShift;
    case Type::bf16:
    case Type::bf16x2: return kTrueBf16 << kTrueShift;
    default: return kTrueOnes << kTrueShift;
  }
}
Bound bind_set(const Form& form) {
  const u32 control = comparison(form) | what_is_true(form.type[0]);
  const Type source = form.type[1];
  const bool ftz = form.has("ftz");
  if (source == Type::f16x2) {
    return ftz ? Bound(run_set_pair<HalfAt<0, true>, HalfAt<1, true>>, control)
               : Bound(run_set_pair<HalfAt<0, false>, HalfAt<1, false>>, control);
  }
  if (source == Type::bf16x2) return {run_set_pair<BfHalfAt<0>, BfHalfAt<1>>, control};
  const bool narrow = bits(form.type[0]) == 16;
  return for_source(source, ftz, [=](auto how) -> Bound {
    return {narrow ? run_set<decltype(how), u16> : run_set<decltype(how), u32>, control};
  });
}

template <class T>
void run_selp(Warp& warp, const Instruction& i) {
  described<run_selp<T>, Selects<T>>();
  T* d = warp.out<T>(i.slot[0]);
  const T* a = warp.in<T>(i.slot[1]);
  const T* b = warp.in<T>(i.slot[2]);
  const u32 p = warp.predicate(i.slot[3]);
  for_lanes(warp.mask, [=](u32 lane) {
    const T yes = a[lane], no = b[lane];  // both are read, so that the choice needs no branch
    d[lane] = p >> lane & 1 ? yes : no;
  });
}
Bound bind_selp(const Form& form) {
  return for_size(form.type[0], [](auto zero) -> Bound { return run_selp<decltype(zero)>; });
}

// slct: a if c is not negative; -0 is not, and a NaN is.
struct Slct {
  template <class T>
  static T of(T a, T b, i32 c) {
    return c >= 0 ? a : b;
  }
  template <class T>
  static T of(T a, T b, float c) {
    return c >= 0 ? a : b;
  }
};
struct SlctFlush {
  template <class T>
  static T of(T a, T b, float c) {
    return flush(c) >= 0 ? a : b;
  }
};
Bound bind_slct(const Form& form) {
  const bool integer = form.type[1] == Type::s32, ftz = form.has("ftz");
  return for_size(form.type[0], [=](auto zero) -> Bound {
    using T = decltype(zero);
    if (integer) return run3<Slct, T, T, T, i32>;
    return ftz ? run3<SlctFlush, T, T, T, float> : run3<Slct, T, T, T, float>;
  });
}

constexpr Row kRows[] = {
    {"setp.cmp_eq.b16|b32|b64", "=pred_ |pred t0 t0", bind_setp},
    {"setp.cmp_eq.bool.b16|b32|b64", "=pred_ |pred t0 t0 pred", bind_setp},
    {"setp.cmp.s16|s32|s64", "=pred_ |pred t0 t0", bind_setp},
    {"setp.cmp.bool.s16|s32|s64", "=pred_ |pred t0 t0 pred", bind_setp},
    {"setp.cmp|cmp_unsigned.u16|u32|u64", "=pred_ |pred t0 t0", bind_setp},
    {"setp.cmp|cmp_unsigned.bool.u16|u32|u64", "=pred_ |pred t0 t0 pred", bind_setp},
    {"setp.cmp_float{.ftz}.f32", "=pred_ |pred t0 t0", bind_setp},
    {"setp.cmp_float.bool{.ftz}.f32", "=pred_ |pred t0 t0 pred", bind_setp},
    {"setp.cmp_float.f64", "=pred_ |pred t0 t0", bind_setp},
    {"setp.cmp_float.bool.f64", "=pred_ |pred t0 t0 pred", bind_setp},
    {"setp.cmp_float{.ftz}.f16", "=pred_ |- t0 t0", bind_setp, 42, 53},
    {"setp.cmp_float.bool{.ftz}.f16", "=pred_ |- t0 t0 pred", bind_setp, 42, 53},
    {"setp.cmp_float.bf16", "=pred_ |- t0 t0", bind_setp, 78, 90},
    {"setp.cmp_float.bool.bf16", "=pred_ |- t0 t0 pred", bind_setp, 78, 90},
    {"setp.cmp_float{.ftz}.f16x2", "=pred_ |pred t0 t0", bind_setp, 42, 53},
    {"setp.cmp_float.bool{.ftz}.f16x2", "=pred_ |pred t0 t0 pred", bind_setp, 42, 53},
    {"setp.cmp_float.bf16x2", "=pred_ |pred t0 t0", bind_setp, 78, 90},
    {"setp.cmp_float.bool.bf16x2", "=pred_ |pred t0 t0 pred", bind_setp, 78, 90},

    {"set.cmp_eq.u32|s32|f32.b16|b32|b64", "=t0 t1 t1", bind_set},
    {"set.cmp_eq.bool.u32|s32|f32.b16|b32|b64", "=t0 t1 t1 pred", bind_set},
    {"set.cmp.u32|s32|f32.s16|s32|s64", "=t0 t1 t1", bind_set},
    {"set.cmp.bool.u32|s32|f32.s16|s32|s64", "=t0 t1 t1 pred", bind_set},
    {"set.cmp|cmp_unsigned.u32|s32|f32.u16|u32|u64", "=t0 t1 t1", bind_set},
    {"set.cmp|cmp_unsigned.bool.u32|s32|f32.u16|u32|u64", "=t0 t1 t1 pred", bind_set},
    {"set.cmp_float{.ftz}.u32|s32|f32.f32", "=t0 t1 t1", bind_set},
    {"set.cmp_float.bool{.ftz}.u32|s32|f32.f32", "=t0 t1 t1 pred", bind_set},
    {"set.cmp_float.u32|s32|f32.f64", "=t0 t1 t1", bind_set},
    {"set.cmp_float.bool.u32|s32|f32.f64", "=t0 t1 t1 pred", bind_set},
    {"set.cmp_eq.f16.b16|b32|b64", "=t0 t1 t1", bind_set, 42, 53},
    {"set.cmp_eq.bf16.b16|b32|b64", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp_eq.bool.f16.b16|b32|b64", "=t0 t1 t1 pred", bind_set, 42, 53},
    {"set.cmp_eq.bool.bf16.b16|b32|b64", "=t0 t1 t1 pred", bind_set, 78, 90},
    {"set.cmp.f16.s16|s32|s64", "=t0 t1 t1", bind_set, 42, 53},
    {"set.cmp.bf16.s16|s32|s64", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp.bool.f16.s16|s32|s64", "=t0 t1 t1 pred", bind_set, 42, 53},
    {"set.cmp.bool.bf16.s16|s32|s64", "=t0 t1 t1 pred", bind_set, 78, 90},
    {"set.cmp|cmp_unsigned.f16.u16|u32|u64", "=t0 t1 t1", bind_set, 42, 53},
    {"set.cmp|cmp_unsigned.bf16.u16|u32|u64", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp|cmp_unsigned.bool.f16.u16|u32|u64", "=t0 t1 t1 pred", bind_set, 42, 53},
    {"set.cmp|cmp_unsigned.bool.bf16.u16|u32|u64", "=t0 t1 t1 pred", bind_set, 78, 90},
    {"set.cmp_float{.ftz}.f16.f32", "=t0 t1 t1", bind_set, 42, 53},
    {"set.cmp_float.bool{.ftz}.f16.f32", "=t0 t1 t1 pred", bind_set, 42, 53},
    {"set.cmp_float.bf16.f32", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp_float.bool.bf16.f32", "=t0 t1 t1 pred", bind_set, 78, 90},
    {"set.cmp_float.f16.f64", "=t0 t1 t1", bind_set, 42, 53},
    {"set.cmp_float.bf16.f64", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp_float.bool.f16.f64", "=t0 t1 t1 pred", bind_set, 42, 53},
    {"set.cmp_float.bool.bf16.f64", "=t0 t1 t1 pred", bind_set, 78, 90},
    {"set.cmp_float{.ftz}.f16|u16|s16|u32|s32.f16", "=t0 t1 t1", bind_set, 42, 53},
    {"set.cmp_float.bool{.ftz}.f16|u16|s16|u32|s32.f16", "=t0 t1 t1 pred", bind_set, 42, 53},
    {"set.cmp_float.bf16.f16", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp_float.bool.bf16.f16", "=t0 t1 t1 pred", bind_set, 78, 90},
    {"set.cmp_float.bf16|u16|s16|u32|s32.bf16", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp_float.bool.bf16|u16|s16|u32|s32.bf16", "=t0 t1 t1 pred", bind_set, 78, 90},
    {"set.cmp_float{.ftz}.f16x2|u32|s32.f16x2", "=t0 t1 t1", bind_set, 42, 53},
    {"set.cmp_float.bool{.ftz}.f16x2|u32|s32.f16x2", "=t0 t1 t1 pred", bind_set, 42, 53},
    {"set.cmp_float.bf16x2|u32|s32.bf16x2", "=t0 t1 t1", bind_set, 78, 90},
    {"set.cmp_float.bool.bf16x2|u32|s32.bf16x2", "=t0 t1 t1 pred", bind_set, 78, 90},

    {"selp.b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "=t0 t0 t0 pred", bind_selp, 0, 0, kMovesBits},
    {"slct.b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64.s32", "=t0 t0 t0 s32", bind_slct},
    {"slct{.ftz}.b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64.f32", "=t0 t0 t0 f32", bind_slct},
};

}  // namespace

std::span<const Row> compare_rows() { return kRows; }

}  // namespace cudasim
