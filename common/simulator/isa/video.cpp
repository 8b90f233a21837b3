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
struct Average {  // rounded up, but for negative sums
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
struct Part {
  u32 shift = 0, width = 32;
};
constexpr std::string_view kParts[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
constexpr u32 kNoPart = 7;

Part part(u32 index) {
  if (index == 0) return {};
  return index < 5 ? Part{8 * (index - 1), 8} : Part{16 * (index - 5), 16};
}
u32 part_index(std::string_view selector) {
  const auto* found = std::find(std::begin(kParts), std::end(kParts), selector);
  return u32(found - std::begin(kParts));  // kNoPart: none of them
}
i64 select(u32 value, Part p, bool sign) { return extend(value >> p.shift, p.width, sign); }

enum : u32 { kThenNothing, kThenAdd, kThenMin, kThenMax };

// Instruction::control of the scalar operations.
struct Scalar {
  Part d, a, b;
  bool d_signed, a_signed, b_signed, sat;
  u32 then;
};
Scalar scalar(u32 control) {
  return {part(control & 7),        part(control >> 3 & 7),   part(control >> 6 & 7),   (control >> 9 & 1) != 0,
          (control >> 10 & 1) != 0, (control >> 11 & 1) != 0, (control >> 12 & 1) != 0, control >> 13 & 3};
}

// A shift to the left is the one operation whose result may be wider than the manual's 34 bits.
template <class Op>
constexpr bool kGrows = std::is_same_v<Op, Shl<false>> || std::is_same_v<Op, Shl<true>>;

// d = saturate(a op b), then combined with c, or merged into it. .sat looks at 34 bits. What .min and .max compare if d
// is unsigned is not what the manual says, but what an H200 does: c, extended with zeros to 64 bits, with a op b, of
// which 32 bits are extended with their highest bit (all of it, for a shift to the left without .sat), as unsigned
// numbers.
template <class Op>
void run_scalar(Warp& warp, const Instruction& i) {
  const Scalar s = scalar(i.control);
  const bool merge = s.d.width != 32;
  const u32* c = i.slot[3] == kNoSlot ? nullptr : warp.in<u32>(i.slot[3]);
  u32* d = warp.out<u32>(i.slot[0]);
  const u32* a = warp.in<u32>(i.slot[1]);
  const u32* b = warp.in<u32>(i.slot[2]);
  const u32 mask = merge ? ((1u << s.d.width) - 1) << s.d.shift : ~0u;
  for_lanes(warp.mask, [&](u32 lane) {
    i64 value = Op::of(select(a[lane], s.a, s.a_signed), select(b[lane], s.b, s.b_signed));
    if (s.sat) value = clamp(i64(u64(value) << 30) >> 30, s.d.width, s.d_signed);
    const u32 old = c ? c[lane] : 0;
    if (!s.d_signed && s.then > kThenAdd) {
      const u64 left = kGrows<Op> && !s.sat ? u64(value) : u64(extend(u32(value), 32, true));
      d[lane] = u32(s.then == kThenMin ? std::min<u64>(left, old) : std::max<u64>(left, old));
      return;
    }
    const i64 left = extend(u32(value), 32, s.d_signed), right = extend(old, 32, s.d_signed);
    switch (s.then) {
      case kThenAdd: value = left + right; break;
      case kThenMin: value = std::min(left, right); break;
      case kThenMax: value = std::max(left, right); break;
      default: break;
    }
    d[lane] = (u32(value) << s.d.shift & mask) | (old & ~mask);
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

// vmad: (a * b) + c (+ 1), shifted, saturated. Control as above; the bits above 13 are .po and the shift. Of unsigned
// operands not as the manual says, but as an H200 does it: c is signed nevertheless, the sum has 64 bits, and they are
// shifted like an unsigned number and saturated like a signed one.
void run_vmad(Warp& warp, const Instruction& i) {
  const Scalar s = scalar(i.control & 0x1fff);
  const bool plus_one = i.control >> 13 & 1, sign = s.a_signed || s.b_signed;
  const u32 shift = i.control >> 14;
  u32* d = warp.out<u32>(i.slot[0]);
  const u32* a = warp.in<u32>(i.slot[1]);
  const u32* b = warp.in<u32>(i.slot[2]);
  const u32* c = warp.in<u32>(i.slot[3]);
  for_lanes(warp.mask, [&](u32 lane) {
    if (!sign) {
      const u64 product = u64(select(a[lane], s.a, false)) * u64(select(b[lane], s.b, false));
      const u64 sum = (product + u64(extend(c[lane], 32, true)) + plus_one) >> shift;
      d[lane] = u32(s.sat ? clamp(i64(sum), 32, false) : i64(sum));
      return;
    }
    __int128 value = static_cast<__int128>(select(a[lane], s.a, s.a_signed)) * select(b[lane], s.b, s.b_signed);
    value = (value + extend(c[lane], 32, true) + plus_one) >> shift;
    const __int128 most = 0x7fff'ffff, least = -most - 1;
    if (s.sat) value = std::clamp(value, least, most);
    d[lane] = u32(value);
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
// "b7654" → 4, 5, 6, 7; ~0u if the selector is none.
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
// "b20" → elements 2 and 0; 0 if the selector is none.
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
