// Video instructions, scalar and SIMD, in the words of the manual.
#pragma once
#include "tests/instructions/convert.hpp"

#include <algorithm>

namespace instructions {

struct Selected {
  const char* name;
  u32 shift, bits;
};
inline const std::vector<Selected>& parts() {
  static const std::vector<Selected> all = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                                            {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};
  return all;
}
inline wide part(u64 x, u32 shift, u32 bits, bool is_signed) {
  const Number n{"", int(bits), is_signed ? 's' : 'u'};
  return integer(x >> shift, n);
}
inline wide fit(wide x, u32 bits, bool is_signed) {
  const Number n{"", int(bits), is_signed ? 's' : 'u'};
  return std::clamp(x, least(n), most(n));
}

struct VideoOperation {
  const char* name;
  std::function<wide(wide, wide)> f;
};

// Operand kinds with a selector: "u32:b0" is a u32 whose byte 0 is selected.
// What an H200 makes of the scalar ones, where that is not what the manual says: rules that agree with 7,722 of its
// results (one of each form is in video_answers.inc). Numbers are exact, or have 64 bits where noted.
inline wide h200_saturated(const std::string& form, wide x, u32 bits, bool d) {
  const bool shift = form.rfind("vsh", 0) == 0;
  if (shift) return fit(part(u64(x), 0, 34, true), 32, d);
  if (bits != 32) return wide(std::min(u64(x), mask(bits - (d ? 1 : 0))));  // as unsigned: what is below zero is huge
  return d ? fit(part(u64(x), 0, 34, true), 32, true) : std::max(x, wide(0));
}
inline u64 as_h200(const std::string& form, const std::string& then, wide x, u64 c, const Selected& field, bool sat,
                   bool d, bool a, bool b, bool parts) {
  c &= mask(32);
  if (then == "merge") {
    if (std::string(field.name) == ".h1") return (u64(x) & 0xffff0000) | (c & 0xffff);
    const u64 at = mask(field.bits) << field.shift;
    return (u64(x) << field.shift & at) | (c & ~at);
  }
  if (then != "min" && then != "max") return (u64(x) + (then == "add" ? c : 0)) & mask(32);
  const auto is = [&form](const char* name) { return form.rfind(name, 0) == 0; };
  const bool shift = is("vsh"), set = is("vset");
  const bool exact = (is("vshl") && !sat) || ((is("vmin") || is("vmax")) && sat);
  const bool in_32 = is("vadd") || is("vsub") || shift || (!d && a == b && !set && !(is("vabsdiff") && a && parts));
  x = exact || !in_32 ? part(u64(x), 0, 64, true) : part(u64(x), 0, 32, true);
  if (set ? a : d) {
    const wide y = part(c, 0, 32, true);
    return u64(then == "min" ? std::min(x, y) : std::max(x, y)) & mask(32);
  }
  return (then == "min" ? std::min(u64(x), c) : std::max(u64(x), c)) & mask(32);
}

inline Cases video_cases() {
  Cases cases;
  const auto type = [](bool is_signed) { return std::string(is_signed ? "s32" : "u32"); };
  const std::vector<VideoOperation> operations = {
      {"vadd", [](wide a, wide b) { return a + b; }},
      {"vsub", [](wide a, wide b) { return a - b; }},
      {"vabsdiff", [](wide a, wide b) { return a < b ? b - a : a - b; }},
      {"vmin", [](wide a, wide b) { return std::min(a, b); }},
      {"vmax", [](wide a, wide b) { return std::max(a, b); }},
      {"vavrg", [](wide a, wide b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }},
  };
  const std::vector<VideoOperation> compares = {
      {"eq", [](wide a, wide b) { return wide(a == b); }}, {"ne", [](wide a, wide b) { return wide(a != b); }},
      {"lt", [](wide a, wide b) { return wide(a < b); }},  {"le", [](wide a, wide b) { return wide(a <= b); }},
      {"gt", [](wide a, wide b) { return wide(a > b); }},  {"ge", [](wide a, wide b) { return wide(a >= b); }}};
  std::mt19937 random(1);
  const auto any_part = [&random] { return parts()[random() % parts().size()]; };
  const auto selected = [](const Selected& p) {
    return *p.name ? "u32:" + std::string(p.name + 1) : std::string("u32");
  };

  // Scalar: f on parts, saturated; then combined with c, or merged into it.
  const auto scalar = [&](const std::string& form, std::function<wide(wide, wide)> f, bool d, bool a, bool b,
                          bool sat) {
    for (const std::string op : {"", "add", "min", "max", "merge"}) {
      const Selected pa = any_part(), pb = any_part(), pd = op == "merge" ? parts()[1 + random() % 6] : parts()[0];
      const bool has_c = !op.empty(), then = has_c && op != "merge";
      cases.push_back({form + (then ? "." + op : ""),
                       selected(pd) + " " + selected(pa) + " " + selected(pb) + (has_c ? " u32" : ""),
                       [=](const u64* in) -> u64 {
                         const wide x = f(part(in[0], pa.shift, pa.bits, a), part(in[1], pb.shift, pb.bits, b));
                         return as_h200(form, op, sat ? h200_saturated(form, x, pd.bits, d) : x, has_c ? in[2] : 0, pd,
                                        sat, d, a, b, pa.bits != 32 || pb.bits != 32);
                       }});
    }
  };
  for (const bool d : {false, true}) {
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        for (const bool sat : {false, true}) {
          const std::string s = sat ? ".sat" : "";
          for (std::size_t k = 0; k < 5; ++k) {
            scalar(operations[k].name + ("." + type(d) + "." + type(a) + "." + type(b)) + s, operations[k].f, d, a, b,
                   sat);
          }
          for (const std::string shift : {"", ".shr7", ".shr15"}) {
            for (const std::string po : {"", ".po"}) {
              const Selected pa = any_part(), pb = any_part();
              const bool any = a || b;
              if (d != any) continue;
              cases.push_back({"vmad." + type(d) + "." + type(a) + "." + type(b) + po + s + shift,
                               "u32 " + selected(pa) + " " + selected(pb) + " u32", [=](const u64* in) {
                                 // As an H200 does, not as the manual says: whole registers and c are signed
                                 // whatever their types, and the sum of 64 bits is shifted as if it were not negative
                                 // if both types are unsigned.
                                 wide x = part(in[0], pa.shift, pa.bits, a || pa.bits == 32) *
                                          part(in[1], pb.shift, pb.bits, b || pb.bits == 32);
                                 x += part(in[2], 0, 32, true) + (po.empty() ? 0 : 1);
                                 const int by = shift == ".shr7" ? 7 : shift == ".shr15" ? 15 : 0;
                                 x = any ? x >> by : wide(i64(u64(x) >> by));
                                 return u64(sat ? fit(x, 32, any) : x) & mask(32);
                               }});
            }
          }
          if (b) continue;
          for (const bool wrap : {false, true}) {
            const std::string types = "." + type(d) + "." + type(a) + ".u32" + s + (wrap ? ".wrap" : ".clamp");
            const auto amount = [wrap](wide n) { return int(wrap ? n % 32 : std::min(n, wide(32))); };
            scalar(
                "vshl" + types, [=](wide x, wide n) { return wide((unsigned __int128)(x) << amount(n)); }, d, a, false,
                sat);
            scalar("vshr" + types, [=](wide x, wide n) { return x >> amount(n); }, d, a, false, sat);
          }
        }
      }
    }
  }
  // SIMD: parts of either source go to each element; elements outside the mask keep c's.
  const auto simd = [&](u32 elements, const std::string& form, std::function<wide(wide, wide)> f, bool d, bool a,
                        bool b, bool sat, bool sum) {
    const u32 bits = 32 / elements;
    const std::string letter = elements == 4 ? "b" : "h";
    const bool plain = random() % 2;
    std::vector<u32> pa, pb;  // element by element, the lowest first
    std::string sa, sb, sd;
    u32 chosen = 0;
    for (u32 k = 0; k < elements; ++k) {
      pa.push_back(plain ? k : random() % (2 * elements));
      pb.push_back(plain ? k + elements : random() % (2 * elements));
      sa = char('0' + pa[k]) + sa, sb = char('0' + pb[k]) + sb;
      if (plain || random() % 2) chosen |= 1u << k;
    }
    if (chosen == 0) chosen = 1;
    for (u32 k = 0; k < elements; ++k) {
      if (chosen >> k & 1) sd = char('0' + k) + sd;
    }
    const auto operand = [&](const std::string& s) { return plain ? std::string("u32") : "u32:" + letter + s; };
    cases.push_back(
        {form + (sum ? ".add" : ""), operand(sd) + " " + operand(sa) + " " + operand(sb) + " u32", [=](const u64* in) {
           const u64 both = in[1] << 32 | (in[0] & mask(32));
           u64 r = in[2];
           for (u32 k = 0; k < elements; ++k) {
             if ((chosen >> k & 1) == 0) continue;
             wide x = f(part(both, pa[k] * bits, bits, a), part(both, pb[k] * bits, bits, b));
             if (sat) x = fit(x, bits, d);
             if (sum)
               r += u64(x);
             else
               r = (r & ~(mask(bits) << k * bits)) | (u64(x) & mask(bits)) << k * bits;
           }
           return r & mask(32);
         }});
  };
  for (const u32 elements : {2u, 4u}) {
    const std::string n = std::to_string(elements);
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        for (const bool d : {false, true}) {
          for (const VideoOperation& o : operations) {
            const std::string form = o.name + n + "." + type(d) + "." + type(a) + "." + type(b);
            simd(elements, form, o.f, d, a, b, false, false);
            simd(elements, form + ".sat", o.f, d, a, b, true, false);
            simd(elements, form, o.f, d, a, b, false, true);
          }
        }
        for (const VideoOperation& o : compares) {
          const std::string form = "vset" + n + "." + type(a) + "." + type(b) + "." + o.name;
          simd(elements, form, o.f, false, a, b, false, false);
          simd(elements, form, o.f, false, a, b, false, true);
          if (elements == 2) scalar("vset." + type(a) + "." + type(b) + "." + o.name, o.f, false, a, b, false);
        }
      }
    }
  }
  return cases;
}

}  // namespace instructions
