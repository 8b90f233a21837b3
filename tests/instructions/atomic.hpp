// Atomic operations: on a word of each thread's own, with checks of its old and its new value, and on words that all
// threads share.
#pragma once
#include "tests/instructions/memory.hpp"

namespace instructions {

// Words that are small whole numbers in this floating-point type, so that sums are exact: element e of word i is 3 t +
// 7 i + e, modulo 32.
inline u64 small_number(const std::string& type, u32 x) {
  if (type == "f64") return to_bits(double(x));
  if (type == "f32") return to_bits(float(x));
  u32 exponent = 0;
  while (x >> (exponent + 1) != 0) ++exponent;
  if (x == 0) return 0;
  return type[0] == 'b' ? to_bits(float(x)) >> 16 : (exponent + 15) << 10 | ((x << 10) >> exponent & 0x3ff);
}
inline u32 element_bytes(const std::string& type) {
  return type.rfind("x2") != std::string::npos || type == "f32" ? (type == "f32" ? 4 : 2) : type == "f64" ? 8 : 2;
}
inline u32 small_value(u32 t, u32 i, u32 e) { return (3 * t + 7 * i + e) % 32; }
inline Words small_words(const std::string& type, u32 t) {
  const u32 bytes = element_bytes(type);
  Words all{};
  for (u32 i = 0; i < 8; ++i) {
    for (u32 e = 0; e < 8 / bytes; ++e) all[i] |= small_number(type, small_value(t, i, e)) << e * bytes * 8;
  }
  return all;
}

// The manual's "Operation", on the low bits of words.
inline u64 combined(const std::string& op, const std::string& type, u64 a, u64 b, u64 c) {
  const u32 bits = u32(std::stoul(type.substr(1)));
  const auto as_signed = [bits](u64 x) { return bits == 64 ? i64(x) : i64(i32(u32(x))); };
  const bool is_signed = type[0] == 's';
  a &= mask(bits), b &= mask(bits), c &= mask(bits);
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (op == "exch") return b;
  if (op == "cas") return a == b ? c : a;
  if (op == "add") return (a + b) & mask(bits);
  if (op == "min") return is_signed ? (as_signed(a) < as_signed(b) ? a : b) : std::min(a, b);
  if (op == "max") return is_signed ? (as_signed(a) > as_signed(b) ? a : b) : std::max(a, b);
  if (op == "inc") return a >= b ? 0 : a + 1;
  return a == 0 || a > b ? b : a - 1;  // dec
}

// Everything in one form: `reduces` for red. The thread's word 1 is changed by words 2 and 3; cas: half of the threads
// hit. Long because what the kernel does and what is expected of it depend on the same choices.
inline Program atomic_case(const std::string& form, const std::string& op, const std::string& type,
                           const std::string& space, bool hint, bool reduces, u32 k) {
  const bool real = type == "f32" || type == "f64" || type.find("f16") != std::string::npos;
  const std::string at = space == ".global" ? "%mine" : !space.empty() ? "%s" : k % 2 ? "%gs" : "%mine";
  const std::string load = at == "%mine" ? "ld.global" : "ld.shared", address = at == "%gs" ? "%s" : at;
  const u32 bits = type == "b128"                         ? 128
                   : type.find("x2") != std::string::npos ? 32
                   : type[0] == 'b' && type[1] == 'f'     ? 16
                                                          : u32(std::stoul(type.substr(1)));
  Program p;
  if (real) p.in = [type](u32 t) { return small_words(type, t); };
  const bool is_cas = op == "cas";
  std::string body = hint ? kPolicy : "";
  const std::string place = bits == 128 ? "16" : "8";
  std::string d, b, c, after;
  if (bits == 128) {
    // Word 2 and 3 become 4 and 5, if they are (in every other thread) 2 and 3.
    body += "ld.global.v2.b64 {%a1, %a2}, [%in+" + std::string(is_cas ? "16" : "32") +
            "]; and.b32 %r0, %t, 1; cvt.u64.u32 %a3, %r0;\n" + (is_cas ? "xor.b64 %a1, %a1, %a3;\n" : "") +
            "mov.b128 %q1, {%a1, %a2}; ld.global.v2.b64 {%a1, %a2}, [%in+32]; mov.b128 %q2, {%a1, %a2};\n";
    d = "%q0", b = "%q1", c = "%q2", after = "mov.b128 {%d0, %d3}, %q0;\n";
  } else {
    const std::string load_b =
        "ld.global.b64 %a1, [%in+" + std::string(is_cas ? "8" : "16") + "]; ld.global.b64 %a2, [%in+24];\n";
    body += load_b;
    if (is_cas) body += "and.b32 %r0, %t, 1; cvt.u64.u32 %a3, %r0; xor.b64 %a1, %a1, %a3;\n";
    if (op == "inc" || op == "dec")
      body += "and.b32 %r0, %t, 3; setp.eq.u32 %p1, %r0, 0; @%p1 ld.global.b64 %a1, [%in+8];\n";
    if (bits == 64) {
      d = "%d0", b = "%a1", c = "%a2";
    } else if (bits == 32) {
      const std::string r = type == "f32" ? "%f" : "%r";
      const std::string move = type == "f32" ? "mov.b32 %f2, %r2; mov.b32 %f3, %r3;\n" : "";
      // Pairs are loaded once more: out of 64 bits the compiler in driver 580 takes a wrong second half for them.
      const bool pair = type.find("x2") != std::string::npos;
      body += pair ? "ld.global.b32 %r2, [%in+16];\n" : "cvt.u32.u64 %r2, %a1; cvt.u32.u64 %r3, %a2;\n" + move;
      d = r + "1", b = r + "2", c = r + "3";
      after = (type == "f32" ? "mov.b32 %r1, %f1; " : "") + std::string("cvt.u64.u32 %d0, %r1;\n");
    } else {
      body += "cvt.u16.u64 %h2, %a1; cvt.u16.u64 %h3, %a2;\n";
      d = "%h1", b = "%h2", c = "%h3", after = "cvt.u64.u16 %d0, %h1;\n";
    }
  }
  body += "@!%go bra SKIP;\n" + form + " " + (reduces ? "" : d + ", ") + "[" + at + "+" + place + "], " + b +
          (is_cas ? ", " + c : "") + (hint ? ", %a9" : "") + ";\n" + (reduces ? "" : after) + "SKIP:\n" + load +
          ".b64 %d1, [" + address + "+" + place + "]; " + load + ".b64 %d2, [" + address + "+" +
          (bits == 128 ? "24" : "16") + "];\n";
  p.body = body;
  const auto in = p.in;
  p.want = [=](u32 t) -> Results {
    const Words w = in(t);
    Results all = kNothing;
    if (bits == 128) {
      const bool hits = active(t) && (!is_cas || t % 2 == 0);
      all[1] = hits ? w[4] : w[2], all[2] = hits ? w[5] : w[3];
      if (active(t) && !reduces) all[0] = w[2], all[3] = w[3];
      return all;
    }
    u64 now = w[1];
    if (active(t)) {
      if (!reduces) all[0] = w[1] & mask(bits);
      if (real) {
        const u32 bytes = element_bytes(type);
        now = w[1] & ~mask(bits);
        for (u32 e = 0; e < bits / 8 / bytes; ++e)
          now |= small_number(type, small_value(t, 1, e) + small_value(t, 2, e)) << e * bytes * 8;
      } else {
        u64 x = is_cas ? w[1] ^ (t & 1) : w[2];
        if ((op == "inc" || op == "dec") && t % 4 == 0) x = w[1];
        now = (w[1] & ~mask(bits)) | combined(op, type[0] == 'f' ? "b" + number(bits) : type, w[1], x, w[3]);
      }
    }
    all[1] = now, all[2] = w[2];
    return all;
  };
  return p;
}

// Vectors, in global memory: 8 to 16 bytes of small numbers.
inline Program vector_case(const std::string& form, const std::string& op, const std::string& type, u32 count,
                           bool hint, bool reduces) {
  const u32 bytes = element_bytes(type), per = type.find("x2") != std::string::npos ? 2 : 1, size = bytes * per * count;
  Program p;
  p.in = [type](u32 t) { return small_words(type, t); };
  const bool pairs = size == 16;
  const std::string letter = bytes * per == 4 ? (type == "f32" ? "%f" : "%r") : "%h";
  const auto names = [&](u32 first) {
    std::string text = "{";
    for (u32 n = 0; n < count; ++n) text += (n ? ", " : "") + letter + number(first + n);
    return text + "}";
  };
  // Operands by way of .b16 or .b32 loads.
  const std::string load = bytes * per == 4 ? "ld.global.b32 " : "ld.global.b16 ",
                    store = bytes * per == 4 ? "st.global.b32 " : "st.global.b16 ";
  std::string body = hint ? kPolicy : "";
  for (u32 n = 0; n < count; ++n)
    body += load + letter + number(8 + n) + ", [%in+" + number(16 + n * bytes * per) + "];\n";
  body += "@!%go bra SKIP;\n" + form + " " + (reduces ? "" : names(0) + ", ") + "[%mine], " + names(8) +
          (hint ? ", %a9" : "") + ";\n";
  // What was there goes to the thread's bytes 32 …
  if (!reduces) {
    for (u32 n = 0; n < count; ++n)
      body += store + "[%mine+" + number(32 + n * bytes * per) + "], " + letter + number(n) + ";\n";
  }
  p.body = body + "SKIP:\nld.global.v2.b64 {%d0, %d1}, [%mine]; ld.global.v2.b64 {%d2, %d3}, [%mine+32];\n";
  p.want = [=](u32 t) -> Results {
    Words w = small_words(type, t);
    const Words before = w;
    if (active(t)) {
      for (u32 n = 0; n < size / bytes; ++n) {
        const u32 i = n * bytes / 8, e = n % (8 / bytes), a = small_value(t, i, e), b = small_value(t, i + 2, e);
        w = with_bytes(w, n * bytes,
                       small_number(type, op == "add"   ? a + b
                                          : op == "min" ? std::min(a, b)
                                                        : std::max(a, b)),
                       bytes);
      }
      if (!reduces) {
        w[4] = size >= 8 ? before[0] : with_bytes(w, 32, before[0], size)[4];
        if (pairs) w[5] = before[1];
      }
    }
    return {w[0], w[1], w[4], w[5]};
  };
  return p;
}

inline Programs atomic_cases() {
  Programs all;
  const struct {
    std::vector<std::string> ops, types;
    bool rounds;  // .noftz
    bool reduces;
  } groups[] = {{{"and", "or", "xor"}, {"b32", "b64"}, false, true},
                {{"exch"}, {"b32", "b64"}, false, false},
                {{"exch"}, {"b128"}, false, false},
                {{"cas"}, {"b32", "b64"}, false, false},
                {{"cas"}, {"b16"}, false, false},
                {{"cas"}, {"b128"}, false, false},
                {{"add"}, {"u32", "s32", "u64"}, false, true},
                {{"min", "max"}, {"u32", "s32", "u64", "s64"}, false, true},
                {{"inc", "dec"}, {"u32"}, false, true},
                {{"add"}, {"f32"}, false, true},
                {{"add"}, {"f64"}, false, true},
                {{"add"}, {"f16x2"}, true, true},
                {{"add"}, {"f16"}, true, true},
                {{"add"}, {"bf16", "bf16x2"}, true, true}};
  const std::vector<std::string> orders = {"", ".relaxed", ".acquire", ".release", ".acq_rel"},
                                 red_orders = {"", ".relaxed", ".release"},
                                 scopes = {"", ".cta", ".cluster", ".gpu", ".sys"};
  u32 k = 0;
  for (const bool reduces : {false, true}) {
    for (const auto& g : groups) {
      if (reduces && !g.reduces) continue;
      for (const bool hint : {false, true}) {
        if (hint && g.ops[0] == "cas") continue;
        const std::vector<std::string> spaces =
            hint ? std::vector<std::string>{"", ".global"}
                 : std::vector<std::string>{"", ".global", ".shared", ".shared::cta", ".shared::cluster"};
        std::vector<std::string> pairs;  // each operation with each type
        for (const auto& op : g.ops) {
          for (const auto& type : g.types) pairs.push_back(op + " " + type);
        }
        for (const auto& words : covering({reduces ? red_orders : orders, scopes, spaces, pairs})) {
          const std::string op = words[3].substr(0, words[3].find(' ')), type = words[3].substr(words[3].find(' ') + 1);
          const std::string scope = words[0].empty() || !words[1].empty() ? words[1] : ".gpu";
          all.push_back(atomic_case((reduces ? "red" : "atom") + words[0] + scope + words[2] + "." + op +
                                        (g.rounds ? ".noftz" : "") + (hint ? ".L2::cache_hint" : "") + "." + type,
                                    op, type, words[2], hint, reduces, k++));
        }
      }
    }
    const struct {
      std::vector<std::string> ops, vectors, types;
      bool rounds;
    } vectors[] = {{{"add"}, {".v2", ".v4"}, {"f32"}, false},
                   {{"add", "min", "max"}, {".v2", ".v4", ".v8"}, {"f16", "bf16"}, true},
                   {{"add", "min", "max"}, {".v2", ".v4"}, {"f16x2", "bf16x2"}, true}};
    for (const auto& v : vectors) {
      std::vector<std::string> pairs;
      for (const auto& op : v.ops) {
        for (const auto& vector : v.vectors) pairs.push_back(op + " " + vector);
      }
      for (const auto& words : covering(
               {reduces ? red_orders : orders, scopes, {"", ".global"}, {"", ".L2::cache_hint"}, v.types, pairs})) {
        const std::string op = words[5].substr(0, words[5].find(' ')), vector = words[5].substr(words[5].find(' ') + 1);
        const std::string scope = words[0].empty() || !words[1].empty() ? words[1] : ".gpu";
        all.push_back(vector_case((reduces ? "red" : "atom") + words[0] + scope + words[2] + "." + op +
                                      (v.rounds ? ".noftz" : "") + words[3] + vector + "." + words[4],
                                  op, words[4], u32(vector[2] - '0'), !words[3].empty(), reduces));
      }
    }
  }
  // All threads of a block on one word: each old value once, and the sum in the end.
  for (const char* where : {"shared", "global"}) {
    Program p;
    p.threads = 77;
    const bool shared = where == std::string("shared");
    p.body = "ld.param.u64 %a1, [scratch]; mov.b64 %a2, 0; setp.eq.u32 %p1, %t, 0;\n" +
             std::string(shared ? "@%p1 st.shared.b64 [%all], %a2;\n" : "@%p1 st.global.b64 [%a1], %a2;\n") +
             "bar.sync 0;\n@%go atom." + where + ".add.u32 %r1, [" + (shared ? "%all" : "%a1") + "], 1; @%go atom." +
             where + ".or.b32 %r2, [" + (shared ? "%all" : "%a1") + "+4], 0;\nbar.sync 0;\n" + "ld." + where +
             ".u32 %r3, [" + (shared ? "%all" : "%a1") +
             "]; cvt.u64.u32 %d0, %r3; setp.lt.u32 %p2, %r1, %r3; selp.u64 %d1, 1, 0, %p2; @!%go mov.u64 %d1, 1;\n" +
             // Which of the values were there: a bit each, gathered by all.
             "mov.b64 %a3, 0; @%p1 st.shared.v2.b64 [%all+16], {%a3, %a3}; bar.sync 0;\nand.b32 %r4, %r1, 31; mov.u32 "
             "%r5, 1; shl.b32 %r5, %r5, %r4; shr.u32 %r6, %r1, 5; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %all;\n"
             "@%go red.shared.xor.b32 [%r6+16], %r5; bar.sync 0;\nld.shared.v2.b64 {%d2, %d3}, [%all+16];\n";
    u32 count = 0;
    for (u32 t = 0; t < 77; ++t) count += active(t);
    p.want = [count](u32) { return Results{count, 1, mask(std::min(count, 64u)), count > 64 ? mask(count - 64) : 0}; };
    all.push_back(p);
  }
  return all;
}

}  // namespace instructions
