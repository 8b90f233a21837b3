// Integer arithmetic, bit fields, logic and shifts: what the manual says, on integers that are wide enough.
#pragma once
#include "tests/instructions/case.hpp"

#include <algorithm>
#include <type_traits>

namespace instructions {

using wide = __int128;

template <class F>
void each_integer(F f) {
  f(u16{}, "u16"), f(i16{}, "s16"), f(u32{}, "u32"), f(i32{}, "s32"), f(u64{}, "u64"), f(i64{}, "s64");
}
template <class F>
void each_32_64(F f) {
  f(u32{}, "u32"), f(i32{}, "s32"), f(u64{}, "u64"), f(i64{}, "s64");
}
template <class F>
void each_bits(F f) {
  f(u16{}, "b16"), f(u32{}, "b32"), f(u64{}, "b64");
}

template <class T>
wide least() {
  return std::numeric_limits<T>::min();
}
template <class T>
wide most() {
  return std::numeric_limits<T>::max();
}
template <class T>
T clamped(wide x) {
  return T(std::clamp(x, least<T>(), most<T>()));
}
template <class T>
wide high_half(T a, T b) {
  if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>)
    return wide((unsigned __int128)(a)*b >> 64);
  else
    return wide(a) * wide(b) >> sizeof(T) * 8;
}
// Bit n of x; beyond the width, whatever `beyond` says.
template <class T>
bool bit(T x, wide n) {
  return u64(x) >> int(n) & 1;
}

inline u32 extract24(u32 x) { return x & 0xffffff; }
inline i32 extract24(i32 x) { return i32(u32(x) << 8) >> 8; }

// f on both 16-bit halves.
template <class T, class F>
Reference on_halves(F f) {
  return on<u32, u32, u32>(
      [f](u32 a, u32 b) { return u32(u16(f(T(a), T(b)))) | u32(u16(f(T(a >> 16), T(b >> 16)))) << 16; });
}

