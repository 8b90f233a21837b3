// Bulk reductions, stores that tell an mbarrier, and what has to do with the course of a thread.
#pragma once
#include "tests/instructions/atomic.hpp"
#include "tests/instructions/together.hpp"

namespace instructions {

// 32 bytes of the thread's, each element changed by the one 32 bytes further on.
inline Results reduced(const Words& w, const std::string& op, const std::string& type) {
  const bool real = type == "f32" || type == "f64" || type == "f16" || type == "bf16";
  const u32 size = real ? element_bytes(type) : size_of(type);
  Words out = w;
  for (u32 n = 0; n < 32 / size; ++n) {
    const u64 a = bytes_at(w, n * size, size), b = bytes_at(w, 32 + n * size, size);
    u64 x = 0;
    if (real) {
      const auto value = [&](u64 bits) {
        for (u32 v = 0; v < 64; ++v) {
          if (small_number(type, v) == bits) return v;
        }
        return 99u;
      };
      const u32 va = value(a), vb = value(b);
      x = small_number(type, op == "add" ? va + vb : op == "min" ? std::min(va, vb) : std::max(va, vb));
    } else {
      x = combined(op, type, a, b, 0);
    }
    out = with_bytes(out, n * size, x, size);
  }
  return {out[0], out[1], out[2], out[3]};
}

inline Programs bulk_cases() {
  Programs all;
  const auto add = [&](const std::string& body, const std::string& op, const std::string& type,
                       const std::string& before = "", bool in_cluster = false) {
    const bool real = type == "f32" || type == "f64" || type == "f16" || type == "bf16";
    Program p;
    if (real) p.in = [type](u32 t) { return small_words(type, t); };
    p.in_cluster = in_cluster;
    const auto in = p.in;
    p.body = before + "@!%go bra SKIP;\nfence.proxy.async;\n" + body + "SKIP:\n";
    p.want = [=](u32 t) { return active(t) ? reduced(in(t), op, type) : kNothing; };
    all.push_back(p);
  };
  const struct {
    std::vector<std::string> ops, types;
    const char* rounds;
    bool near;
  } groups[] = {{{"and", "or", "xor"}, {"b32", "b64"}, "", false},
                {{"add"}, {"u32", "s32", "u64", "f32", "f64"}, "", false},
                {{"inc", "dec"}, {"u32"}, "", false},
                {{"min", "max"}, {"u32", "s32", "u64", "s64", "f16", "bf16"}, "", false},
                {{"add"}, {"f16", "bf16"}, ".noftz", false},
                {{"and", "or", "xor"}, {"b32"}, "", true},
                {{"add"}, {"u32", "s32", "u64"}, "", true},
                {{"inc", "dec"}, {"u32"}, "", true},
                {{"min", "max"}, {"u32", "s32"}, "", true}};
  for (const auto& g : groups) {
    for (const auto& op : g.ops) {
      for (const auto& type : g.types) {
        const std::string what = "." + op + g.rounds + "." + type;
        if (g.near) {
          add("mbarrier.init.shared.b64 [%r1+56], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, "
              "[%r1+56], 32;\n"
              "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" +
                  what +
                  " [%s], [%s+32], 32, [%r1+56];\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1+56], 0; @!%p1 "
                  "bra AGAIN;\n" +
                  "ld.shared.v2.b64 {%d0, %d1}, [%s]; ld.shared.v2.b64 {%d2, %d3}, [%s+16];\n",
              op, type, "mov.u32 %r1, spare; shl.b32 %r0, %t, 6; add.u32 %r1, %r1, %r0;\n", true);
          continue;
        }
        for (const bool hint : {false, true}) {
          add("cp.reduce.async.bulk.global.shared::cta.bulk_group" + std::string(hint ? ".L2::cache_hint" : "") + what +
                  " [%mine], [%s+32], 32" + (hint ? ", %a9" : "") +
                  ";\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nld.global.v2.b64 {%d0, %d1}, [%mine]; "
                  "ld.global.v2.b64 {%d2, %d3}, [%mine+16];\n",
              op, type, hint ? kPolicy : "");
        }
      }
    }
  }
  // st.async: writes to the other block's shared memory and signals its barrier.
  const std::vector<std::string> types = {"b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"};
  for (const auto& words : covering(
           {{"", ".weak"}, {"", ".shared::cluster"}, {".mbarrier::complete_tx::bytes"}, {"", ".v2", ".v4"}, types})) {
    const u32 count = words[3].empty() ? 1 : u32(words[3][2] - '0'), size = size_of(words[4]);
    if (count * size > 16 && count == 4) continue;
    const Elements e = elements(words[4], count);
    Program p;
    p.cluster = 2;
    p.threads = 64;
    p.body =
        "mov.u32 %r1, spare; shl.b32 %r0, %t, 6; add.u32 %r1, %r1, %r0; mbarrier.init.shared.b64 [%r1], 1; "
        "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r1], " +
        number(count * size) +
        ";\nbarrier.cluster.arrive; barrier.cluster.wait;\nmov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1; "
        "mapa.shared::cluster.u32 %r3, %s, %r2; mapa.shared::cluster.u32 %r4, %r1, %r2;\n" +
        "ld.global.v2.b64 {%d0, %d1}, [%in+32]; ld.global.v2.b64 {%d2, %d3}, [%in+48];\n";
    // Elements come from words 4 to 7, one each.
    if (words[4] == "f32") {
      p.body += e.from_words;
    } else if (size == 4) {
      for (u32 n = 0; n < count; ++n) p.body += "cvt.u32.u64 %r" + number(8 + n) + ", %d" + number(n) + ";\n";
    }
    std::string names = e.names;
    if (size == 4 && words[4] != "f32") {
      names = "";
      for (u32 n = 0; n < count; ++n) names += (n ? ", %r" : "%r") + number(8 + n);
      if (count > 1) names = "{" + names + "}";
    }
    p.body +=
        "st.async" + words[0] + words[1] + words[2] + words[3] + "." + words[4] + " [%r3], " + names +
        ", [%r4];\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra AGAIN;\nld.shared.v2.b64 {%d0, "
        "%d1}, [%s]; ld.shared.v2.b64 {%d2, %d3}, [%s+16];\nbarrier.cluster.arrive; barrier.cluster.wait;\n";
    p.want = [=](u32 x) -> Results {
      const u32 other = (1 - x / 64) * 64 + x % 64;
      Words w = words_of(x);
      for (u32 n = 0; n < count; ++n) w = with_bytes(w, n * size, word(other, 4 + n), size);
      return {w[0], w[1], w[2], w[3]};
    };
    all.push_back(p);
  }
  return all;
}

// red.async: the same way, and what is there is changed.
inline Programs remote_reduction_cases() {
  Programs all;
  const struct {
    std::vector<std::string> ops, types;
  } groups[] = {{{"add"}, {"u32", "s32", "u64", "s64"}},
                {{"min", "max"}, {"u32", "s32"}},
                {{"inc", "dec"}, {"u32"}},
                {{"and", "or", "xor"}, {"b32"}}};
  for (const auto& g : groups) {
    for (const auto& op : g.ops) {
      for (const auto& type : g.types) {
        for (const std::string space : {"", ".shared::cluster"}) {
          const u32 size = size_of(type);
          Program p;
          p.cluster = 2;
          p.threads = 64;
          p.body =
              "mov.u32 %r1, spare; shl.b32 %r0, %t, 6; add.u32 %r1, %r1, %r0; mbarrier.init.shared.b64 [%r1], 1;\n"
              "fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%r1], " +
              number(size) +
              ";\nbarrier.cluster.arrive; barrier.cluster.wait;\nmov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1;\n"
              "mapa.shared::cluster.u32 %r3, %s, %r2; mapa.shared::cluster.u32 %r4, %r1, %r2;\n"
              "ld.global.b64 %a1, [%in+32]; cvt.u32.u64 %r5, %a1;\nred.async.relaxed.cluster" +
              space + ".mbarrier::complete_tx::bytes." + op + "." + type + " [%r3], " + (size == 8 ? "%a1" : "%r5") +
              ", [%r4];\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra AGAIN;\n"
              "ld.shared.v2.b64 {%d0, %d1}, [%s];\nbarrier.cluster.arrive; barrier.cluster.wait;\n";
          p.want = [=](u32 x) -> Results {
            const u32 other = (1 - x / 64) * 64 + x % 64;
            const u64 now = combined(op, type, word(x, 0), word(other, 4), 0);
            return {with_bytes(words_of(x), 0, now, size)[0], word(x, 1), kUntouched, kUntouched};
          };
          all.push_back(p);
        }
      }
    }
  }
  return all;
}

inline Programs control_cases() {
  Programs all;
  const auto add = [&](const std::string& body, std::function<Results(u32 t)> want, const std::string& before = "") {
    Program p;
    p.before = before;
    p.body = body;
    p.want = want;
    all.push_back(p);
  };
  // Some leave: what they have stored stands, and the others need not wait for them.
  add("mov.u64 %d0, 5; mov.u64 %d1, 0; mov.u64 %d2, 0; mov.u64 %d3, 0; @%go bra STAY;\n"
      "st.global.v2.b64 [%out], {%d0, %d1}; st.global.v2.b64 [%out+16], {%d2, %d3};\nexit;\n"
      "STAY:\nbar.warp.sync -1; mov.u64 %d0, 6;\n",
      [](u32 t) { return active(t) ? Results{6, 0, 0, 0} : Results{5, 0, 0, 0}; });
  // No thread comes to these.
  add("setp.gt.u32 %p1, %t, 1000; @%p1 trap; @%p1 brkpt; mov.u64 %d0, 7;\n",
      [](u32) { return Results{7, kUntouched, kUntouched, kUntouched}; });
  add("@%go nanosleep.u32 20; mov.u32 %r1, 100; nanosleep.u32 %r1; pmevent 3; @%go pmevent.mask 12; "
      "griddepcontrol.wait; @%go mov.u64 %d0, 8; griddepcontrol.launch_dependents;\n",
      [](u32 t) { return active(t) ? Results{8, kUntouched, kUntouched, kUntouched} : kNothing; });
  // Memory of the frame: pieces of each thread's own size, aligned, apart from each other, and given back.
  for (const char* type : {"u32", "u64"}) {
    const bool wide = type == std::string("u64");
    const std::string r = wide ? "%a" : "%r", cvt = wide ? "mov.u64 %a7, " : "cvt.u64.u32 %a7, ", t(type);
    const auto reg = [&](int k) { return r + std::to_string(k); };
    // Two threads in one: the sizes differ from lane to lane.
    add("and.b32 %r12, %t, 3; add.u32 %r12, %r12, 1; shl.b32 %r12, %r12, 4; " +
            std::string(wide ? "cvt.u64.u32 %a2, %r12;\n" : "mov.u32 %r2, %r12;\n") + "stacksave." + t + " " + reg(1) +
            ";\nalloca." + t + " " + reg(3) + ", " + reg(2) + ";\nalloca." + t + " " + reg(4) + ", " + reg(2) +
            ", 32;\n" + cvt + reg(3) + "; st.local.u32 [%a7], %t;\n" + cvt + reg(4) +
            "; add.u32 %r13, %t, 9; st.local.u32 [%a7], %r13; and.b64 %d1, %a7, 31;\n" + cvt + reg(3) +
            "; ld.local.u32 %r14, [%a7]; cvt.u64.u32 %d0, %r14;\nstackrestore." + t + " " + reg(1) + ";\nstacksave." +
            t + " " + reg(5) + ";\nsub." + t + " " + reg(5) + ", " + reg(5) + ", " + reg(1) + "; " + cvt + reg(5) +
            "; mov.u64 %d2, %a7;\n",
        [](u32 t) { return Results{t, 0, 0, kUntouched}; });
  }
  return all;
}

inline Programs all_programs() {
  Programs all;
  for (auto* family : {load_cases, store_cases, hint_cases, address_cases, atomic_cases, warp_cases, barrier_cases,
                       mbarrier_cases, copy_cases, bulk_cases, remote_reduction_cases, control_cases}) {
    Programs more = family();
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return all;
}

}  // namespace instructions
