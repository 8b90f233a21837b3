// Loads and stores in every space, width and with every modifier; addresses of spaces; hints to caches.
#pragma once
#include "tests/instructions/programs.hpp"

namespace instructions {

// .u8 … .f64: bytes, and what fills the rest of a register of 64 bits.
inline u32 size_of(const std::string& type) { return u32(std::stoul(type.substr(1))) / 8; }
inline u64 widened(const std::string& type, u64 raw) {
  const u32 bits = 8 * size_of(type);
  return type[0] == 's' && bits < 64 && raw >> (bits - 1) & 1 ? raw | ~mask(bits) : raw;
}

// A function that gets 64 bytes and gives 32 back, as a parameter in memory each.
inline std::string through_function(const std::string& body) {
  return ".func (.param .align 16 .b8 result[32]) f(.param .align 16 .b8 given[64]) {\n"
         ".reg .b64 %d<4>; .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b128 %q<1>;\n" +
         body + "st.param.v2.b64 [result], {%d0, %d1}; st.param.v2.b64 [result+16], {%d2, %d3};\nret;\n}\n";
}
inline std::string call_of_it(const std::string& stores, const std::string& guard = "@!%go bra SKIP;\n") {
  return guard + "{ .param .align 16 .b8 x[64]; .param .align 16 .b8 y[32];\n" + stores +
         "call (y), f, (x);\nld.param.v2.b64 {%d0, %d1}, [y]; ld.param.v2.b64 {%d2, %d3}, [y+16]; }\nSKIP:\n";
}
inline std::string all_words_to_x() {
  std::string text;
  for (u32 i = 0; i < 64; i += 8)
    text += "ld.global.b64 %a0, [%in+" + number(i) + "]; st.param.b64 [x+" + number(i) + "], %a0;\n";
  return text;
}

// For a space: where the thread's words are, and who owns them.
inline std::string load_address(const std::string& space, u32 k) {
  if (space == ".const") return "constants";
  if (space == ".param" || space == ".param::entry") return "given";
  if (space == ".local") return "own";
  if (space.rfind(".shared", 0) == 0) return "%s";
  return space == ".global" ? "%in" : k % 3 == 0 ? "%gs" : k % 3 == 1 ? "%gl" : "%in";
}
inline u32 owner(const std::string& space, u32 thread) {
  return space == ".const" ? kConstants : space == ".param" || space == ".param::entry" ? kGiven : thread;
}

// Registers for `count` elements of `type`: their names, and what takes them to %d0 … and back.
struct Elements {
  std::string names, to_results, from_words;
};
inline Elements elements(const std::string& type, u32 count) {
  Elements e;
  if (type == "b128") return {"%q0", "mov.b128 {%d0, %d1}, %q0;\n", "mov.b128 %q0, {%d0, %d1};\n"};
  for (u32 k = 0; k < count; ++k) {
    const std::string n = number(k);
    e.names += (k ? ", %" : "%") + std::string(type == "f32" ? "f" : "d") + n;
    if (type != "f32") continue;
    e.to_results += "mov.b32 %r15, %f" + n + "; cvt.u64.u32 %d" + n + ", %r15;\n";
    e.from_words += "cvt.u32.u64 %r15, %d" + n + "; mov.b32 %f" + n + ", %r15;\n";
  }
  if (count > 1) e.names = "{" + e.names + "}";
  return e;
}

struct Accesses {
  std::string opcode;                                   // "ld.weak"
  std::vector<std::vector<std::string>> before, after;  // places in front of the space, and behind it
  std::vector<std::string> spaces;
  bool hint = false;
  int ptx = kPtx;
};

constexpr const char* kPolicy = "createpolicy.fractional.L2::evict_first.b64 %a9;\n";

inline Program load_case(const std::string& form, const std::string& space, const std::string& type, u32 count,
                         bool hint, u32 k) {
  const u32 size = type == "b128" ? 16 : size_of(type), whole = size * count, at = k * whole % 64;
  const Elements e = elements(type, count);
  Program p;
  const std::string tail = hint ? ", %a9;\n" : ";\n";
  const auto load = [&](const std::string& from) {
    return form + " " + e.names + ", [" + from + "+" + number(at) + "]" + tail;
  };
  if (space == ".param::func") {
    p.before = through_function("mov.b64 %d0, 0; mov.b64 %d1, 0; mov.b64 %d2, 0; mov.b64 %d3, 0;\n" + load("given") +
                                e.to_results);
    p.body = call_of_it(all_words_to_x());
    p.only_simulated = type == "b128";  // the compiler in driver 580 passes the lower half
  } else {
    p.body =
        (hint ? kPolicy : "") + ("@!%go bra SKIP;\nmov.b64 %d0, 0; mov.b64 %d1, 0; mov.b64 %d2, 0; mov.b64 %d3, 0;\n" +
                                 load(load_address(space, k)) + e.to_results + "SKIP:\n");
  }
  p.want = [=](u32 t) -> Results {
    if (!active(t)) return kNothing;
    const Words from = words_of(owner(space, t));
    if (type == "b128") return {bytes_at(from, at, 8), bytes_at(from, at + 8, 8), 0, 0};
    Results all{};
    for (u32 n = 0; n < count; ++n) all[n] = widened(type, bytes_at(from, at + n * size, size));
    return all;
  };
  return p;
}

inline Program store_case(const std::string& form, const std::string& space, const std::string& type, u32 count,
                          bool hint, u32 k) {
  const u32 size = type == "b128" ? 16 : size_of(type), whole = size * count, at = k * whole % 32;
  const Elements e = elements(type, count);
  Program p;
  const std::string tail = hint ? ", %a9;\n" : ";\n";
  const auto store = [&](const std::string& to) {
    return form + " [" + to + "+" + number(at) + "], " + e.names + tail;
  };
  // What is stored: the last four words.
  const std::string values =
      "ld.global.v2.b64 {%d0, %d1}, [%in+32]; ld.global.v2.b64 {%d2, %d3}, [%in+48];\n" + e.from_words;
  if (space == ".param" || space == ".param::func") {
    p.before = through_function("ld.param.v2.b64 {%d0, %d1}, [given]; ld.param.v2.b64 {%d2, %d3}, [given+16];\n");
    p.body = call_of_it(all_words_to_x() + values + store("x"));
    p.only_simulated = whole < 4;  // the compiler in driver 580 forgets the rest of the same word
  } else {
    const std::string to = space == ".local"                ? "own"
                           : space.rfind(".shared", 0) == 0 ? "%s"
                           : space == ".global"             ? "%mine"
                           : k % 3 == 0                     ? "%gs"
                           : k % 3 == 1                     ? "%gl"
                                                            : "%mine";
    const std::string back = space == ".local" || to == "%gl" ? "ld.local"
                             : to == "%s" || to == "%gs"      ? "ld.shared"
                                                              : "ld.global";
    const std::string from = back == "ld.local" ? "own" : back == "ld.shared" ? "%s" : "%mine";
    p.body =
        (hint ? kPolicy : "") + ("@!%go bra SKIP;\n" + values + store(to) + "SKIP:\n" + back + ".v2.b64 {%d0, %d1}, [" +
                                 from + "]; " + back + ".v2.b64 {%d2, %d3}, [" + from + "+16];\n");
  }
  const bool by_call = space == ".param" || space == ".param::func";
  p.want = [=](u32 t) -> Results {
    Words now = words_of(t);
    const Words values = now;
    if (active(t)) {
      if (type == "b128") {
        now = with_bytes(with_bytes(now, at, values[4], 8), at + 8, values[5], 8);
      } else {
        for (u32 n = 0; n < count; ++n) now = with_bytes(now, at + n * size, values[4 + n], size);
      }
    } else if (by_call) {
      return kNothing;
    }
    return {now[0], now[1], now[2], now[3]};
  };
  return p;
}

inline void add_accesses(Programs& all, const Accesses& a) {
  const bool loads = a.opcode.rfind("ld", 0) == 0;
  const std::vector<std::string> narrow = {"b8", "b16", "b32", "u8", "u16", "u32", "s8", "s16", "s32", "f32"};
  std::vector<std::string> wide = narrow;
  for (const char* type : {"b64", "u64", "s64", "f64"}) wide.push_back(type);
  u32 k = 0;
  const auto add = [&](const std::vector<std::string>& vectors, const std::vector<std::string>& types) {
    std::vector<std::vector<std::string>> places = a.before;
    places.push_back(a.spaces);
    places.insert(places.end(), a.after.begin(), a.after.end());
    places.push_back(vectors);
    places.push_back(types);
    for (const auto& words : covering(places)) {
      std::string form = a.opcode;
      for (std::size_t n = 0; n + 2 < words.size(); ++n) form += words[n];
      if (a.hint) form += ".L2::cache_hint";
      const std::string &vector = words[words.size() - 2], &type = words.back();
      form += vector + "." + type;
      const u32 count = vector.empty() ? 1 : u32(vector[2] - '0');
      all.push_back((loads ? load_case : store_case)(form, words[a.before.size()], type, count, a.hint, k++));
      all.back().ptx = a.ptx;
    }
  };
  const bool one = a.opcode.find(".mmio") != std::string::npos;
  add(one ? std::vector<std::string>{""} : std::vector<std::string>{"", ".v2"}, wide);
  if (!one) add({".v4"}, narrow);
  add({""}, {"b128"});
}

inline void add_cached(Programs& all, const Accesses& a, bool prefetches) {
  Accesses more = a;
  if (prefetches) more.after.push_back({"", ".L2::64B", ".L2::128B", ".L2::256B"});
  add_accesses(all, more);
  more.hint = true;
  add_accesses(all, more);
}

inline Programs load_cases() {
  Programs all;
  const std::vector<std::string> cached = {"", ".global"},
                                 near = {".const",       ".local",  ".param",       ".param::entry",
                                         ".param::func", ".shared", ".shared::cta", ".shared::cluster"},
                                 shared = {".shared", ".shared::cta", ".shared::cluster"},
                                 scopes = {".cta", ".cluster", ".gpu", ".sys"},
                                 operators = {"", ".ca", ".cg", ".cs", ".lu", ".cv"},
                                 evict = {".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                                          ".L1::evict_last", ".L1::no_allocate"};
  add_cached(all, {"ld", {{"", ".weak"}}, {operators}, cached}, true);
  add_accesses(all, {"ld", {{"", ".weak"}}, {operators}, near});
  add_cached(all, {"ld", {{"", ".weak"}}, {evict}, cached}, true);
  add_accesses(all, {"ld.volatile", {}, {{"", ".L2::64B", ".L2::128B", ".L2::256B"}}, cached});
  add_accesses(all, {"ld.volatile", {}, {}, shared});
  add_accesses(all, {"ld.volatile", {}, {}, {".local"}, false, 91});
  add_cached(all, {"ld", {{".relaxed", ".acquire"}, scopes}, {}, cached}, true);
  add_accesses(all, {"ld", {{".relaxed", ".acquire"}, scopes}, {}, shared});
  add_cached(all, {"ld", {{".relaxed", ".acquire"}, scopes}, {evict}, cached}, true);
  add_accesses(all, {"ld.mmio.relaxed.sys", {}, {}, cached});
  add_cached(all, {"ld", {}, {{"", ".ca", ".cg", ".cs"}, {".nc"}}, {".global"}}, true);
  add_cached(all, {"ld", {}, {{".nc"}, evict}, {".global"}}, true);
  add_accesses(all, {"ldu", {}, {}, cached});
  return all;
}

inline Programs store_cases() {
  Programs all;
  const std::vector<std::string> cached = {"", ".global"}, near = {".local",  ".param",       ".param::func",
                                                                   ".shared", ".shared::cta", ".shared::cluster"},
                                 shared = {".shared", ".shared::cta", ".shared::cluster"},
                                 scopes = {".cta", ".cluster", ".gpu", ".sys"},
                                 operators = {"", ".wb", ".cg", ".cs", ".wt"},
                                 evict = {".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                                          ".L1::evict_last", ".L1::no_allocate"};
  add_cached(all, {"st", {{"", ".weak"}}, {operators}, cached}, false);
  add_accesses(all, {"st", {{"", ".weak"}}, {operators}, near});
  add_cached(all, {"st", {{"", ".weak"}}, {evict}, cached}, false);
  add_accesses(all, {"st.volatile", {}, {}, {"", ".global", ".shared", ".shared::cta", ".shared::cluster"}});
  add_accesses(all, {"st.volatile", {}, {}, {".local"}, false, 91});
  add_cached(all, {"st", {{".relaxed", ".release"}, scopes}, {}, cached}, false);
  add_accesses(all, {"st", {{".relaxed", ".release"}, scopes}, {}, shared});
  add_cached(all, {"st", {{".relaxed", ".release"}, scopes}, {evict}, cached}, false);
  add_accesses(all, {"st.mmio.relaxed.sys", {}, {}, cached});
  return all;
}

// Nothing changes in memory, and the policies that are made may be used.
inline Programs hint_cases() {
  Programs all;
  const auto add = [&](const std::string& text, const std::string& policy = "") {
    Program p;
    p.body = "@!%go bra SKIP;\n" + text +
             (policy.empty() ? "ld.global.b64 %d0, [%mine+8];\n"
                             : "ld.global.L2::cache_hint.b64 %d0, [%mine+8], " + policy + ";\n") +
             "SKIP:\n";
    p.want = [](u32 t) { return active(t) ? Results{word(t, 1), kUntouched, kUntouched, kUntouched} : kNothing; };
    all.push_back(p);
  };
  for (const char* level : {".L1", ".L2"}) {
    add("prefetch.global" + std::string(level) + " [%mine];\n");
    add("prefetch" + std::string(level) + " [%gs];\n");
    add("prefetch.local" + std::string(level) + " [own];\n");
  }
  for (const char* level : {".L2::evict_last", ".L2::evict_normal"})
    add("prefetch.global" + std::string(level) + " [%mine+16];\n");
  add("prefetchu.L1 [%mine];\n");
  for (const char* space : {"", ".global"}) {
    // Lines are of 128 bytes, and begin at their multiples.
    add("and.b64 %a1, %mine, -128; applypriority" + std::string(space) + ".L2::evict_normal [%a1], 128;\n");
    for (const char* first : {"evict_last", "evict_normal", "evict_first", "evict_unchanged"}) {
      for (const char* second : {"", ".L2::evict_first", ".L2::evict_unchanged"})
        add("createpolicy.range" + std::string(space) + ".L2::" + first + second + ".b64 %a2, [%mine], 64, 128;\n",
            "%a2");
    }
  }
  for (const char* first : {"evict_last", "evict_normal", "evict_first", "evict_unchanged"}) {
    for (const char* second : {"", ".L2::evict_first", ".L2::evict_unchanged"}) {
      add("createpolicy.fractional.L2::" + std::string(first) + second + ".b64 %a2, 0.5;\n", "%a2");
      add("createpolicy.fractional.L2::" + std::string(first) + second + ".b64 %a2;\n", "%a2");
    }
  }
  // What a runtime puts into a launch's attributes, made a policy.
  add("mov.b64 %a1, 0; createpolicy.cvt.L2.b64 %a2, %a1;\n");
  // What discard leaves is undefined; what is written afterwards is not.
  for (const char* space : {"", ".global"}) {
    Program p;
    p.threads = 64;
    p.body = "and.b32 %r0, %t, 1; setp.eq.u32 %p1, %r0, 0; @%p1 discard" + std::string(space) +
             ".L2 [%mine], 128;\nbar.sync 0;\nmov.b64 %a1, 77; st.global.b64 [%mine+8], %a1; ld.global.b64 %d0, "
             "[%mine+8];\n";
    p.want = [](u32) { return Results{77, kUntouched, kUntouched, kUntouched}; };
    all.push_back(p);
  }
  return all;
}

// There and back is where it was; a read through the generic address returns the same value; which space it is in.
inline Programs address_cases() {
  Programs all;
  const struct {
    const char *name, *address, *load;
    u32 owner;  // 0: the thread
  } spaces[] = {{"global", "mov.b64 %a1, %mine;\n", "ld.global", 0},
                {"shared", "cvt.u64.u32 %a1, %s;\n", "ld.shared", 0},
                {"shared::cta", "cvt.u64.u32 %a1, %s;\n", "ld.shared::cta", 0},
                {"shared::cluster", "cvt.u64.u32 %a1, %s;\n", "ld.shared::cluster", 0},
                {"local", "mov.u64 %a1, own;\n", "ld.local", 0},
                {"const", "mov.u64 %a1, constants;\n", "ld.const", kConstants},
                {"param", "mov.u64 %a1, given;\n", "ld.param", kGiven},
                {"param::entry", "mov.u64 %a1, given;\n", "ld.param::entry", kGiven}};
  for (const auto& from : spaces) {
    Program p;
    const std::string name = from.name;
    p.body = from.address + std::string("@!%go bra SKIP;\ncvta.") + name + ".u64 %a2, %a1; cvta.to." + name +
             ".u64 %a3, %a2;\n" + "ld.b64 %d0, [%a2+16]; " + from.load +
             ".b64 %d1, [%a3+16]; sub.u64 %d2, %a3, %a1; mov.b64 %d3, 0;\n";
    const auto is_in = [&](const char* space) {
      const std::string in = space;
      const bool shared = name.rfind("shared", 0) == 0 && in.rfind("shared", 0) == 0;
      const bool parameter = name.rfind("param", 0) == 0 && in.rfind("param", 0) == 0;
      return name == in || shared || parameter;
    };
    u64 bits = 0;
    u32 k = 0;
    for (const auto& in : spaces) {
      // Whether constants and parameters are also in global memory's window depends on the device.
      if (in.name == std::string("global") && (name == "const" || name.rfind("param", 0) == 0)) continue;
      p.body += std::string("isspacep.") + in.name + " %p1, %a2; selp.b64 %a4, " + number(u64{1} << k) +
                ", 0, %p1; or.b64 %d3, %d3, %a4;\n";
      bits |= u64{is_in(in.name)} << k++;
    }
    p.body += "SKIP:\n";
    const u32 whose = from.owner;
    p.want = [=](u32 t) {
      const u64 there = word(whose == 0 ? t : whose, 2);
      return active(t) ? Results{there, there, 0, bits} : kNothing;
    };
    all.push_back(p);
  }
  // The neighbour's shared memory.
  for (const bool generic : {false, true}) {
    for (const char* type : {"u32", "u64"}) {
      for (const bool named : {false, true}) {
        if (generic && (named || type == std::string("u32"))) continue;
        if (!generic && !named) continue;
        Program p;
        p.cluster = 4;
        p.threads = 48;
        const std::string space = named ? ".shared::cluster" : "", wide = type == std::string("u64") ? "%a" : "%r";
        p.body =
            "barrier.cluster.arrive; barrier.cluster.wait;\nmov.u32 %r5, %cluster_ctarank; add.u32 %r6, %r5, 1; "
            "and.b32 %r6, %r6, 3;\n" +
            std::string(generic ? "mov.b64 %a1, %gs;\n" : "cvt.u64.u32 %a1, %s; mov.b32 %r1, %s;\n") +
            "@!%go bra SKIP;\nmapa" + space + "." + type + " " + wide + "2, " + wide + "1, %r6; ld" + space +
            ".b64 %d0, [" + wide + "2+8]; getctarank" + space + "." + type + " %r7, " + wide +
            "2; cvt.u64.u32 %d1, %r7;\n" + "getctarank" + space + "." + type + " %r7, " + wide +
            "1; cvt.u64.u32 %d2, %r7;\nSKIP:\nbarrier.cluster.arrive; barrier.cluster.wait;\n";
        p.want = [](u32 x) {
          const u32 rank = x / 48, t = x % 48;
          return active(t) ? Results{word((rank + 1) % 4 * 48 + t, 1), (rank + 1) % 4, rank, kUntouched} : kNothing;
        };
        all.push_back(p);
      }
    }
  }
  return all;
}

}  // namespace instructions