inline Cases integer_cases() {
  Cases cases;
  const auto add = [&cases](std::string form, std::string operands, Reference reference) {
    cases.push_back({std::move(form), std::move(operands), std::move(reference)});
  };
  each_integer([&](auto zero, std::string t) {
    using T = decltype(zero);
    const std::string o2 = t + " " + t + " " + t, o3 = o2 + " " + t;
    constexpr int width = sizeof(T) * 8;
    add("add." + t, o2, on<T, T, T>([](T a, T b) { return wide(a) + b; }));
    add("sub." + t, o2, on<T, T, T>([](T a, T b) { return wide(a) - b; }));
    add("mul.lo." + t, o2, on<T, T, T>([](T a, T b) { return u64(a) * u64(b); }));
    add("mul.hi." + t, o2, on<T, T, T>([](T a, T b) { return high_half(a, b); }));
    add("mad.lo." + t, o3, on<T, T, T, T>([](T a, T b, T c) { return u64(a) * u64(b) + u64(c); }));
    add("mad.hi." + t, o3, on<T, T, T, T>([](T a, T b, T c) { return high_half(a, b) + c; }));
    add("sad." + t, o3, on<T, T, T, T>([](T a, T b, T c) { return wide(c) + (a < b ? wide(b) - a : wide(a) - b); }));
    // By zero: all ones, both; as an H200 does, the manual leaves it open.
    add("div." + t, o2, on<T, T, T>([](T a, T b) { return b == 0 ? wide(-1) : wide(a) / b; }));
    add("rem." + t, o2, on<T, T, T>([](T a, T b) { return b == 0 ? wide(-1) : wide(a) % b; }));
    add("min." + t, o2, on<T, T, T>([](T a, T b) { return std::min(a, b); }));
    add("max." + t, o2, on<T, T, T>([](T a, T b) { return std::max(a, b); }));
    add("shr." + t, t + " " + t + " amount", on<T, T, u32>([](T a, u32 n) { return wide(a) >> std::min<u32>(n, 64); }));
    if constexpr (std::is_signed_v<T>) {
      add("abs." + t, t + " " + t, on<T, T>([](T a) { return a < 0 ? -wide(a) : wide(a); }));
      add("neg." + t, t + " " + t, on<T, T>([](T a) { return -wide(a); }));
    }
    if constexpr (width < 64) {
      using W = std::conditional_t<std::is_signed_v<T>, std::conditional_t<width == 16, i32, i64>,
                                   std::conditional_t<width == 16, u32, u64>>;
      const std::string w = t.substr(0, 1) + std::to_string(2 * width);
      add("mul.wide." + t, w + " " + t + " " + t, on<W, T, T>([](T a, T b) { return wide(a) * b; }));
      add("mad.wide." + t, w + " " + t + " " + t + " " + w,
          on<W, T, T, W>([](T a, T b, W c) { return wide(a) * b + c; }));
    }
    if constexpr (width == 32) {
      const auto product = [](T a, T b) { return wide(extract24(a)) * extract24(b); };
      add("mul24.lo." + t, o2, on<T, T, T>(product));
      add("mul24.hi." + t, o2, on<T, T, T>([product](T a, T b) { return product(a, b) >> 16; }));
      add("mad24.lo." + t, o3, on<T, T, T, T>([product](T a, T b, T c) { return product(a, b) + c; }));
      add("mad24.hi." + t, o3, on<T, T, T, T>([product](T a, T b, T c) { return (product(a, b) >> 16) + c; }));
      for (bool wrap : {false, true}) {
        add(std::string("szext.") + (wrap ? "wrap." : "clamp.") + t, t + " " + t + " amount",
            on<T, T, u32>([wrap](T a, u32 n) -> T {
              if (wrap) n %= 32;
              if (n >= 32) return a;
              if (n == 0) return 0;
              const wide low = wide(u32(a)) & ((wide{1} << n) - 1);
              return T(std::is_signed_v<T> && bit(a, n - 1) ? low - (wide{1} << n) : low);
            }));
      }
    }
  });
  add("add.sat.s32", "s32 s32 s32", on<i32, i32, i32>([](i32 a, i32 b) { return clamped<i32>(wide(a) + b); }));
  add("sub.sat.s32", "s32 s32 s32", on<i32, i32, i32>([](i32 a, i32 b) { return clamped<i32>(wide(a) - b); }));
  add("mad.hi.sat.s32", "s32 s32 s32 s32",
      on<i32, i32, i32, i32>([](i32 a, i32 b, i32 c) { return clamped<i32>(high_half(a, b) + c); }));
  add("mad24.hi.sat.s32", "s32 s32 s32 s32", on<i32, i32, i32, i32>([](i32 a, i32 b, i32 c) {
        return clamped<i32>((wide(extract24(a)) * extract24(b) >> 16) + c);
      }));
  for (const char* t : {"u16x2", "s16x2"}) {
    const std::string type = t, o2 = type + " " + type + " " + type;
    add("add." + type, o2, on_halves<u16>([](u16 a, u16 b) { return a + b; }));
    if (type == "u16x2") {
      add("min." + type, o2, on_halves<u16>([](u16 a, u16 b) { return std::min(a, b); }));
      add("max." + type, o2, on_halves<u16>([](u16 a, u16 b) { return std::max(a, b); }));
    } else {
      add("min." + type, o2, on_halves<i16>([](i16 a, i16 b) { return std::min(a, b); }));
      add("max." + type, o2, on_halves<i16>([](i16 a, i16 b) { return std::max(a, b); }));
      add("min.relu." + type, o2, on_halves<i16>([](i16 a, i16 b) { return std::max<i16>(std::min(a, b), 0); }));
      add("max.relu." + type, o2, on_halves<i16>([](i16 a, i16 b) { return std::max<i16>(std::max(a, b), 0); }));
    }
  }
  add("min.relu.s32", "s32 s32 s32", on<i32, i32, i32>([](i32 a, i32 b) { return std::max(std::min(a, b), 0); }));
  add("max.relu.s32", "s32 s32 s32", on<i32, i32, i32>([](i32 a, i32 b) { return std::max(std::max(a, b), 0); }));

  each_32_64([&](auto zero, std::string t) {
    using T = decltype(zero);
    constexpr int width = sizeof(T) * 8;
    const auto find = [](T a) -> i32 {
      for (int n = width - 1; n >= 0; --n) {
        if (bit(a, n) != (std::is_signed_v<T> && bit(a, width - 1))) return n;
      }
      return -1;
    };
    add("bfind." + t, "u32 " + t, on<u32, T>([find](T a) { return find(a); }));
    add("bfind.shiftamt." + t, "u32 " + t, on<u32, T>([find](T a) { return find(a) < 0 ? -1 : width - 1 - find(a); }));
    add("bfe." + t, t + " " + t + " amount amount", on<T, T, u32, u32>([](T a, u32 position, u32 length) -> T {
          // Only 0 to 255 are amounts, the manual says; of others, an H200 drops the upper bits in 32 bits and not
          // in 64.
          if (width == 32) position &= 255, length &= 255;
          const u64 top = width - 1, end = u64{position} + length;
          const bool sign = std::is_signed_v<T> && length != 0 && bit(a, wide(std::min(end - 1, top)));
          u64 d = 0;
          for (u64 i = 0; i <= top; ++i) {
            const bool inside = i < length && position + i <= top;
            d |= u64{inside ? bit(a, wide(position + i)) : sign} << i;
          }
          return T(d);
        }));
  });
  each_bits([&](auto zero, std::string t) {
    using T = decltype(zero);
    constexpr u32 width = sizeof(T) * 8;
    const std::string o1 = t + " " + t, o2 = o1 + " " + t;
    add("and." + t, o2, on<T, T, T>([](T a, T b) { return a & b; }));
    add("or." + t, o2, on<T, T, T>([](T a, T b) { return a | b; }));
    add("xor." + t, o2, on<T, T, T>([](T a, T b) { return a ^ b; }));
    add("not." + t, o1, on<T, T>([](T a) { return ~a; }));
    add("cnot." + t, o1, on<T, T>([](T a) { return a == 0 ? 1 : 0; }));
    add("shl." + t, o1 + " amount", on<T, T, u32>([](T a, u32 n) -> T { return n >= width ? 0 : T(u64(a) << n); }));
    add("shr." + t, o1 + " amount", on<T, T, u32>([](T a, u32 n) -> T { return n >= width ? 0 : T(u64(a) >> n); }));
    if constexpr (width > 16) {
      add("popc." + t, "u32 " + t, on<u32, T>([](T a) {
            u32 count = 0;
            for (u32 n = 0; n < width; ++n) count += bit(a, n);
            return count;
          }));
      add("clz." + t, "u32 " + t, on<u32, T>([](T a) {
            u32 n = 0;
            while (n < width && !bit(a, width - 1 - n)) ++n;
            return n;
          }));
      add("brev." + t, o1, on<T, T>([](T a) {
            T d = 0;
            for (u32 n = 0; n < width; ++n) d |= T(T{bit(a, n)} << (width - 1 - n));
            return d;
          }));
      add("bfi." + t, t + " " + t + " " + t + " amount amount",
          on<T, T, T, u32, u32>([](T a, T b, u32 position, u32 length) {
            if (width == 32) position &= 255, length &= 255;  // as for bfe
            T d = b;
            for (u64 n = 0; n < length && position + n < width; ++n) {
              d = T((d & ~(T{1} << (position + n))) | T{bit(a, wide(n))} << (position + n));
            }
            return d;
          }));
    }
  });
  for (const char* o : {"and", "or", "xor"}) {
    const std::string op = o;
    add(op + ".pred", "pred pred pred", on<u8, u8, u8>([op](u8 a, u8 b) {
          return op == "and" ? a & b : op == "or" ? a | b : a ^ b;
        }));
  }
  add("not.pred", "pred pred", on<u8, u8>([](u8 a) { return a == 0; }));
  add("fns.b32", "b32 b32 amount amount", [](const u64* in) -> u64 {
    const u32 mask = u32(in[0]), base = u32(in[1]);
    const i32 offset = i32(in[2]);
    if (u32(in[2]) == 0x80000000) return 0;  // cannot be negated: as an H200 does
    if (base > 31) return 0xffffffff;
    std::vector<u32> found;  // set bits from base on, in the direction of offset
    for (i32 n = i32(base); n >= 0 && n < 32; n += offset < 0 ? -1 : 1) {
      if (offset == 0) return bit(mask, n) ? u64(n) : 0xffffffff;
      if (bit(mask, n)) found.push_back(u32(n));
    }
    const wide nth = offset < 0 ? -wide(offset) : wide(offset);
    return nth <= wide(found.size()) ? found[std::size_t(nth - 1)] : 0xffffffff;
  });
  for (bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    add("bmsk." + mode + ".b32", "b32 amount amount", on<u32, u32, u32>([wrap](u32 position, u32 length) {
          if (wrap) position %= 32, length %= 32;
          u32 d = 0;
          for (u64 n = position; n < 32 && n - position < length; ++n) d |= 1u << n;
          return d;
        }));
    add("shf.l." + mode + ".b32", "b32 b32 b32 amount", on<u32, u32, u32, u32>([wrap](u32 a, u32 b, u32 n) {
          n = wrap ? n % 32 : std::min(n, 32u);
          return u64((unsigned __int128)(u64{b} << 32 | a) << n >> 32);
        }));
    add("shf.r." + mode + ".b32", "b32 b32 b32 amount", on<u32, u32, u32, u32>([wrap](u32 a, u32 b, u32 n) {
          n = wrap ? n % 32 : std::min(n, 32u);
          return (u64{b} << 32 | a) >> n;
        }));
  }
  for (bool a_signed : {false, true}) {
    for (bool b_signed : {false, true}) {
      const std::string types = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      const std::string o = std::string("u32 ") + (a_signed ? "s32 " : "u32 ") + (b_signed ? "s32 " : "u32 ") + "u32";
      const auto byte = [](u32 x, u32 n, bool sign) { return sign ? wide(i8(x >> 8 * n)) : wide(u8(x >> 8 * n)); };
      const auto half = [](u32 x, u32 n, bool sign) { return sign ? wide(i16(x >> 16 * n)) : wide(u16(x >> 16 * n)); };
      add("dp4a" + types, o, on<u32, u32, u32, u32>([=](u32 a, u32 b, u32 c) {
            wide d = c;
            for (u32 n = 0; n < 4; ++n) d += byte(a, n, a_signed) * byte(b, n, b_signed);
            return d;
          }));
      for (u32 high : {0u, 1u}) {
        add(std::string("dp2a") + (high ? ".hi" : ".lo") + types, o, on<u32, u32, u32, u32>([=](u32 a, u32 b, u32 c) {
              return c + half(a, 0, a_signed) * byte(b, 2 * high, b_signed) +
                     half(a, 1, a_signed) * byte(b, 2 * high + 1, b_signed);
            }));
      }
    }
  }
  for (u32 table : {0xe8u, 0x96u, 0xcau, 0x00u, 0xffu, 0x01u, 0x6bu}) {
    const auto bits = [table](u32 a, u32 b, u32 c) {
      u32 d = 0;
      for (u32 n = 0; n < 32; ++n) d |= (table >> (4 * bit(a, n) + 2 * bit(b, n) + bit(c, n)) & 1) << n;
      return d;
    };
    const std::string o = " b32 b32 b32 imm=" + std::to_string(table);
    add("lop3.b32", "b32" + o, on<u32, u32, u32, u32>(bits));
  }
  for (const bool either : {true, false}) {  // d = c & ~(a & b), p = d != 0 or (and) q
    add(either ? "lop3.or.b32" : "lop3.and.b32", "b32|pred b32 b32 b32 imm=42 pred", [either](const u64* in) {
      const u64 d = in[2] & ~(in[0] & in[1]);
      return d | u64{either ? d != 0 || in[4] : d != 0 && in[4]} << 32;
    });
  }
  add("prmt.b32", "b32 b32 b32 b32", on<u32, u32, u32, u32>([](u32 a, u32 b, u32 c) {
        u32 d = 0;
        for (u32 n = 0; n < 4; ++n) {
          const u32 selector = c >> 4 * n & 15;
          const u32 byte = u32((u64{b} << 32 | a) >> 8 * (selector & 7)) & 255;
          d |= (selector & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * n;
        }
        return d;
      }));
  const std::pair<const char*, std::vector<std::string>> modes[] = {
      // The bytes that selectors 0 to 3 pick, highest first, as the manual's table has them.
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const auto& [mode, table] : modes) {
    add(std::string("prmt.b32.") + mode, "b32 b32 b32 b32",
        on<u32, u32, u32, u32>([table = table](u32 a, u32 b, u32 c) {
          u32 d = 0;
          for (const char which : table[c & 3]) d = d << 8 | (u32((u64{b} << 32 | a) >> 8 * (which - '0')) & 255);
          return d;
        }));
  }
  return cases;
}

}  // namespace instructions
