// Video instructions: arithmetic on parts of registers. PTX ISA, "Scalar Video Instructions" and "SIMD Video
// Instructions".
//
// Everything is computed in 64 bits, where nothing overflows, and cut down to 32 at the end.
#include "common/simulator/isa/lanes.hpp"

#include <algorithm>

namespace cudasim {
namespace {

// Operations on two values; what they need beside them is chosen by the template.
struct Add {
  static i64 of(i64 a, i64 b) { return a + b; }
};
struct Sub {
  static i64 of(i64 a, i64 b) { return a - b; }
};
struct AbsDiff {
  static i64 of(i64 a, i64 b) { return a < b ? b - a : a - b; }
};
struct Min {
  static i64 of(i64 a, i64 b) { return std::min(a, b); }
};
struct Max {
  static i64 of(i64 a, i64 b) { return std::max(a, b); }
};
struct Average {  // rounded up, except for negative sums
  static i64 of(i64 a, i64 b) { return (a + b + (a + b >= 0)) >> 1; }
};
template <bool kWrap>
struct Shl {
  static i64 of(i64 a, i64 b) { return i64(u64(a) << (kWrap ? b & 31 : std::min<i64>(b, 32))); }
};
template <bool kWrap>
struct Shr {
  static i64 of(i64 a, i64 b) { return a >> (kWrap ? b & 31 : std::min<i64>(b, 32)); }
};
template <u32 kRelations>  // 1 less, 2 equal, 4 greater
struct Compare {
  static i64 of(i64 a, i64 b) { return (kRelations >> (a < b ? 0 : a == b ? 1 : 2)) & 1; }
};

i64 extend(u32 value, u32 width, bool sign) {
  const u32 shift = 64 - width;
  return sign ? i64(u64{value} << shift) >> shift : i64(u64{value} << shift >> shift);
}
i64 clamp(i64 value, u32 width, bool sign) {
  const i64 most = (i64{1} << (width - (sign ? 1 : 0))) - 1;
  return std::clamp(value, sign ? -most - 1 : i64{0}, most);
}

// Scalar --------------------------------------------------------------------------------------------------------------

// A part of a register: b0 … b3, h0, h1, or all of it.
struct BitField {
  u32 shift = 0, width = 32;
};
constexpr std::string_view kParts[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
constexpr u32 kNoPart = 7;

BitField part(u32 index) {
  if (index == 0) return {};
  return index < 5 ? BitField{8 * (index - 1), 8} : BitField{16 * (index - 5), 16};
}
u32 part_index(std::string_view selector) {
  const auto* found = std::find(std::begin(kParts), std::end(kParts), selector);
  return u32(found - std::begin(kParts));  // kNoPart: none of them
}
i64 select(u32 value, BitField p, bool sign) { return extend(value >> p.shift, p.width, sign); }

enum : u32 { kThenNothing, kThenAdd, kThenMin, kThenMax };

// Instruction::control of the scalar operations.
struct Scalar {
  BitField d, a, b;
  bool d_signed, a_signed, b_signed, sat;
  u32 then;
};
Scalar scalar(u32 control) {
  return {part(control & 7),        part(control >> 3 & 7),   part(control >> 6 & 7),   (control >> 9 & 1) != 0,
          (control >> 10 & 1) != 0, (control >> 11 & 1) != 0, (control >> 12 & 1) != 0, control >> 13 & 3};
}

// ptxas composes the scalar operations of other instructions for sm_90, which shows where they saturate, merge or
// compare. The rules here agree with 7,722 results of an H200; some of them are in
// tests/instructions/video_answers.inc.
template <class Op>
constexpr bool kGrows = std::is_same_v<Op, Shl<false>> || std::is_same_v<Op, Shl<true>>;
template <class Op>
constexpr bool kShifts = kGrows<Op> || std::is_same_v<Op, Shr<false>> || std::is_same_v<Op, Shr<true>>;
template <class Op>
constexpr bool kPicks = std::is_same_v<Op, Min> || std::is_same_v<Op, Max>;
template <class Op>
constexpr bool kSums = std::is_same_v<Op, Add> || std::is_same_v<Op, Sub>;
template <class Op>
constexpr bool kCompares = false;
template <u32 kRelations>
constexpr bool kCompares<Compare<kRelations>> = true;

// .sat: of shifts and signed results as the manual says, though never narrower than 32 bits; unsigned results lose what
// is below zero, but not what is above 32 bits; what is merged is taken for unsigned.
template <class Op>
i64 saturated(i64 value, const Scalar& s) {
  const i64 bits34 = i64(u64(value) << 30) >> 30;
  if (kShifts<Op>) return clamp(bits34, 32, s.d_signed);
  if (s.d.width != 32) return i64(std::min<u64>(u64(value), (u64{1} << (s.d.width - s.d_signed)) - 1));
  return s.d_signed ? clamp(bits34, 32, true) : std::max<i64>(value, 0);
}

// .min, .max: as numbers of 64 bits, whose sign counts if the result's type has one (vset: if its first source has).
// Sums, shifts, and what is made of two unsigned or two signed numbers, come as the sign extension of their 32 bits;
// not so the difference of two signed numbers of which one is a part of its register.
template <class Op>
u32 combined(i64 value, u32 with, const Scalar& s) {
  const bool whole = (kGrows<Op> && !s.sat) || (kPicks<Op> && s.sat);
  const bool part = std::is_same_v<Op, AbsDiff> && s.a_signed && (s.a.width != 32 || s.b.width != 32);
  const bool same = !s.d_signed && s.a_signed == s.b_signed && !kCompares<Op> && !part;
  const bool narrow = kSums<Op> || kShifts<Op> || same;
  const i64 left = !whole && narrow ? extend(u32(value), 32, true) : value;
  const bool sign = kCompares<Op> ? s.a_signed : s.d_signed;
  const i64 right = extend(with, 32, sign);
  const bool less = sign ? left < right : u64(left) < u64(right);
  return u32(less == (s.then == kThenMin) ? left : right);
}

// d = saturate(a op b), then combined with c, or merged into it. Into the upper half goes the result's own upper half.
template <class Op>
void run_scalar(Warp& warp, const Instruction& i) {
  const Scalar s = scalar(i.control);
  const u32* c = i.slot[3] == kNoSlot ? nullptr : warp.in<u32>(i.slot[3]);
  u32* d = warp.out<u32>(i.slot[0]);
  const u32* a = warp.in<u32>(i.slot[1]);
  const u32* b = warp.in<u32>(i.slot[2]);
  const bool upper_half = s.d.shift == 16 && s.d.width == 16;
  const u32 mask = s.d.width != 32 ? ((1u << s.d.width) - 1) << s.d.shift : ~0u;
  for_lanes(warp.mask, [&](u32 lane) {
    i64 value = Op::of(select(a[lane], s.a, s.a_signed), select(b[lane], s.b, s.b_signed));
    if (s.sat) value = saturated<Op>(value, s);
    const u32 old = c ? c[lane] : 0;
    if (s.then > kThenAdd) {
      d[lane] = combined<Op>(value, old, s);
      return;
    }
    if (s.then == kThenAdd) value = i64(u64(value) + old);
    d[lane] = (u32(value) << (upper_half ? 0 : s.d.shift) & mask) | (old & ~mask);
  });
}

Bound scalar_bound(const Form& form, Handler run, bool d_signed, bool a_signed, bool b_signed) {
  const u32 d = part_index(form.selector[0]), a = part_index(form.selector[1]), b = part_index(form.selector[2]);
  const u32 then = form.has("add")   ? u32{kThenAdd}
                   : form.has("min") ? u32{kThenMin}
                   : form.has("max") ? u32{kThenMax}
                                     : u32{kThenNothing};
  const bool has_c = form.width[3] != 0, wants_c = then != kThenNothing || d != 0;
  if (d == kNoPart || a == kNoPart || b == kNoPart || has_c != wants_c || (d != 0 && then != kThenNothing))
    return nullptr;
  return {run, d | a << 3 | b << 6 | u32{d_signed} << 9 | u32{a_signed} << 10 | u32{b_signed} << 11 |
                   u32{form.has("sat")} << 12 | then << 13};
}
template <class Op>
Bound bind_scalar(const Form& form) {
  return scalar_bound(form, run_scalar<Op>, is_signed(form.type[0]), is_signed(form.type[1]), is_signed(form.type[2]));
}
template <template <bool> class Op>
Bound bind_shift(const Form& form) {
  return form.has("wrap") ? bind_scalar<Op<true>>(form) : bind_scalar<Op<false>>(form);
}
// pick(Compare<…>{}) for the comparison that the form names.
template <class Pick>
Bound for_comparison(const Form& form, Pick pick) {
  if (form.has("eq")) return pick(Compare<2>{});
  if (form.has("ne")) return pick(Compare<5>{});
  if (form.has("lt")) return pick(Compare<1>{});
  if (form.has("le")) return pick(Compare<3>{});
  if (form.has("gt")) return pick(Compare<4>{});
  return pick(Compare<6>{});
}
Bound bind_vset(const Form& form) {
  return for_comparison(form, [&form](auto op) {
    return scalar_bound(form, run_scalar<decltype(op)>, false, is_signed(form.type[0]), is_signed(form.type[1]));
  });
}

// vmad: (a * b) + c (+ 1), shifted, saturated. Control as above; the bits above 13 are .po and the shift. Not as the
// manual says, but as an H200 does it: whole registers are signed numbers whatever their type, c is one too, and the
// sum of 64 bits is shifted like an unsigned number if both types are unsigned.
void run_vmad(Warp& warp, const Instruction& i) {
  const Scalar s = scalar(i.control & 0x1fff);
  const bool plus_one = i.control >> 13 & 1, sign = s.a_signed || s.b_signed;
  const u32 shift = i.control >> 14;
  u32* d = warp.out<u32>(i.slot[0]);
  const u32* a = warp.in<u32>(i.slot[1]);
  const u32* b = warp.in<u32>(i.slot[2]);
  const u32* c = warp.in<u32>(i.slot[3]);
  const bool a_signed = s.a_signed || s.a.width == 32, b_signed = s.b_signed || s.b.width == 32;
  for_lanes(warp.mask, [&](u32 lane) {
    const i64 product = select(a[lane], s.a, a_signed) * select(b[lane], s.b, b_signed);
    const i64 sum = product + extend(c[lane], 32, true) + plus_one;
    const i64 value = sign ? sum >> shift : i64(u64(sum) >> shift);
    d[lane] = u32(s.sat ? clamp(value, 32, sign) : value);
  });
}
Bound bind_vmad(const Form& form) {
  Form plain = form;
  plain.width[3] = 0;  // c is not one to merge into
  const Bound bound =
      scalar_bound(plain, run_vmad, is_signed(form.type[0]), is_signed(form.type[1]), is_signed(form.type[2]));
  const u32 shift = form.has("shr7") ? 7 : form.has("shr15") ? 15 : 0;
  return {bound.run, bound.control | u32{form.has("po")} << 13 | shift << 14};
}

// SIMD ----------------------------------------------------------------------------------------------------------------

// Which parts of b:a go where: kParts numbers of three bits each, the lowest element in the lowest bits.
// "b7654" → 4, 5, 6, 7; ~0u if the selector is malformed.
template <u32 kParts>
u32 choice(std::string_view selector, u32 otherwise) {
  if (selector.empty()) return otherwise;
  if (selector.size() != kParts + 1 || selector[0] != (kParts == 4 ? 'b' : 'h')) return ~0u;
  u32 result = 0;
  for (const char c : selector.substr(1)) {
    if (c < '0' || c >= char('0' + 2 * kParts)) return ~0u;
    result = result << 3 | u32(c - '0');
  }
  return result;
}
// "b20" → elements 2 and 0; 0 if the selector is malformed.
template <u32 kParts>
u32 element_mask(std::string_view selector) {
  if (selector.empty()) return (1u << kParts) - 1;
  if (selector.size() < 2 || selector[0] != (kParts == 4 ? 'b' : 'h')) return 0;
  u32 result = 0, last = kParts;
  for (const char c : selector.substr(1)) {
    const u32 element = u32(c - '0');
    if (c < '0' || element >= last) return 0;
    result |= 1u << element;
    last = element;
  }
  return result;
}

template <class Op, u32 kParts, bool kAccumulate>
void run_simd(Warp& warp, const Instruction& i) {
  constexpr u32 kWidth = 32 / kParts;
  const u32 a_choice = i.control & 0xfff, b_choice = i.control >> 12 & 0xfff, mask = i.control >> 24 & 0xf;
  const bool d_signed = i.control >> 28 & 1, a_signed = i.control >> 29 & 1, b_signed = i.control >> 30 & 1;
  const bool sat = i.control >> 31;
  u32* d = warp.out<u32>(i.slot[0]);
  const u32* a = warp.in<u32>(i.slot[1]);
  const u32* b = warp.in<u32>(i.slot[2]);
  const u32* c = warp.in<u32>(i.slot[3]);
  for_lanes(warp.mask, [&](u32 lane) {
    const u64 both = u64{b[lane]} << 32 | a[lane];
    u32 result = c[lane];
    for (u32 k = 0; k < kParts; ++k) {
      if ((mask >> k & 1) == 0) continue;
      const auto pick = [&](u32 choice, bool sign) {
        return extend(u32(both >> kWidth * (choice >> 3 * k & 7)), kWidth, sign);
      };
      i64 value = Op::of(pick(a_choice, a_signed), pick(b_choice, b_signed));
      if (sat) value = clamp(value, kWidth, d_signed);
      const u32 part = ((1u << kWidth) - 1) << kWidth * k;
      result = kAccumulate ? result + u32(value) : (result & ~part) | (u32(value) << kWidth * k & part);
    }
    d[lane] = result;
  });
}
template <class Op, u32 kParts>
Bound simd_bound(const Form& form, bool d_signed, bool a_signed, bool b_signed) {
  const u32 a = choice<kParts>(form.selector[1], kParts == 4 ? 03210 : 010);
  const u32 b = choice<kParts>(form.selector[2], kParts == 4 ? 07654 : 032);
  const u32 mask = element_mask<kParts>(form.selector[0]);
  if (a == ~0u || b == ~0u || mask == 0) return nullptr;
  return {form.has("add") ? run_simd<Op, kParts, true> : run_simd<Op, kParts, false>,
          a | b << 12 | mask << 24 | u32{d_signed} << 28 | u32{a_signed} << 29 | u32{b_signed} << 30 |
              u32{form.has("sat")} << 31};
}
template <class Op, u32 kParts>
Bound bind_simd(const Form& form) {
  return simd_bound<Op, kParts>(form, is_signed(form.type[0]), is_signed(form.type[1]), is_signed(form.type[2]));
}
template <u32 kParts>
Bound bind_simd_set(const Form& form) {
  return for_comparison(form, [&form](auto op) {
    return simd_bound<decltype(op), kParts>(form, false, is_signed(form.type[0]), is_signed(form.type[1]));
  });
}

#define SCALAR(name, op)                                                                           \
  {name ".u32|s32.u32|s32.u32|s32{.sat}", "=u32.sel u32.sel u32.sel u32?", bind_scalar<op>}, {     \
    name ".u32|s32.u32|s32.u32|s32{.sat}.add|min|max", "=u32 u32.sel u32.sel u32", bind_scalar<op> \
  }
#define SHIFT(name, op)                                                                                  \
  {name ".u32|s32.u32|s32.u32{.sat}.clamp|wrap", "=u32.sel u32.sel u32.sel u32?", bind_shift<op>}, {     \
    name ".u32|s32.u32|s32.u32{.sat}.clamp|wrap.add|min|max", "=u32 u32.sel u32.sel u32", bind_shift<op> \
  }
#define SIMD(name, op, parts)                                                                      \
  {name ".u32|s32.u32|s32.u32|s32{.sat}", "=u32.sel u32.sel u32.sel u32", bind_simd<op, parts>}, { \
    name ".u32|s32.u32|s32.u32|s32.add", "=u32.sel u32.sel u32.sel u32", bind_simd<op, parts>      \
  }

constexpr Row kRows[] = {
    SCALAR("vadd", Add),
    SCALAR("vsub", Sub),
    SCALAR("vabsdiff", AbsDiff),
    SCALAR("vmin", Min),
    SCALAR("vmax", Max),
    SHIFT("vshl", Shl),
    SHIFT("vshr", Shr),
    {"vset.u32|s32.u32|s32.cmp", "=u32.sel u32.sel u32.sel u32?", bind_vset},
    {"vset.u32|s32.u32|s32.cmp.add|min|max", "=u32 u32.sel u32.sel u32", bind_vset},
    {"vmad.u32|s32.u32|s32.u32|s32{.po}{.sat}{.shr7|shr15}", "=u32 u32.sel u32.sel u32", bind_vmad},
    SIMD("vadd2", Add, 2),
    SIMD("vsub2", Sub, 2),
    SIMD("vavrg2", Average, 2),
    SIMD("vabsdiff2", AbsDiff, 2),
    SIMD("vmin2", Min, 2),
    SIMD("vmax2", Max, 2),
    {"vset2.u32|s32.u32|s32.cmp{.add}", "=u32.sel u32.sel u32.sel u32", bind_simd_set<2>},
    SIMD("vadd4", Add, 4),
    SIMD("vsub4", Sub, 4),
    SIMD("vavrg4", Average, 4),
    SIMD("vabsdiff4", AbsDiff, 4),
    SIMD("vmin4", Min, 4),
    SIMD("vmax4", Max, 4),
    {"vset4.u32|s32.u32|s32.cmp{.add}", "=u32.sel u32.sel u32.sel u32", bind_simd_set<4>},
};

}  // namespace

std::span<const Row> video_rows() { return kRows; }

}  // namespace cudasim
